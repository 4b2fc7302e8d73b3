// Grid barriers, native where the device has them and split into launches: the same bytes as by the
// interpreter. Section D of the list of mechanisms.

#include "tests/runtime/gpu/gpu_util.h"

namespace vyre::driver {
namespace {

struct Case {
  const char* name;
  const char* source;
  std::vector<U> values;
};

const Case cases[] = {
    {"output_written_before_and_after",
     "kernel k(y: out u32[512]) workgroup(32) grid(256) {\n let i = global_id.x\n y[i] = i * 3\n "
     "barrier grid\n y[256 + i] = y[255 - i] + 1 }",
     {}},
    {"a_load_whose_memory_then_changes",
     "kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {\n let i = "
     "global_id.x\n let before = x[len(x) - 1 - i]\n barrier grid\n x[i] = 1000 + x[i]\n y[i] = "
     "before "
     "}",
     {counting(640, 5)}},
    {"an_atomic_that_is_counted_once",
     "kernel k(n: out u32[1], seen: out u32[640], y: out u32[640]) workgroup(32) grid(640) {\n let "
     "ticket = atomic_add(n[0], 1)\n barrier grid\n seen[ticket] = 1\n y[global_id.x] = n[0] }",
     {}},
    {"a_variable_of_a_loop_before",
     "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {\n let i = "
     "global_id.x\n var sum: u32 = 0\n for j in 0..i % 5 { sum += x[j] * (i + 1) }\n barrier "
     "grid\n y[i] = sum + i }",
     {counting(400, 9)}},
    {"shared_memory_across",
     "kernel k(x: inout u32[], sums: out u32[ceil_div(len(x), 64)]) workgroup(64) grid(len(x)) {\n "
     "shared tile: u32[64]\n let i = global_id.x\n let v = x[len(x) - 1 - i]\n tile[local_id.x] = "
     "v\n barrier grid\n x[i] = v\n if local_id.x == 0 { sums[workgroup_id.x] = tile[0] + tile[63] "
     "} }",
     {counting(640)}},
    {"leading_doubled_and_trailing",
     "kernel k(y: out u32[160]) workgroup(32) grid(160) {\n barrier grid\n barrier grid\n "
     "y[global_id.x] = 1\n barrier grid\n barrier grid\n y[global_id.x] += y[159 - global_id.x] * "
     "0 "
     "+ 2\n barrier grid }",
     {}},
    {"in_an_if_over_a_scalar",
     "kernel k(n: u32, x: inout u32[]) workgroup(32) grid(len(x)) {\n let i = global_id.x\n if n > "
     "3 {\n let v = x[(i + 1) % len(x)]\n barrier grid\n x[i] = v } else { x[i] = 7 } }",
     {{4}, counting(320)}},
    {"in_an_if_over_memory",
     "kernel k(f: in u32[], x: inout u32[]) workgroup(32) grid(len(x)) {\n let i = global_id.x\n "
     "if "
     "f[0] > 3 {\n let v = x[(i + 1) % len(x)]\n barrier grid\n x[i] = v } }",
     {{4}, counting(320)}},
    {"in_a_loop_of_hundreds",
     "kernel k(n: u32, x: inout u32[], t: scratch u32[len(x)]) workgroup(32) grid(len(x)) {\n let "
     "i "
     "= global_id.x\n for round in 0..n {\n t[i] = x[i] + x[(i + 1) % len(x)]\n barrier grid\n "
     "x[i] = "
     "t[i]\n barrier grid } }",
     {{300}, counting(320)}},
    {"in_a_loop_that_memory_ends",
     "kernel k(left: inout u32[1], x: inout u32[], t: scratch u32[len(x)]) workgroup(32) "
     "grid(len(x)) "
     "{\n let i = global_id.x\n while uniform_load(left[0], grid) != 0 {\n t[i] = x[i] + x[(i + 1) "
     "% "
     "len(x)]\n barrier grid\n x[i] = t[i]\n if i == 0 { left[0] -= 1 }\n barrier grid } }",
     {{120}, counting(320)}},
    {"sums_of_sums",
     "kernel k(x: in u32[], parts: scratch u32[64], total: out u32[1]) workgroup(64) grid(4096) "
     "{\n "
     "shared t: u32[1]\n atomic_add(t[0], x[global_id.x])\n barrier workgroup\n if local_id.x == 0 "
     "{ "
     "parts[workgroup_id.x] = t[0] }\n barrier grid\n if workgroup_id.x == 0 { "
     "atomic_add(total[0], "
     "parts[local_id.x]) } }",
     {noise(4096, 1)}},
};

class grid_barrier_on_device : public OnDevice {
 protected:
  void run_all(Device& d) {
    for (const Case& c : cases) {
      SCOPED_TRACE(c.name);
      const Program p = kernel(c.source);
      std::vector<std::vector<std::byte>> values;
      for (const U& v : c.values) values.push_back(bytes(v));
      same(d, p, inputs_of(p, values));
    }
  }
};

TEST_F(grid_barrier_on_device, as_the_device_has_it) { run_all(device()); }
TEST_F(grid_barrier_on_device, split) { run_all(split_device()); }

const char* reverse = R"(
kernel k(y: inout u32[]) workgroup(256) grid(len(y)) {
  let i = global_id.x
  let v = y[len(y) - 1 - i]
  barrier grid
  y[i] = v + 1
}
)";

U reversed(const U& x) {
  U y(x.rbegin(), x.rend());
  for (uint32_t& v : y) v += 1;
  return y;
}

/// A grid that the device holds at once is one launch where it has the barrier; a larger one is
/// split without being told.
TEST_F(grid_barrier_on_device, grids_larger_than_the_device_holds) {
  const Executable code = compile(reverse);
  const size_t large = is_gpu() ? size_t{1} << 24 : size_t{1} << 17;
  for (const size_t n : {size_t{1}, size_t{256}, size_t{20'000}, large}) {
    SCOPED_TRACE(n);
    const U x = noise(n, 2);
    const Buffer y = buffer(x);
    const SubmitReport r = launch(code, {y});
    EXPECT_TRUE(read(y) == reversed(x));
    if (!is_gpu()) continue;
    if (n == large) {
      EXPECT_GE(r.launches, 2u) << "65,536 workgroups of 256 run at once?";
    }
    if (limits().native_grid_barrier && n <= 20'000) {
      EXPECT_EQ(r.launches, 1u) << "79 workgroups fit";
    }
  }
}

/// Each fills half of the device and more: side by side they must not wait for one another forever.
TEST_F(grid_barrier_on_device, two_launches_at_once) {
  const Executable code = compile(R"(
kernel k(n: u32, y: inout u32[], t: scratch u32[len(y)]) workgroup(256) grid(len(y)) {
  let i = global_id.x
  for round in 0..n {
    t[i] = y[(i + 4096) % len(y)] + 1
    barrier grid
    y[i] = t[i]
    barrier grid
  }
}
)");
  const size_t n = is_gpu() ? 132 * 256 * 4 : 1 << 14;
  const uint32_t rounds = is_gpu() ? 50 : 3;
  std::vector<Buffer> ys;
  for (uint32_t s = 0; s < 4; ++s) ys.push_back(buffer(U(n, s)));
  std::vector<Ticket> tickets;
  for (uint32_t turn = 0; turn < 3; ++turn)
    for (uint32_t s = 0; s < 4; ++s) {
      SubmitOptions o;
      o.stream = s;
      o.time_limit = 60;
      std::vector<Command> commands;
      commands.push_back(Launch{code, {scalar(rounds), ys[s]}});
      const Result<Ticket> t = device().submit(std::move(commands), o);
      ASSERT_TRUE(t) << text_of(t.errors());
      tickets.push_back(*t);
    }
  for (const Ticket& t : tickets) {
    const auto r = t.wait();
    ASSERT_TRUE(r) << text_of(r.errors());
  }
  for (uint32_t s = 0; s < 4; ++s) EXPECT_EQ(read(ys[s]), U(n, s + 3 * rounds));
}

TEST_F(grid_barrier_on_device, the_same_kernel_again_and_again) {
  const Executable code = compile(reverse);
  U x = noise(5000, 4);
  const Buffer y = buffer(x);
  std::vector<Command> commands;
  for (int i = 0; i < 30; ++i) {
    commands.push_back(Launch{code, {y}});
    x = reversed(x);
  }
  submit(std::move(commands));
  EXPECT_EQ(read(y), x);
}

TEST_F(grid_barrier_on_device, a_trap_before_a_barrier) {
  const Program p = kernel(
      "kernel k(y: out u32[640]) workgroup(32) grid(640) {\n"
      "  let i = global_id.x\n"
      "  y[i] = i\n"
      "  if i == 77 { trap 5 }\n"
      "  barrier grid\n"
      "  y[i] += y[639 - i]\n"
      "}");
  same(device(), p, inputs_of(p, {}));
  same(split_device(), p, inputs_of(p, {}));
  still_works();
}

}  // namespace
}  // namespace vyre::driver
