// Accesses that the optimizer marks as in bounds: inactive, trapped and returned lanes have indices
// far outside, and must not read or write there. Such an access crashes the test program.

#include <fmt/format.h>

#include "opt/pipeline.h"
#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"
#include "text/print.h"

namespace vyre::driver {
namespace {

constexpr uint32_t far = 2'000'000'000;

LaunchInputs inputs_of(const Program& p, uint32_t n) {
  LaunchInputs in;
  in.data.resize(p.buffers.size());
  in.lengths.resize(p.buffers.size());
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const std::string& name = p.buffers[i].name;
    std::vector<uint32_t> values(name == "n" ? 1 : name == "a" ? 100 : 200);
    for (uint32_t k = 0; k < values.size(); ++k)
      values[k] = name == "n" ? n : name == "a" ? k * 7 : k % 3 == 0 ? far + k : k % 120;
    if (is_host_input(p.buffers[i].role))
      in.data[i] = bytes(values);
    else if (p.buffers[i].role == Role::Out)
      in.lengths[i] = 200;
  }
  return in;
}

template <class Outcome>
std::string told(const Result<Outcome>& outcome) {
  if (!outcome) return outcome.errors()[0].message;
  std::string all;
  for (const auto& b : outcome->buffers)
    all.append(reinterpret_cast<const char*>(b.data()), b.size());
  return all;
}

/// Runs the kernel unmarked on the interpreter and with marks on the CPU.
void expect_same(const std::string& body, size_t marked) {
  const Program given = kernel(
      "kernel k(a: in u32[], n: u32, b: in u32[], c: inout u32[], o: out u32[])"
      " workgroup(48) grid(200) {\nlet g = global_id.x\nlet m = n\n" +
      body + "\n}\n");
  Program p = given;
  opt::OptimizeOptions options;
  options.passes = {opt::find_pass("number_values"), opt::find_pass("eliminate_bounds_checks")};
  ASSERT_TRUE(opt::optimize(p, options));
  size_t marks = 0;
  walk(p, [&](OpId op) {
    marks += info(p.op(op).code).attribute == AttrKind::Memory && p.memory(op).in_bounds;
  });
  EXPECT_EQ(marks, marked) << print(p);
  OpenOptions open;
  open.use_cache = false;
  Result<Device> cpu = Device::open(*cpu_backend(), 0, open);
  ASSERT_TRUE(cpu);
  for (const uint32_t n : {0u, 5u, 99u, 100u, far, 0xffffffffu})
    for (const uint32_t lanes : {1u, 4u, 16u, 32u, 64u}) {
      RunOptions run_options;
      run_options.compile.subgroup_size = lanes;
      EXPECT_EQ(told(interp::run(given, inputs_of(given, n), {})),
                told(run(*cpu, p, inputs_of(p, n), run_options)))
          << "n " << n << ", " << lanes << " lanes\n"
          << print(p);
    }
}

TEST(InBounds, after_an_assert_that_stopped_all_lanes) {
  expect_same("assert(m < len(a), 3)\n o[g] = a[m]", 1);
  expect_same("assert(g < 190 && m < len(c), 3)\n if g == 7 { c[m] = 4 }", 1);
}

TEST(InBounds, after_an_assert_that_stopped_some) {
  expect_same("let i = b[g]\n assert(i < len(a), 3)\n o[g] = a[i]", 1);
}

TEST(InBounds, after_a_return) {
  expect_same("if m >= len(a) { return }\n o[g] = a[m]", 1);
  expect_same("let i = b[g]\n if i >= len(a) { return }\n o[g] = a[i] + a[i / 2]", 2);
  expect_same("let i = b[g]\n if i >= len(c) { return }\n if i == g { c[i] = g }", 1);
}

TEST(InBounds, under_a_condition_that_lanes_disagree_about) {
  expect_same(
      "let i = b[g]\n var s = 0\n if i < len(a) { s = a[i]\n var t = 0\n while t < 5 { t += 1\n s "
      "= s * 3 + a[i / 2] }\n }\n o[g] = s",
      2);
  expect_same("let i = b[g]\n if i < len(c) { if g == i { c[i] = 3 } }", 1);
  expect_same("let i = b[g]\n if i < len(c) { atomic_add(c[i], 3) }", 1);
  expect_same("var s = 0\n if g % 2 == 0 { if m < len(a) { s = a[m] } }\n o[g] = s", 1);
}

TEST(InBounds, behind_a_barrier_that_trapped_lanes_do_not_reach) {
  expect_same(
      "shared t: u32[48]\n let l = local_id.x\n t[l] = g\n assert(m < len(a), 3)\n barrier "
      "workgroup\n o[g] = t[47 - l] + a[m]",
      3);
}

TEST(InBounds, in_the_copy_of_a_loop) {
  expect_same("var s = 0\n for i in 0..min(m, 300) { s = s * 3 + a[i] }\n o[g] = s", 1);
  expect_same("var s = 0\n for i in 0..100 { s = s * 3 + a[i + m] }\n o[g] = s", 1);
}

// Lanes 0, 1, … have 250, 251, …, 255, 0, 1, …: all inside, and no run of neighbours.
TEST(InBounds, where_the_index_wraps_from_lane_to_lane) {
  expect_same(
      "shared t: u32[256]\n t[local_id.x] = g\n barrier workgroup\n o[g] = t[u8(local_id.x + 250)]",
      1);
}

}  // namespace
}  // namespace vyre::driver
