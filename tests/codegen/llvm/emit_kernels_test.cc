// Kernels that take the emitter's ways one by one, at every subgroup size, against the interpreter.
// Random programs are compared elsewhere (src/fuzz).

#include <gtest/gtest.h>

#include "codegen/llvm/llvm_emit.h"
#include "codegen/llvm/llvm_lower.h"
#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

struct Case {
  const char* name;
  const char* source;
};

// Each takes `x: in u32[]` of 301 elements and gives `y: out u32[301]`.
constexpr Case cases[] = {
    {"neighbours_and_a_tail", "workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] + 1 }"},
    {"an_index_that_wraps",
     "workgroup(64) grid(len(x)) { let i = global_id.x + 4294967290\n y[i] = x[i] * 3 + x[i + 9] "
     "}"},
    {"narrow_indices",
     "workgroup(64) grid(len(x)) { let i = u8(global_id.x) + 5\n y[global_id.x] = x[i] + x[i8(i)] "
     "}"},
    {"negative_indices",
     "workgroup(64) grid(len(x)) { let i = i32(global_id.x) - 70\n y[i] = x[i + 1] + x[i - 1] }"},
    {"runs_from_below_zero_in_some_lanes",
     "workgroup(64) grid(512) { let i = i32(global_id.x) - 7\n if x[global_id.x] % 3 != 0 { y[i] = "
     "x[i - 3] + x[i64(i) + 5] }\n if x[i] % 2 == 0 { y[i] ^= 77 } }"},
    {"runs_that_wrap_at_64_bits",
     "workgroup(64) grid(len(x)) { let i = u64(global_id.x) - 9\n y[i] = x[i] + x[i - 30] }"},
    {"runs_of_bytes_that_wrap",
     "workgroup(64) grid(len(x)) { let l = local_id.x\n y[global_id.x] = load_as<u32>(x, u8(l * 4 "
     "+ "
     "200)) + load_as<u32>(x, global_id.x * 4 - 8) + u32(load_as<u16>(x, i8(l * 2 + 90))) }"},
    {"narrow_runs_that_wrap",
     "workgroup(64) grid(len(x)) { shared t: u8[70]\n let l = local_id.x\n t[u8(l + 230)] = "
     "u8(x[l])\n barrier workgroup\n"
     " t[l - 9] = u8(l)\n barrier workgroup\n y[global_id.x] = u32(t[l - 20]) + u32(t[u16(l) + "
     "65500]) "
     "+ u32(t[i8(l + 100)]) }"},
    {"workgroups_abreast",
     "workgroup(64, 2) grid(250, 3) { let i = global_id.y * 250 + global_id.x\n let w = "
     "workgroup_id.x "
     "* 1000 + workgroup_id.y\n if global_id.x < 100 { y[i] = x[i] + w + num_workgroups.x } }"},
    {"a_permutation",
     "workgroup(32) grid(len(x)) { y[global_id.x * 7 % 301] = x[global_id.x * 11 % 301] }"},
    {"rows_of_a_picture",
     "workgroup(16, 4) grid(32, 9) { let i = global_id.y * 32 + global_id.x\n y[i] = x[i] + "
     "local_id.y * 100 + workgroup_id.x }"},
    {"rows_that_are_no_subgroup",
     "workgroup(5, 3, 2) grid(10, 6, 4) { let i = (global_id.z * 6 + global_id.y) * 10 + "
     "global_id.x\n"
     " y[i] = x[i] + local_id.x + local_id.y * 10 + local_id.z * 100 }"},
    {"a_guard_that_returns",
     "workgroup(64) grid(512) { let i = global_id.x\n if i >= 250 { return }\n var s: u32 = 0\n"
     " for k in 0..10 { s += x[i + k] }\n y[i] = s }"},
    {"lanes_with_other_trips",
     "workgroup(64) grid(len(x)) { let i = global_id.x\n var s: u32 = 0\n"
     " for k in i % 5..x[i] % 37 step 1 + i % 3 { if k == 7 { continue }\n if k > 29 { break }\n s "
     "= s * 3 + k }\n y[i] = s }"},
    {"a_while_with_returns",
     "workgroup(50) grid(len(x)) { let i = global_id.x\n var n = x[i] % 1000\n var s: u32 = 0\n"
     " while n != 1 { s += 1\n if s > 90 { y[i] = 4294967295\n return }\n"
     " for k in 0..3 { if n == 13 + k { y[i] = k\n return } }\n"
     " n = select(n % 2 == 0, n / 2, 3 * n + 1) }\n y[i] = s }"},
    {"a_loop_by_the_grid",
     "workgroup(32) grid(64) { for i in global_id.x..301 step num_workgroups.x * 32 { y[i] = x[i] "
     "^ i } }"},
    {"private_arrays",
     "workgroup(64) grid(len(x)) { var w: u32[5]\n let i = global_id.x\n for k in 0..7 { w[k] = "
     "x[i + k] }\n"
     " w[x[i] % 8] += 5\n y[i] = w[0] + w[1] * 3 + w[i % 9] + w[4] }"},
    {"private_arrays_by_the_byte",
     "workgroup(64) grid(len(x)) { var w: u32[3]\n let i = global_id.x\n w[0] = x[i]\n w[1] = i\n "
     "w[2] = 7\n"
     " if i % 3 == 0 { w[i % 4] = 9 }\n y[i] = load_as<u32>(w, i % 13) }"},
    {"one_byte_is_too_short",
     "workgroup(64) grid(len(x)) { var w: u8[1]\n w[0] = 9\n y[global_id.x] = u32(load_as<u16>(w, "
     "0)) + load_as<u32>(x, global_id.x * 4 + 1) }"},
    {"a_tree_of_sums",
     "workgroup(128) grid(301) { shared t: u32[128]\n let l = local_id.x\n t[l] = x[global_id.x]\n "
     "var d: u32 = 64\n"
     " while d > 0 { barrier workgroup\n if l < d { t[l] += t[l + d] }\n d >>= 1 }\n"
     " barrier workgroup\n y[global_id.x] = t[0] + t[127 - l] }"},
    {"values_across_barriers",
     "workgroup(48) grid(301) { shared t: u32[48]\n let l = local_id.x\n let a = x[global_id.x]\n "
     "var c = a % 7 == 3\n"
     " var s: u32 = 0\n for k in 0..4 { t[(l + k) % 48] = a + s\n barrier workgroup\n s += t[47 - "
     "l]\n c = c || s % 5 == 0\n"
     " barrier workgroup\n if k == workgroup_id.x { continue }\n if k == 2 { break }\n s *= 3 }\n "
     "y[global_id.x] = s + u32(c) }"},
    {"a_uniform_load",
     "workgroup(40) grid(301) { shared flag: u32[2]\n var n: u32 = 0\n while true { if local_id.x "
     "== 39 { flag[0] = n }\n"
     " if uniform_load(flag[0]) == 3 { break }\n n += 1 }\n y[global_id.x] = n + x[global_id.x] }"},
    {"atomics_on_one_element",
     "workgroup(64) grid(len(x)) { atomic_add(y[0], x[global_id.x])\n if x[global_id.x] % 2 == 0 { "
     "atomic_max(y[1], x[global_id.x]) }\n"
     " atomic_xor(y[2], global_id.x)\n atomic_min(y[global_id.x + 1000000], 1) }"},
    {"a_histogram",
     "workgroup(64) grid(len(x)) { shared h: u32[16]\n atomic_add(h[x[global_id.x] % 17], 1)\n "
     "barrier workgroup\n"
     " if local_id.x < 16 { atomic_add(y[local_id.x], h[local_id.x]) } }"},
    {"tables_and_bytes",
     "workgroup(64) grid(len(x)) { y[global_id.x] = u32(T[x[global_id.x] % 11]) + "
     "u32(T[global_id.x]) + u32(T[3]) }"},
    {"neighbours_of_the_largest_index",
     "workgroup(64) grid(301) {\n shared t: u32[8]\n %0 = global_id.x\n"
     " %1 = const 18446744073709551614 : u64\n %2 = const 0 : u32\n store t[%2], %0\n"
     " %3, %4, %5, %6 = load_n t[%1] : u32\n %7 = add %5, %6 : u32\n store y[%0], %7\n}"},
    {"subgroups",
     "workgroup(70) subgroup(16) grid(301) { let v = x[global_id.x]\n let p = "
     "subgroup_scan_add(v)\n"
     " y[global_id.x] = p + subgroup_max(v) + subgroup_shuffle_down(v, 3) + u32(subgroup_ballot(v "
     "% 2 == 0)) }"},
};

