// Compile time grows with the kernel: four times the operations cost about four times the CPU time.
// Every limit here has room for a busy machine; quadratic growth exceeds it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::driver {
namespace {

std::string kernel_text(const std::string& body, const std::string& type) {
  return fmt::format(
      "kernel k(x: in {0}[], y: inout {0}[len(x)]) workgroup(64) grid(len(x)) {{\n"
      "  let i = global_id.x\n{1}}}\n",
      type, body);
}

/// A chain of dependent operations in one block.
std::string fma_chain(int n) {
  std::string body = "  var v = x[i]\n";
  for (int k = 0; k < n; ++k) body += "  v = fma(v, 1.0001, 0.5)\n";
  return kernel_text(body + "  y[i] = v\n", "f32");
}

/// Many blocks, and a constant for each that could be hoisted out of the loop over subgroups.
std::string guarded_updates(int n) {
  std::string body;
  for (int k = 0; k < n; ++k)
    body += fmt::format("  if x[i+{0}] == {0} {{ y[i] += x[i*{0}] }}\n", k);
  return kernel_text(body, "u32");
}

std::string values_across_a_barrier(int n) {
  std::string body;
  for (int k = 0; k < n; ++k) body += fmt::format("  let v{0} = x[i+{0}] * {1}\n", k, k + 3);
  body += "  barrier workgroup\n";
  for (int k = 0; k < n; ++k) body += fmt::format("  y[i] += v{}\n", k);
  return kernel_text(body, "u32");
}

/// Each loop carries its variable and those of the loops inside.
std::string nested_loops(int n) {
  std::string body;
  for (int k = 0; k < n; ++k) body += fmt::format("  var v{0} = x[i+{0}]\n", k);
  for (int k = 0; k < n; ++k) body += fmt::format("  while v{0} < {1} {{ v{0} += 1\n", k, k + 3);
  body += std::string(n, '}') + "\n";
  for (int k = 0; k < n; ++k) body += fmt::format("  y[i] += v{}\n", k);
  return kernel_text(body, "u32");
}

/// CPU seconds of compiling without a cache: the least of two.
double compile_seconds(const std::string& source, uint32_t lanes = 0) {
  OpenOptions open;
  open.use_cache = false;
  Result<Device> cpu = Device::open(*cpu_backend(), 0, open);
  EXPECT_TRUE(cpu);
  const Program p = kernel(source);
  CompileOptions options;
  options.subgroup_size = lanes;
  double least = 1e9;
  for (int round = 0; round < 2; ++round) {
    const double begin = cpu_seconds();
    EXPECT_TRUE(cpu->compile(p, options));
    least = std::min(least, cpu_seconds() - begin);
  }
  return least;
}

TEST(CompileGrowth, of_a_chain_of_operations) {
  // 64 lanes: each operation becomes four or more on registers.
  const double quarter = compile_seconds(fma_chain(1024), 64);
  const double all = compile_seconds(fma_chain(4096), 64);
  EXPECT_LT(all, 7 * quarter + 0.05);
}

TEST(CompileGrowth, of_guarded_updates) {
  const double quarter = compile_seconds(guarded_updates(50));
  const double all = compile_seconds(guarded_updates(200));
  EXPECT_LT(all, 8 * quarter + 0.05);
}

TEST(CompileGrowth, of_values_across_a_barrier) {
  const double quarter = compile_seconds(values_across_a_barrier(50));
  const double all = compile_seconds(values_across_a_barrier(200));
  EXPECT_LT(all, 8 * quarter + 0.05);
}

TEST(CompileGrowth, of_nested_loops_over_as_many_variables) {
  const double quarter = compile_seconds(nested_loops(100));
  const double all = compile_seconds(nested_loops(400));
  EXPECT_LT(all, 8 * quarter + 0.05);
}

}  // namespace
}  // namespace vyre::driver
