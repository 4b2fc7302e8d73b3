// The cost of the sanitizer: time of a sanitized run / time of a plain run, in the same process.
//   bench_sanitizer         prints both times and their ratio for three examples

#include "sanitizer/sanitizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "support/file.h"
#include "text/parse.h"

using namespace vyre;

namespace {

double seconds(const std::function<void()>& fn) {
  double best = 1e9;
  for (int round = 0; round < 9; ++round) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

std::vector<std::byte> noise(size_t bytes) {
  std::vector<std::byte> list(bytes);
  uint32_t x = 12345;
  for (std::byte& b : list) b = static_cast<std::byte>((x = x * 1664525u + 1013904223u) >> 24);
  return list;
}

void measure(const char* name, LaunchInputs in) {
  ParseOptions options;
  options.file_name = fmt::format("{}/examples/{}.vyre", VYRE_SOURCE_DIR, name);
  const ParseOutcome r = parse(read_file(options.file_name).bytes, options);
  if (!r.module) return fmt::print("{}", render(r.diagnostics, r.sources));
  const Program& p = r.module->kernels[0];
  const double plain = seconds([&] {
    if (const auto done = interp::run(p, in); !done) fmt::print("{}", render(done.errors(), {}));
  });
  const double sanitized = seconds([&] {
    const auto s = interp::sanitize(p, in);
    if (!s.errors.empty() || has_errors(s.findings)) fmt::print("{}", render(s.findings, {}));
  });
  fmt::print("{:<11} {:>8.2f} ms {:>8.2f} ms  {:>5.1f} times\n", name, plain * 1e3, sanitized * 1e3,
             sanitized / plain);
}

}  // namespace

int main() {
  constexpr size_t n = 1 << 20;
  fmt::print("2^20 elements       run   sanitize\n");
  std::vector<std::byte> two(4);
  const float a = 2.0f;
  std::memcpy(two.data(), &a, 4);
  const std::vector<std::byte> zeros(n * 4);
  measure("saxpy", {.data = {two, zeros, zeros}});
  measure("block_sums", {.data = {noise(n * 4), std::nullopt}});
  measure("histogram", {.data = {noise(n), std::nullopt}});
}
