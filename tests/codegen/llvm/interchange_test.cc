// Loops that stride over memory are run with the subgroups inside, where that changes no result.

#include "codegen/llvm/interchange.h"

#include <gtest/gtest.h>

#include "codegen/llvm/llvm_emit.h"
#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

std::string source_of(const std::string& body) {
  return "kernel k(n: u32, x: in u32[], y: out u32[2000]) workgroup(64) grid(128) {\n"
         " let l = local_id.x\n let first = workgroup_id.x * 1000 + l\n var s: u32 = 0\n" +
         body + "\n y[first] += s\n}\n";
}

bool is_interchanged(const Program& p) {
  emit_llvm::EmitOptions options;
  options.subgroup_size = 16;
  return emit_llvm::lower(p, options).phased;
}

void expect_interchanged(const std::string& body, bool wanted) {
  const Program p = kernel(source_of(body));
  EXPECT_EQ(is_interchanged(p), wanted) << body;
  OpenOptions open;
  open.use_cache = false;
  Result<Device> cpu = Device::open(*cpu_backend(), 0, open);
  ASSERT_TRUE(cpu);
  std::vector<uint32_t> x(1700);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u >> 9;
  for (const uint32_t n : {0u, 1u, 7u, 40u})
    for (const uint32_t lanes : {4u, 16u, 32u, 64u}) {
      LaunchInputs inputs;
      inputs.data = {bytes(std::vector<uint32_t>{n}), bytes(x), std::nullopt};
      inputs.lengths.resize(3);
      const auto expected = interp::run(p, inputs, {.subgroup_size = lanes});
      RunOptions options;
      options.compile.subgroup_size = lanes;
      const auto got = run(*cpu, p, inputs, options);
      ASSERT_EQ(bool(got), bool(expected)) << body;
      if (!got) continue;
      EXPECT_TRUE(got->buffers[2] == expected->buffers[2]) << body << "\nn " << n << ", " << lanes;
    }
}

TEST(Interchange, where_neighbours_read_far_apart) {
  expect_interchanged("for k in 0..n { s += x[first + k * 64] }", true);
  expect_interchanged(
      "for k in 0..9 { let i = first + (k << 6)\n y[i] = x[i] + k\n s = s * 3 + x[i] }", true);
  expect_interchanged(
      "var t = first * 3\n for k in 1..n step 2 { t ^= s\n s += x[first + k * 128] + t }\n s += t",
      true);
  // Values from before the loop are used in it: an index, a condition, a sum.
  expect_interchanged(
      "let odd = x[l] % 2 == 1\n let far = first + n\n for k in 0..n { if odd { s += x[far + k * "
      "64] } }",
      true);
  // Something else waits, too.
  expect_interchanged(
      "shared t: u32[64]\n for k in 0..n { s += x[first + k * 64] }\n t[l] = s\n barrier "
      "workgroup\n s = t[63 - l]",
      true);
}

TEST(Interchange, not_where_it_gains_nothing) {
  expect_interchanged("for k in 0..n { s += x[first + k] }", false);
  expect_interchanged("for k in 0..n { s += x[first * 5 + k * 64] }", false);
  expect_interchanged("for k in 0..n { s += x[k * 64] }", false);
}

TEST(Interchange, not_where_the_workgroup_does_not_go_together) {
  expect_interchanged("for k in 0..x[l] % 9 { s += x[first + k * 64] }", false);
  expect_interchanged("if x[l] % 2 == 0 { for k in 0..n { s += x[first + k * 64] } }", false);
  expect_interchanged("for k in 0..n { if x[l] == k { break }\n s += x[first + k * 64] }", false);
  expect_interchanged("if x[l] % 2 == 0 { return }\n for k in 0..n { s += x[first + k * 64] }",
                      false);
  expect_interchanged("for k in 0..n { assert(l != 3 || k < 20, 7)\n s += x[first + k * 64] }",
                      false);
}

TEST(Interchange, in_a_loop_or_an_if_of_the_whole_workgroup) {
  expect_interchanged("for j in 0..3 { for k in 0..n { s = s * 5 + x[first + k * 64 + j] } }",
                      true);
  expect_interchanged(
      "if n > 5 { for k in 0..n { s += x[first + k * 64] }\n s *= 3 } else { s = first }", true);
  expect_interchanged("if n == 7 { return }\n for k in 0..n { s += x[first + k * 64] }", true);
}

}  // namespace
}  // namespace vyre::driver
