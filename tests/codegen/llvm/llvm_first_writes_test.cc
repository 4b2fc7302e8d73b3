// Arrays start as zeros, and the zeroing is omitted where it cannot be observed. The arena of these
// tests is dirty, so missing zeroing gives other bytes than the interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/common/first_writes.h"
#include "codegen/llvm/llvm_lower.h"
#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

const int dirtied = setenv("VYRE_CPU_DIRTY_ARENA", "1", 1);

/// A kernel with `x: in u32[]` and `y: out u32[300]`, workgroups of 64 unless it says so itself.
std::string source_of(const std::string& body, const std::string& workgroup = "64") {
  return "kernel k(n: u32, x: in u32[], y: out u32[300]) workgroup(" + workgroup +
         ") grid(300) {\n let l = local_id.x\n let g = global_id.x\n" + body + "\n}\n";
}

/// Names of the arrays that are zeroed, at a subgroup size.
std::string zeroed(const Program& p, uint32_t lanes) {
  emit_llvm::EmitOptions options;
  options.subgroup_size = lanes;
  const emit_llvm::Prepared prepared = emit_llvm::lower(p, options);
  const std::vector<bool> needed = find_needed_zeros(emit_llvm::array_use(prepared));
  std::string names;
  for (size_t i = 0; i < needed.size(); ++i)
    if (needed[i]) names += prepared.program.buffers[i].name + " ";
  return names;
}

/// Memory that the kernel sets to zero in LLVM's words.
size_t memsets(const Program& p, uint32_t lanes) {
  emit_llvm::EmitOptions options;
  options.subgroup_size = lanes;
  auto module = emit_llvm::emit(p, options);
  EXPECT_TRUE(module);
  const std::string text = to_text(*module);
  size_t n = 0;
  for (size_t at = 0; (at = text.find("call void @llvm.memset", at)) != std::string::npos; ++at)
    n += text.substr(at, text.find('\n', at) - at).find("i8 0,") != std::string::npos;
  return n;
}

/// Checks what is zeroed at 16 lanes, and the results at several sizes.
void expect_zeroed(const std::string& source, const std::string& names) {
  ASSERT_EQ(dirtied, 0);
  const Program p = kernel(source);
  EXPECT_EQ(zeroed(p, 16), names) << source;
  if (names.empty()) {
    EXPECT_EQ(memsets(p, 16), 0u) << source;
  }
  OpenOptions open;
  open.use_cache = false;
  Result<Device> cpu = Device::open(*cpu_backend(), 0, open);
  ASSERT_TRUE(cpu);
  std::vector<uint32_t> x(300);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u >> 9;
  for (const uint32_t n : {0u, 3u, 50u}) {
    LaunchInputs inputs;
    inputs.data = {bytes(std::vector<uint32_t>{n}), bytes(x), std::nullopt};
    inputs.lengths.resize(3);
    for (const uint32_t lanes : {4u, 16u, 64u}) {
      const auto wanted = interp::run(p, inputs, {.subgroup_size = lanes});
      RunOptions options;
      options.compile.subgroup_size = lanes;
      const auto got = run(*cpu, p, inputs, options);
      ASSERT_EQ(bool(got), bool(wanted)) << source;
      if (!wanted) {
        EXPECT_EQ(got.errors()[0].message, wanted.errors()[0].message) << source;
        continue;
      }
      EXPECT_TRUE(got->buffers[2] == wanted->buffers[2]) << source << "n " << n << ", " << lanes;
    }
  }
}

TEST(FirstWrites, every_element_by_its_invocation) {
  expect_zeroed(source_of("shared t: u32[64]\n t[l] = x[g]\n barrier workgroup\n y[g] = t[63 - l]"),
                "");
  expect_zeroed(source_of("shared t: u32[64]\n t[(l * 5) ^ 3] = x[g]\n barrier workgroup\n"
                          " if l < 64 { y[g] = t[x[g]] }"),
                "t ");
  expect_zeroed(
      source_of(
          "shared t: u32[64]\n t[(l * 5 + 7) % 64] = x[g]\n barrier workgroup\n y[g] = t[x[g]]"),
      "");
}

TEST(FirstWrites, an_array_that_nobody_reads) {
  expect_zeroed(source_of("shared t: u32[500]\n t[x[g]] = 3\n y[g] = 1"), "");
}

