// Zeroing that GPU code omits. Unlike on the CPU, writes of the same subgroup count only after a
// barrier. tests/codegen/llvm/llvm_first_writes_test.cc has the other cases, and runs them.

#include "codegen/common/first_writes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/common/gpu_analysis.h"
#include "tests/codegen/ptx/ptx_util.h"

namespace vyre {
namespace {

Program kernel_of(std::string_view body) {
  return emit_ptx::program_of(
      fmt::format("kernel k(n: u32, x: in u32[], y: out u32[300]) workgroup(64) grid(300) {{\n"
                  " let l = local_id.x\n let g = global_id.x\n{}\n}}\n",
                  body));
}

/// Names of the arrays that are zeroed.
std::string zeroed(std::string_view body) {
  const Program p = kernel_of(body);
  const GpuAnalysis f = analyze_for_gpu(p, 32);
  std::string names;
  for (const BufferId i : f.buffers.ids())
    if (f.buffers[i].needs_zeros) names += p.buffers[i].name + " ";
  return names;
}

TEST(FirstWritesOfGpus, behind_a_barrier) {
  EXPECT_EQ(zeroed("shared t: u32[64]\n t[l] = x[g]\n barrier workgroup\n y[g] = t[63 - l]"), "");
  EXPECT_EQ(zeroed("shared t: u32[64]\n t[l] = x[g]\n barrier workgroup\n"
                   " var d: u32 = 32\n while d > 0 { if l < d { t[l] += t[l + d] }\n d >>= 1\n "
                   "barrier workgroup }\n"
                   " y[g] = t[0]"),
            "");
  EXPECT_EQ(
      zeroed(
          "shared t: u32[64]\n if l < 63 { t[l] = x[g] }\n barrier workgroup\n y[g] = t[63 - l]"),
      "t ");
  EXPECT_EQ(
      zeroed("shared t: u32[2]\n if l == 0 { t[0] = x[g]\n t[1] = 5 }\n y[g] = uniform_load(t[1])"),
      "");
}

TEST(FirstWritesOfGpus, nobody_runs_in_step) {
  EXPECT_EQ(zeroed("shared t: u32[64]\n t[l] = x[g]\n y[g] = t[l ^ 1]"), "t ");
  EXPECT_EQ(zeroed("shared t: u32[64]\n t[l] = x[g]\n y[g] = t[l]"), "");
}

TEST(FirstWritesOfGpus, nobody_waits_before_a_loop_with_a_barrier) {
  const char* loop =
      "shared t: u32[64]\n t[l] = x[g]\n{} for k in 0..n {{ y[g] += t[63 - l]\n barrier workgroup "
      "}}";
  EXPECT_EQ(zeroed(fmt::format(fmt::runtime(loop), "")), "t ");
  EXPECT_EQ(zeroed(fmt::format(fmt::runtime(loop), " barrier workgroup\n")), "");
  EXPECT_EQ(
      zeroed("shared t: u32[64]\n t[l] = x[g]\n if n > 3 { barrier workgroup }\n y[g] = t[63 - l]"),
      "t ");
  EXPECT_EQ(zeroed("shared t: u32[64]\n for k in 0..3 { t[l] = x[g]\n barrier workgroup }\n y[g] = "
                   "t[63 - l]"),
            "t ");
}

TEST(FirstWritesOfGpus, invocations_that_are_gone) {
  EXPECT_EQ(zeroed("shared t: u32[64]\n assert(g != 70 + n, 4)\n t[l] = x[g]\n barrier workgroup\n "
                   "y[g] = t[63 - l]"),
            "t ");
}

TEST(FirstWritesOfGpus, private_arrays) {
  EXPECT_EQ(zeroed("var w: u32[5]\n for k in 0..5 { w[k] = x[g + k] }\n y[g] = w[x[g] % 6]"), "");
  EXPECT_EQ(zeroed("var w: u32[5]\n for k in 0..4 { w[k] = x[g + k] }\n y[g] = w[x[g] % 6]"), "w ");
}

}  // namespace
}  // namespace vyre
