// The information that the emitter returns about a kernel, the kernels that it refuses, and options
// that `vyre emit` does not have.
// tests/text/codegen has patterns of the text.

#include "codegen/ptx/ptx_emit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/codegen/ptx/ptx_util.h"

namespace vyre::emit_ptx {
namespace {

Kernel kernel_of(std::string_view source, EmitOptions options = {}) {
  return emit_or_fail(program_of(source), options, std::string(source));
}

std::string text_of(std::string_view source, EmitOptions options = {}) {
  return kernel_of(source, options).text;
}

bool has(const std::string& text, std::string_view piece) { return text.find(piece) != text.npos; }

size_t count(const std::string& text, std::string_view piece) {
  size_t n = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++n;
  return n;
}

constexpr std::string_view copy =
    "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) { y[global_id.x] = "
    "x[global_id.x] }";

TEST(PtxEmit, options_that_the_command_line_lacks) {
  for (const Arch arch : all_archs) EXPECT_EQ(parse_arch(name(arch)), arch);
  EXPECT_FALSE(parse_arch("sm_1"));
  EXPECT_TRUE(has(text_of(copy, {.min_blocks_per_sm = 2}), ".minnctapersm 2"));
  const std::string adds =
      text_of("kernel k(y: inout f32[]) workgroup(1) grid(1) { atomic_add(y[0], 1.0) }",
              {.exact_float_add = true});
  EXPECT_FALSE(has(adds, "global.add.f32"));
  EXPECT_TRUE(has(adds, "atom.relaxed.gpu.global.cas.b32"));
  const std::string polls =
      "kernel k(n: u32, y: out u32[1]) workgroup(1) grid(1) { var s: u32 = n\n while s != 1 { s = "
      "mulhi(s, 77) }\n y[0] = s }";
  EXPECT_EQ(count(text_of(polls), "mul.hi"), 16u);
  EXPECT_EQ(count(text_of(polls, {.stoppable = false}), "mul.hi"), 1u);
}

TEST(PtxEmit, shared_memory_above_48_kib_is_dynamic) {
  const auto source = [](int n) {
    return fmt::format(
        "kernel k(y: out u32[1]) workgroup(32) grid(32) {{ shared t: u32[{}]\n t[local_id.x] = 1\n "
        "barrier workgroup\n y[0] = t[5] }}",
        n);
  };
  const Kernel small = kernel_of(source(12288));
  EXPECT_EQ(small.info.static_shared_bytes, 49152u);
  EXPECT_EQ(small.info.dynamic_shared_bytes, 0u);
  const Kernel large = kernel_of(source(12289));
  EXPECT_EQ(large.info.static_shared_bytes, 0u);
  EXPECT_EQ(large.info.dynamic_shared_bytes, 49168u);
}

TEST(PtxEmit, loops_without_a_small_bound_poll_the_stop_word) {
  const auto loop = [](const char* hi) {
    return fmt::format(
        "kernel k(n: u32, y: out u32[1]) workgroup(1) grid(1) {{ var s: u32 = 0\n for i in 0..{} "
        "{{ "
        "s += i }}\n y[0] = s }}",
        hi);
  };
  EXPECT_TRUE(kernel_of(loop("n")).info.uses_stop);
  EXPECT_FALSE(kernel_of(loop("1000")).info.uses_stop);
  EXPECT_TRUE(kernel_of(loop("100000")).info.uses_stop);
  EXPECT_FALSE(kernel_of(loop("n"), {.stoppable = false}).info.uses_stop);
}

TEST(PtxEmit, grid_barriers_are_native_only_if_asked_and_without_traps) {
  const std::string_view plain =
      "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1\n barrier grid\n "
      "y[global_id.x] += y[0] }";
  const std::string_view traps =
      "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) { assert(y[0] != 1, 3)\n barrier grid\n "
      "y[global_id.x] += y[0] }";
  EXPECT_FALSE(emit(program_of(plain), {}));
  EXPECT_TRUE(can_wait_for_grid(program_of(plain)));
  EXPECT_FALSE(can_wait_for_grid(program_of(traps)));
  EXPECT_FALSE(emit(program_of(traps), {.native_grid_barrier = true}));
  EXPECT_FALSE(emit(program_of(plain), {.native_grid_barrier = true, .grid = Grid::Linear}));
  const Kernel native = kernel_of(plain, {.native_grid_barrier = true});
  EXPECT_TRUE(native.info.grid_barrier);
  EXPECT_TRUE(native.info.uses_control);
  EXPECT_TRUE(has(native.text, "ld.acquire.gpu.global.u32"));
}

TEST(PtxEmit, subgroup_sizes_that_cannot_be) {
  for (const uint32_t size : {0u, 3u, 128u}) {
    const auto kernel = emit(program_of(copy), {.subgroup_size = size});
    ASSERT_FALSE(kernel) << size;
    EXPECT_EQ(kernel.errors()[0].code, Code::BadSubgroupSize);  // V0463
  }
}

TEST(PtxEmit, parameters_are_one_block) {
  const Kernel k = kernel_of(
      "kernel k(a: u8, x: in u32[], b: f64, y: out u32[len(x)]) workgroup(32) grid(len(x)) { "
      "shared "
      "t: u32[4]\n y[global_id.x] = x[u32(a)] + u32(b) + t[0] }");
  EXPECT_EQ(k.info.parameter_bytes, 32u + 8 + 16 + 8 + 16);
}

}  // namespace
}  // namespace vyre::emit_ptx