TEST(FirstWrites, more_elements_than_are_written) {
  expect_zeroed(source_of("shared t: u32[65]\n t[l] = x[g]\n barrier workgroup\n y[g] = t[64 - l]"),
                "t ");
  expect_zeroed(source_of("shared t: u32[65]\n t[l] = x[g]\n barrier workgroup\n y[g] = t[63 - l]"),
                "");
  expect_zeroed(
      source_of("shared t: u32[64]\n t[l / 2] = x[g]\n barrier workgroup\n y[g] = t[63 - l]"),
      "t ");
}

TEST(FirstWrites, tiles_in_a_loop) {
  expect_zeroed(
      "kernel k(n: u32, x: in u32[], y: out u32[300]) workgroup(8, 8) grid(24, 8) {\n"
      " shared a: u32[64]\n shared b: u32[64]\n var s: u32 = 0\n"
      " for first in 0..n step 8 {\n"
      "  a[local_id.y * 8 + local_id.x] = x[first + local_id.x]\n"
      "  b[local_id.x * 8 + local_id.y] = x[first + local_id.y]\n  barrier workgroup\n"
      "  for i in 0..8 { s += a[local_id.y * 8 + i] * b[i * 8 + local_id.x] }\n  barrier "
      "workgroup\n }\n"
      " y[global_id.y * 24 + global_id.x] = s\n}\n",
      "");
}

TEST(FirstWrites, a_loop_that_may_run_no_trip) {
  expect_zeroed(source_of("shared t: u32[64]\n for k in 0..n { t[l] = x[g + k]\n barrier "
                          "workgroup\n y[g] += t[63 - l]\n"
                          " barrier workgroup }\n y[g] += t[l ^ 1]"),
                "t ");
}

TEST(FirstWrites, a_read_before_the_write) {
  expect_zeroed(source_of("shared t: u32[64]\n for k in 0..n { y[g] += t[63 - l]\n barrier "
                          "workgroup\n t[l] = x[g + k]\n"
                          " barrier workgroup }"),
                "t ");
  expect_zeroed(
      source_of("shared t: u32[64]\n atomic_add(t[l], 2)\n barrier workgroup\n y[g] = t[63 - l]"),
      "t ");
}

TEST(FirstWrites, a_write_that_some_leave_out) {
  expect_zeroed(source_of("shared t: u32[64]\n if x[g] % 3 != 0 { t[l] = x[g] }\n barrier "
                          "workgroup\n y[g] = t[63 - l]"),
                "t ");
  expect_zeroed(
      source_of(
          "shared t: u32[64]\n if n > 10 { t[l] = x[g] }\n barrier workgroup\n y[g] = t[63 - l]"),
      "t ");
  expect_zeroed(source_of("shared t: u32[64]\n if n > 10 { t[l] = x[g] } else { t[63 - l] = 5 }\n "
                          "barrier workgroup\n"
                          " y[g] = t[63 - l]"),
                "");
  expect_zeroed(
      source_of(
          "shared t: u32[64]\n if l < 60 { t[l] = x[g] }\n barrier workgroup\n y[g] = t[63 - l]"),
      "t ");
  expect_zeroed(source_of("shared t: u32[66]\n t[l + 1] = x[g]\n if l == 0 { t[0] = x[g - 1] }\n"
                          " if l == 63 { t[65] = x[g + 1] }\n barrier workgroup\n y[g] = t[l] + "
                          "t[l + 1] + t[l + 2]"),
                "");
}

TEST(FirstWrites, invocations_that_are_gone) {
  expect_zeroed(
      source_of("shared t: u32[64]\n assert(g != 70 + n, 4)\n t[l] = x[g]\n barrier workgroup\n"
                " assert(t[63 - l] != 0xa5a5a5a5, 5)\n y[g] = t[63 - l]"),
      "t ");
  expect_zeroed(
      source_of("shared t: u32[64]\n t[l] = x[g]\n assert(g != 70 + n, 4)\n barrier workgroup\n"
                " y[g] = t[63 - l]"),
      "");
  expect_zeroed(source_of("shared t: u32[64]\n if n > 10 { return }\n t[l] = x[g]\n barrier "
                          "workgroup\n y[g] = t[63 - l]"),
                "");
  // Lanes leave in the first trip, and the array is written in the second.
  expect_zeroed(
      source_of(
          "shared t: u32[64]\n for k in 0..3 {\n if k == n - 2 { t[l] = x[g]\n barrier workgroup\n"
          " y[g] = t[63 - l] }\n assert(l != 9, 4) }"),
      "t ");
}

