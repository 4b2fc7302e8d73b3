// Single facts of the text that the emitter writes.

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

TEST(PtxEmit, says_version_and_target) {
  for (const Arch arch : all_archs) {
    const std::string text = text_of(copy, {.arch = arch});
    EXPECT_TRUE(
        text.starts_with(fmt::format(".version {}\n.target {}\n", ptx_version(arch), name(arch))));
    EXPECT_EQ(parse_arch(name(arch)), arch);
  }
  EXPECT_FALSE(parse_arch("sm_1"));
  EXPECT_TRUE(has(text_of(copy), ".maxntid 32, 1, 1"));
  EXPECT_FALSE(has(text_of(copy), ".minnctapersm"));
  EXPECT_TRUE(has(text_of(copy, {.min_blocks_per_sm = 2}), ".minnctapersm 2"));
}

TEST(PtxEmit, only_buffers_that_nobody_writes_go_through_the_read_only_cache) {
  EXPECT_EQ(count(text_of(copy), "ld.global.nc"), 1u);
  const std::string text = text_of(
      "kernel k(x: inout u32[], y: inout u32[]) workgroup(32) grid(len(x)) { let a = "
      "x[global_id.x]\n x[global_id.x] = a + y[global_id.x] }");
  EXPECT_EQ(count(text, "ld.global.nc.u32"), 1u);  // y
  EXPECT_EQ(count(text, "ld.global.u32"), 1u);     // x
}

TEST(PtxEmit, a_proved_access_has_no_test) {
  const std::string_view checked =
      "kernel k(y: out u32[8]) workgroup(1) grid(1) {\n"
      "  %0 = local_id.x\n  store y[%0], %0\n}";
  const std::string proved =
      "kernel k(y: out u32[8]) workgroup(1) grid(1) {\n"
      "  %0 = local_id.x\n  store y[%0], %0 in_bounds\n}";
  EXPECT_TRUE(has(text_of(checked), "@%p"));
  EXPECT_FALSE(has(emit_or_fail(program_of(proved, true), {}, proved).text, "@%p"));
}

TEST(PtxEmit, an_index_of_64_bits_is_never_cut) {
  const std::string text =
      text_of("kernel k(y: out u32[8], i: u64) workgroup(1) grid(1) { y[i] = 1 }");
  EXPECT_TRUE(has(text, "setp.lt.u64"));
  EXPECT_FALSE(has(text, "cvt.u32.u64"));
}

TEST(PtxEmit, a_negative_constant_index_is_outside) {
  const std::string text = text_of("kernel k(y: out u32[8]) workgroup(1) grid(1) { y[-2i8] = 1 }");
  EXPECT_FALSE(has(text, fmt::format("+{}]", 254 * 4)));
  EXPECT_TRUE(has(text, "mov.b32 %r1, -2") || has(text, ", -2;")) << text;
}

TEST(PtxEmit, nan_becomes_canonical_where_it_is_seen) {
  const std::string_view in_out = "kernel k(y: inout f32[]) workgroup(1) grid(1) { y[1] = y[0] }";
  const std::string_view scratch =
      "kernel k(t: scratch f32[2]) workgroup(1) grid(1) { t[1] = t[0] }";
  EXPECT_TRUE(has(text_of(in_out), "2143289344"));
  EXPECT_FALSE(has(text_of(scratch), "2143289344"));
}

TEST(PtxEmit, bf16_is_rounded_by_the_instruction_from_sm_80_on) {
  const std::string_view source =
      "kernel k(x: in f32[], y: out bf16[len(x)]) workgroup(1) grid(1) { y[0] = x[0] }";
  EXPECT_FALSE(has(text_of(source, {.arch = Arch::Sm75}), "cvt.rn.bf16"));
  EXPECT_TRUE(has(text_of(source, {.arch = Arch::Sm80}), "cvt.rn.bf16.f32"));
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
  EXPECT_TRUE(has(small.text, "vyre_shared[49152]"));
  const Kernel large = kernel_of(source(12289));
  EXPECT_EQ(large.info.static_shared_bytes, 0u);
  EXPECT_EQ(large.info.dynamic_shared_bytes, 49168u);
  EXPECT_TRUE(has(large.text, ".extern .shared"));
  const auto huge = emit(program_of(source(1 << 20)), {});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.errors()[0].code, Code::KernelTooLarge);  // V0721
}