std::string source_of(const Case& c) {
  return std::string(
             "const T: u8[9] = [1, 2, 3, 5, 8, 13, 21, 34, 55]\nkernel k(x: in u32[], y: out "
             "u32[301]) ") +
         c.source;
}

Device open_cpu() {
  OpenOptions options;
  options.use_cache = false;
  Result<Device> d = Device::open(*cpu_backend(), 0, options);
  EXPECT_TRUE(d);
  return *d;
}

TEST(emit_kernels, are_the_interpreters_bytes_at_every_subgroup_size) {
  std::vector<uint32_t> x(301);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u >> 7;
  Device cpu = open_cpu();
  // Instruction sets take turns: compiling each case for each of them takes minutes. Eight sizes
  // and two or three sets, so that a size meets each set over the cases.
  std::vector<emit_llvm::Isa> isas;
  for (const auto isa :
       {emit_llvm::Isa::X86_64_V2, emit_llvm::Isa::X86_64_V3, emit_llvm::Isa::X86_64_V4})
    if (emit_llvm::host_runs(isa)) isas.push_back(isa);
  if (isas.size() == 2) isas.push_back(isas.back());  // 8 sizes would meet one of two sets only
  size_t turn = 0;
  for (const Case& c : cases) {
    const Program program = kernel(source_of(c));
    LaunchInputs inputs;
    inputs.data = {bytes(x), std::nullopt};
    inputs.lengths.resize(2);
    for (const uint32_t size : {0u, 1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
      const auto wanted = interp::run(program, inputs, {.subgroup_size = size ? size : 8});
      ASSERT_TRUE(wanted) << c.name << render(wanted.errors(), {});
      const emit_llvm::Isa isa = isas[turn++ % isas.size()];
      RunOptions options;
      options.compile.subgroup_size = size;
      options.compile.extra = {"isa=" + std::string(emit_llvm::name(isa))};
      const auto got = run(cpu, program, inputs, options);
      ASSERT_TRUE(got) << c.name << render(got.errors(), {});
      EXPECT_TRUE(got->buffers[1] == wanted->buffers[1])
          << c.name << " at " << size << " for " << name(isa);
    }
  }
}

TEST(emit_kernels, dead_lanes_keep_nobody_waiting) {
  // Lanes trap before a barrier in a loop that only the others leave.
  const Program program = kernel(
      "kernel k(y: out u32[96]) workgroup(48) grid(96) {\n"
      "  shared t: u32[48]\n"
      "  for i in 0..5 {\n"
      "    t[local_id.x] = i\n"
      "    assert(!(i == 3 && global_id.x > 50), 40 + i)\n"
      "    barrier workgroup\n"
      "    y[global_id.x] += t[47 - local_id.x]\n"
      "    barrier workgroup\n"
      "  }\n"
      "  if global_id.x == 2 { trap 77 }\n"
      "}\n");
  Device cpu = open_cpu();
  LaunchInputs inputs;
  inputs.data.resize(1);
  inputs.lengths.resize(1);
  const auto wanted = interp::run(program, inputs, {});
  ASSERT_FALSE(wanted);
  const auto got = run(cpu, program, inputs, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.errors()[0].message, wanted.errors()[0].message);
  EXPECT_EQ(got.errors()[0].place.line, 10u);
}

TEST(emit_kernels, workgroups_of_rows_go_abreast_where_they_only_stream) {
  const auto goes = [](const std::string& workgroup, const std::string& body) {
    const Program p =
        kernel("kernel k(n: u32, x: in u32[], y: out u32[301]) workgroup(" + workgroup +
               ") grid(64, 64) { let i = global_id.y * 64 + global_id.x\n" + body + "}\n");
    emit_llvm::EmitOptions options;
    options.subgroup_size = 16;
    return emit_llvm::lower(p, options).abreast;
  };
  EXPECT_TRUE(goes("16, 4", "y[i] = x[i]"));
  EXPECT_FALSE(goes("64", "y[i] = x[i]"));     // it goes along a row already
  EXPECT_FALSE(goes("16, 1", "y[i] = x[i]"));  // one subgroup
  EXPECT_FALSE(goes("8, 8", "y[i] = x[i]"));   // a subgroup is not a row
  EXPECT_FALSE(goes("16, 4", "shared t: u32[64]\n t[local_id.x] = 1\n y[i] = t[local_id.x]"));
  EXPECT_FALSE(goes("16, 4", "var s = 0\n for k in 0..n { s += x[i + k] }\n y[i] = s"));
}

TEST(emit_kernels, nesting_of_a_thousand_levels_is_emitted) {
  std::string source =
      "kernel k(x: in u32[], y: out u32[64]) workgroup(64) grid(64) {\n  var s: u32 = 0\n";
  const int depth = 900;
  for (int i = 0; i < depth; ++i)
    source += "if x[global_id.x] > " + std::to_string(i) + " { s += 1\n";
  for (int i = 0; i < depth; ++i) source += "}";
  source += "\n y[global_id.x] = s }\n";
  auto module = emit_llvm::emit(kernel(source), {});
  EXPECT_TRUE(module);
}

}  // namespace
}  // namespace vyre::driver