TEST(FirstWrites, several_writes_of_an_invocation) {
  expect_zeroed(
      source_of(
          "shared t: u32[256]\n for k in 0..4 { t[k * 64 + l] = x[g + k] }\n barrier workgroup\n"
          " y[g] = t[x[g] % 256]"),
      "");
  expect_zeroed(
      source_of("shared t: u32[250]\n for i in l..250 step 64 { t[i] = x[i] }\n barrier workgroup\n"
                " y[g] = t[x[g] % 250]"),
      "");
  expect_zeroed(
      source_of("shared t: u32[250]\n for i in l..249 step 64 { t[i] = x[i] }\n barrier workgroup\n"
                " y[g] = t[x[g] % 250]"),
      "t ");
  expect_zeroed(source_of("shared t: u32[256]\n for k in 0..4 { if x[g] == k { break }\n t[k * 64 "
                          "+ l] = x[g + k] }\n"
                          " barrier workgroup\n y[g] = t[x[g] % 256]"),
                "t ");
}

TEST(FirstWrites, without_a_barrier_only_what_the_own_subgroup_wrote) {
  expect_zeroed(source_of("shared t: u32[64]\n t[l] = x[g]\n t[l] += 3\n y[g] = t[l]"), "");
  const Program p = kernel(source_of("shared t: u32[64]\n t[l] = x[g]\n y[g] = t[63 - l]"));
  EXPECT_EQ(zeroed(p, 16), "t ");
  EXPECT_EQ(zeroed(p, 64), "");  // one subgroup is all of them
}

TEST(FirstWrites, indices_that_wrap_or_are_negative) {
  expect_zeroed(
      source_of("shared t: u32[64]\n t[i32(l) - 1] = x[g]\n barrier workgroup\n y[g] = t[63 - l]"),
      "t ");
  expect_zeroed(
      source_of(
          "shared t: u32[64]\n t[u8(l + 250) % 64] = x[g]\n barrier workgroup\n y[g] = t[63 - l]"),
      "");
}

TEST(FirstWrites, several_elements_from_below_the_first) {
  expect_zeroed(
      "kernel k(n: u32, x: in u32[], y: out u32[300]) workgroup(64) grid(300) {\n var w: u32[9]\n"
      " %0 = global_id.x\n %1 = const -2 : i32\n %2, %3, %4, %5 = load_n w[%1] : u32\n"
      " %6 = add %4, %5 : u32\n store y[%0], %6\n}\n",
      "w ");
}

TEST(FirstWrites, private_arrays) {
  expect_zeroed(source_of("var w: u32[5]\n for k in 0..5 { w[k] = x[g + k] }\n y[g] = w[x[g] % 6]"),
                "");
  expect_zeroed(source_of("var w: u32[5]\n for k in 0..4 { w[k] = x[g + k] }\n y[g] = w[x[g] % 6]"),
                "w ");
  expect_zeroed(source_of("var w: u32[5]\n w[l % 5] = 3\n y[g] = w[x[g] % 6]"), "w ");
  expect_zeroed(
      source_of("var w: u32[2]\n if x[g] % 2 == 0 { w[0] = 3\n w[1] = 4 }\n y[g] = w[0] + w[1]"),
      "w ");
  expect_zeroed(source_of("var w: u32[2]\n w[0] = x[g]\n w[1] = n\n shared t: u32[64]\n t[l] = 1\n "
                          "barrier workgroup\n"
                          " y[g] = w[x[g] % 2] + t[63 - l]"),
                "");
}

/// Above a MiB they are zeroed in parts, with a poll of the stop flag after each.
TEST(FirstWrites, zeroes_large_private_arrays) {
  expect_zeroed(source_of("var t: u32[40001]\n var s: u32 = 0\n"
                          "for k in 0..40001 step 97 { s += t[k] }\n"
                          "for k in 0..40001 step 97 { t[k] = k + g }\n y[g] = s + t[97]"),
                "t ");
  expect_zeroed(source_of("var t: u8[160007]\n let s = u32(t[160006 - l]) + u32(t[x[g] % 160007])\n"
                          "t[160006 - l] = 3\n barrier workgroup\n"
                          "y[g] = s * 1000 + u32(t[160006 - l]) + u32(t[x[g] % 160007])"),
                "t ");
}

}  // namespace
}  // namespace vyre::driver
