// The C++ programs of examples/cpp: each prints what its first lines say, and the kernel that it
// builds does what the .vyre file of the same name does.

#ifdef VYRE_EXAMPLES

#include <unistd.h>

#include <filesystem>
#include <span>

#include "support/file.h"
#include "support/process.h"
#include "tests/examples/examples_util.h"
#include "wire/fingerprint.h"
#include "wire/wire.h"

namespace vyre::examples {
namespace {

namespace fs = std::filesystem;

/// The lines after `// prints:`.
std::string promised_output(const std::string& name) {
  const std::string source =
      read_file(std::string(VYRE_SOURCE_DIR) + "/examples/cpp/" + name + ".cc").bytes;
  const std::string mark = "// prints: ";
  std::string lines;
  for (size_t at = source.find(mark); at != std::string::npos; at = source.find(mark, at)) {
    at += mark.size();
    lines += source.substr(at, source.find('\n', at) + 1 - at);
  }
  return lines;
}

/// Runs the program, compares what it prints, and gives the kernel that it built.
Module built_by(const std::string& name) {
  const fs::path folder =
      fs::temp_directory_path() / ("vyre_example_" + name + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string wire = (folder / "kernel.wire").string();
  const ProcessResult r = run_process({std::string(VYRE_BIN_DIR) + "/example_" + name, wire});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, promised_output(name));
  EXPECT_NE(r.out, "");
  const std::string bytes = read_file(wire).bytes;
  fs::remove_all(folder);
  auto program = decode_program(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(program) << render(program.errors(), {});
  Module m;
  if (program) m.kernels.push_back(std::move(*program));
  return m;
}

TEST(examples_cpp, saxpy_is_its_twin) {
  const Module built = built_by("saxpy"), written = load("saxpy.vyre");
  for (const size_t n : sizes) {
    const Inputs in = {scalar(1.7f), bytes(floats(n, 1)), bytes(floats(n, 2))};
    EXPECT_TRUE(run(built, in) == run(written, in)) << n;
  }
}

TEST(examples_cpp, block_sums_is_its_twin_op_by_op) {
  const Module built = built_by("block_sums"), written = load("block_sums.vyre");
  EXPECT_EQ(fingerprint(built.kernels[0]).to_hex(), fingerprint(written.kernels[0]).to_hex());
  for (const size_t n : sizes) {
    const Inputs in = {bytes(numbers(n)), std::nullopt};
    EXPECT_TRUE(run(built, in) == run(written, in)) << n;
  }
}

TEST(examples_cpp, matmul_is_its_twin) {
  const Module built = built_by("matmul"), written = load("matmul.vyre");
  for (const uint32_t size : {0, 1, 15, 16, 17, 50}) {
    const uint32_t m = size, k = size + 3, n = size + 1;
    const Inputs in = {
        scalar(m),   scalar(n), scalar(k), bytes(floats(m * k, 1)), bytes(floats(k * n, 2)),
        std::nullopt};
    EXPECT_TRUE(run(built, in) == run(written, in)) << size;
  }
}

TEST(examples_cpp, replay_prints_what_it_promises) { built_by("replay"); }

TEST(examples_cpp, a_step_of_resident_is_what_plain_cpp_computes) {
  const Module built = built_by("resident");
  for (const size_t n : sizes) {
    const std::vector<float> now = floats(n, 3);
    std::vector<float> next = now;
    for (size_t i = 1; i + 1 < n; ++i) next[i] = (now[i - 1] + now[i + 1]) * 0.5f;
    EXPECT_EQ(elements<float>(run(built, {bytes(now), std::nullopt})[1]), next) << n;
  }
}

}  // namespace
}  // namespace vyre::examples

#endif
