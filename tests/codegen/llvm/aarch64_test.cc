// labels: slow
// Code for AArch64, run by an emulator: the kernels of the text tests and the examples give the
// bytes of the interpreter. All are linked into one program and run by one start of it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "codegen/llvm/llvm_emit.h"
#include "codegen/llvm/module_state.h"
#include "differential/text_test.h"
#include "interp/interp.h"
#include "plan/split/split_grid.h"
#include "support/file.h"
#include "support/process.h"
#include "tools/vyre/command_line.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/program_file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

const char* const compiler = "aarch64-linux-gnu-gcc";
const char* const emulator = "qemu-aarch64";

bool is_there(const char* tool) {
  const ProcessResult r = run_process({tool, "--version"});
  return r.start_error == 0 && r.exit_code == 0;
}

/// A launch and its result on the interpreter.
struct Case {
  std::string where;
  Program program;
  LaunchInputs inputs;
  LaunchShape shape;
  Result<interp::Outcome> expected = Diagnostics{};
  uint64_t arena_bytes = 0;
};

/// The kernel launches of a file's `// run:` lines.
void add_cases(const fs::path& path, std::vector<Case>& cases) {
  const FileContents contents = read_file(path.string());
  ASSERT_TRUE(contents);
  const lab::TextTest test = lab::read_text_test(path.string(), contents.bytes);
  std::vector<std::string> failures;
  std::optional<cli::LoadedModule> loaded;
  for (const lab::RunBlock& block : lab::read_run_blocks(test.lines, failures)) {
    if (block.schedule_dependent) continue;
    const auto line = cli::parse_launch_line(block.words);
    if (!line) continue;
    if (!loaded) {
      cli::LoadOptions options;
      for (const auto& flags : test.flags)
        if (const auto parsed = cli::parse_launch_line(flags); parsed)
          if (const auto constants = cli::parse_constants(parsed->flags.constants); constants)
            options.constants = *constants;
      loaded = cli::load_module(path.string(), options);
    }
    if (!loaded->module) return;
    const auto target = cli::choose_target(*loaded, line->name, path.string());
    if (!target || !target->kernel) continue;
    const Program& p = *target->kernel;
    // A grid barrier is the driver's to split; waiting needs more than one thread.
    if (plan::has_grid_barrier(p) || p.requires_forward_progress) continue;
    const auto launch = cli::bind_launch(line->flags, *target);
    if (!launch) continue;
    auto shape = resolve_launch(p, launch->inputs);
    if (!shape || shape->workgroups() > 4096) continue;
    uint64_t elements = 0;
    for (const uint64_t n : shape->counts) elements += n;
    if (elements > 1 << 20) continue;  // an emulator is slow
    interp::Options options = launch->options;
    if (options.time_limit > 0) continue;  // an endless loop
    Case c{fmt::format("{}:{}", path.string(), block.line + 1), p, launch->inputs, *shape};
    c.program.subgroup = p.subgroup ? p.subgroup : options.subgroup_size;  // some results show it
    c.expected = interp::run(p, launch->inputs, options);
    if (c.expected || c.expected.errors()[0].code == Code::Trapped) cases.push_back(std::move(c));
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* folder : {"/tests/text/ops", "/tests/text/semantics", "/tests/text/features",
                             "/tests/text/language", "/examples"})
    for (const auto& entry :
         fs::recursive_directory_iterator(std::string(VYRE_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".vyre") add_cases(entry.path(), cases);
  return cases;
}

/// Writes the objects of all cases, each with a unique kernel name, and the table of the kernels.
void write_objects(std::vector<Case>& cases, const fs::path& folder,
                   std::vector<std::string>& files) {
  std::string table =
                  "#include <stdint.h>\ntypedef uint32_t (*kernel_function)(const void*, uint64_t, "
                  "uint64_t, void*);\n",
              names;
  for (size_t i = 0; i < cases.size(); ++i) {
    emit_llvm::EmitOptions options;
    options.isa = emit_llvm::Isa::AArch64;
    auto module = emit_llvm::emit(cases[i].program, options);
    ASSERT_TRUE(module) << cases[i].where << render(module.errors(), {});
    emit_llvm::optimize(*module);
    const std::string name = fmt::format("kernel_{}", i);
    module->state().module->getFunction(emit_llvm::kernel_symbol)->setName(name);
    const auto object = emit_llvm::to_object(*module);
    ASSERT_TRUE(object) << cases[i].where;
    cases[i].arena_bytes = module->info.arena_bytes;
    files.push_back((folder / (name + ".o")).string());
    ASSERT_FALSE(write_file(files.back(), *object));
    table += fmt::format("uint32_t {}(const void*, uint64_t, uint64_t, void*);\n", name);
    names += fmt::format("  {},\n", name);
  }
  table += "extern const kernel_function kernels[];\nconst kernel_function kernels[] = {\n" +
           names + "};\n";
  files.push_back((folder / "table.c").string());
  ASSERT_FALSE(write_file(files.back(), table));
}

/// Words of 64 bits and bytes padded to them.
class Stream {
 public:
  explicit Stream(std::string text = {}) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  bool at_end() const { return at_ == text_.size(); }

  void put(uint64_t word) { text_.append(reinterpret_cast<const char*>(&word), 8); }
  void put(std::span<const std::byte> bytes, uint64_t size) {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text_.append((size + 7) / 8 * 8 - bytes.size(), '\0');
  }
  uint64_t take() {
    uint64_t word = 0;
    std::memcpy(&word, take_bytes(8).data(), 8);
    return word;
  }
  std::string take_bytes(uint64_t size) {
    const uint64_t padded = (size + 7) / 8 * 8;
    if (text_.size() - at_ < padded) {
      ADD_FAILURE() << "the output is too short";
      at_ = text_.size();
      return std::string(size, '\0');
    }
    at_ += padded;
    return text_.substr(at_ - padded, size);
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

/// Returns the bytes of a buffer in memory; scalars are in a separate list.
uint64_t bytes_of(const Case& c, size_t buffer) {
  const auto& b = c.program.buffers[buffer];
  return is_parameter(b.role) && b.role != Role::Scalar
             ? c.shape.counts[buffer] * size_of(b.element)
             : 0;
}

void put_case(const Case& c, size_t number, Stream& to) {
  const size_t n = c.program.buffers.size();
  for (const uint64_t word : {uint64_t{number}, c.arena_bytes, c.shape.num_workgroups[0],
                              c.shape.num_workgroups[1], c.shape.num_workgroups[2], uint64_t{n}})
    to.put(word);
  for (size_t i = 0; i < n; ++i) {
    static const std::vector<std::byte> nothing;
    const auto& data = i < c.inputs.data.size() && c.inputs.data[i] ? *c.inputs.data[i] : nothing;
    uint64_t scalar = 0;
    if (c.program.buffers[i].role == Role::Scalar)
      std::memcpy(&scalar, data.data(), std::min<size_t>(8, data.size()));
    to.put(c.shape.counts[i]);
    to.put(scalar);
    to.put(bytes_of(c, i));
    if (bytes_of(c, i) > 0) to.put(data, bytes_of(c, i));
  }
}

void compare_case(const Case& c, size_t number, Stream& from) {
  SCOPED_TRACE(c.where);
  ASSERT_EQ(from.take(), number);
  EXPECT_EQ(from.take(), 0u) << "it was stopped";
  uint64_t trap[6];
  for (uint64_t& word : trap) word = from.take();
  std::vector<std::string> buffers;
  for (size_t i = 0; i < c.program.buffers.size(); ++i)
    buffers.push_back(from.take_bytes(bytes_of(c, i)));
  if (!c.expected) {
    EXPECT_NE(c.expected.errors()[0].message.find(fmt::format(
                  "with code {} in invocation ({}, {}, {})", trap[1], trap[2], trap[3], trap[4])),
              std::string::npos)
        << "trapped with code " << trap[1] << ", not: " << c.expected.errors()[0].message;
    return;
  }
  EXPECT_EQ(trap[0], 0u) << "it trapped with code " << trap[1];
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto& expected = c.expected->buffers[i];
    if (!is_host_output(c.program.buffers[i].role)) continue;
    EXPECT_TRUE(expected.size() == buffers[i].size() &&
                std::memcmp(expected.data(), buffers[i].data(), expected.size()) == 0)
        << "buffer `" << c.program.buffers[i].name << "` differs";
  }
}

TEST(aarch64, kernels_give_the_bytes_of_the_interpreter) {
  if (!is_there(compiler) || !is_there(emulator))
    GTEST_SKIP()
        << compiler << " or " << emulator
        << " is not installed (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)";
  std::vector<Case> cases = all_cases();
  ASSERT_GT(cases.size(), 100u);
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("vyre_aarch64_{}", getpid());
  fs::create_directories(folder);
  std::vector<std::string> files;
  write_objects(cases, folder, files);
  if (HasFatalFailure()) return;

  std::vector<std::string> link = {
      compiler,
      "-static",
      "-O1",
      "-o",
      (folder / "runner").string(),
      std::string(VYRE_SOURCE_DIR) + "/tests/codegen/llvm/aarch64_runner.c"};
  link.insert(link.end(), files.begin(), files.end());
  link.push_back("-lm");  // fma where the machine has none: never, here
  const ProcessResult linked = run_process(link);
  ASSERT_EQ(linked.exit_code, 0) << linked.err.substr(0, 4000);

  Stream input;
  for (size_t i = 0; i < cases.size(); ++i) put_case(cases[i], i, input);
  const ProcessResult ran = run_process({emulator, (folder / "runner").string()},
                                        {.input = input.text(), .max_output = size_t{1} << 30});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  Stream output(ran.out);
  for (size_t i = 0; i < cases.size(); ++i) compare_case(cases[i], i, output);
  EXPECT_TRUE(output.at_end());
  RecordProperty("kernels", int(cases.size()));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace vyre