TEST(PtxEmit, arrays_that_nobody_reads_are_not_cleared) {
  const std::string read = text_of(
      "kernel k(y: out u32[1]) workgroup(32) grid(32) { shared t: u32[32]\n t[local_id.x] = 1\n "
      "y[0] = t[0] }");
  const std::string written = text_of(
      "kernel k(y: out u32[1]) workgroup(32) grid(32) { shared t: u32[32]\n t[local_id.x] = 1\n "
      "y[0] = 1 }");
  EXPECT_TRUE(has(read, "st.shared.v4.b32"));
  EXPECT_FALSE(has(written, "st.shared.v4.b32"));
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

TEST(PtxEmit, short_while_loops_have_several_bodies_per_back_edge) {
  const auto bodies = [](const std::string& body, bool stoppable = true) {
    return count(
        kernel_of("kernel k(n: u32, x: in u32[], y: out u32[1]) workgroup(1) grid(1) { var "
                  "s: u32 = n\n while s != 1 { s = mulhi(s, 77)\n " +
                      body + " }\n y[0] = s }",
                  {.stoppable = stoppable})
            .text,
        "mul.hi");
  };
  EXPECT_EQ(bodies(""), 16u);
  EXPECT_EQ(bodies("if s == 9 { break }"), 16u);
  EXPECT_EQ(bodies("", false), 1u);  // no poll
  EXPECT_EQ(bodies("if s == 9 { continue }\n s += 1"), 1u);
  EXPECT_EQ(bodies("barrier workgroup"), 1u);
  EXPECT_EQ(bodies("for i in 0..4 { s += x[i] }"), 1u);
  std::string work;
  for (int i = 1; i < 12; ++i) work += "s = (s ^ " + std::to_string(i) + ") + (s >> 3)\n ";
  EXPECT_EQ(bodies(work), 4u);
  EXPECT_EQ(bodies(work + work), 2u);
}

TEST(PtxEmit, short_loops_have_several_bodies_a_round) {
  const auto bodies = [](const char* trips, const char* more = "") {
    const std::string text =
        kernel_of(fmt::format("kernel k(n: u32, x: in f32[], y: out f32[1]) workgroup(1) grid(1) "
                              "{{ var s = 0.0\n "
                              "for i in {} {{ s = fma(s, x[i], 1.5)\n {} }}\n y[0] = s }}",
                              trips, more))
            .text;
    size_t count = 0;
    for (size_t at = 0; (at = text.find("fma.rn", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(bodies("0..32"), 32u) << "whole";
  EXPECT_EQ(bodies("3..40 step 4"), 10u) << "whole";
  EXPECT_EQ(bodies("0..256"), 16u);
  EXPECT_EQ(bodies("0..45"), 15u) << "the most that divide it";
  EXPECT_EQ(bodies("0..41"), 1u) << "a prime";
  EXPECT_EQ(bodies("0..n"), 1u);
  EXPECT_EQ(bodies("0..100000"), 1u) << "it looks at the stop word";
  EXPECT_EQ(bodies("0..8", "if s > 9.0 { break }"), 8u);
  EXPECT_EQ(bodies("0..8", "if s > 9.0 { continue }\n s += 1.0"), 1u);
  EXPECT_EQ(bodies("0..8", "barrier workgroup"), 1u);
  EXPECT_EQ(bodies("0..8", "for j in 0..n { s += 1.0 }"), 1u);
  EXPECT_EQ(bodies("5..5"), 1u) << "none at all";
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
  EXPECT_TRUE(has(k.text, "ld.param.u8 %r"));
  EXPECT_TRUE(has(k.text, "ld.param.f64 %d0, [vyre_kernel_param+56]"));
}

TEST(PtxEmit, lanes_that_part_are_put_together_before_a_barrier) {
  const auto source = [](int size) {
    return fmt::format(
        "kernel k(y: inout u32[]) workgroup(64) subgroup({}) grid(len(y)) {{ let s = "
        "subgroup_add(y[global_id.x])\n barrier workgroup\n y[global_id.x] = s }}",
        size);
  };
  EXPECT_TRUE(has(text_of(source(32)), "\tbar.sync 0"));
  EXPECT_TRUE(has(text_of(source(8)), "\tbar.warp.sync 0xffffffff;\n\tbarrier.sync 0"));
  EXPECT_TRUE(has(text_of(source(64)), "\tbar.warp.sync 0xffffffff;\n\tbarrier.sync 0"));
}

TEST(PtxEmit, float_additions_that_keep_subnormals_swap) {
  const std::string_view source =
      "kernel k(y: inout f32[]) workgroup(1) grid(1) { atomic_add(y[0], 1.0) }";
  EXPECT_TRUE(has(text_of(source), "atom.relaxed.gpu.global.add.f32"));
  const std::string exact = text_of(source, {.exact_float_add = true});
  EXPECT_FALSE(has(exact, "global.add.f32"));
  EXPECT_TRUE(has(exact, "atom.relaxed.gpu.global.cas.b32"));
}

TEST(PtxEmit, lines_name_the_source) {
  const std::string text = text_of(copy, {.lines = true});
  EXPECT_TRUE(has(text, ".loc 1 1 "));
  EXPECT_TRUE(has(text, ".file 1 \"<input>\""));
  EXPECT_FALSE(has(text_of(copy), ".loc"));
}

}  // namespace
}  // namespace vyre::emit_ptx
