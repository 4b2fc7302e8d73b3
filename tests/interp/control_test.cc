// Masks: nested if, for, while, break, continue and return, compared with the same control flow in
// C++.

#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

using U = std::vector<uint32_t>;

/// Runs `p` (buffer 0: out u32[n]) under every schedule and compares with f(i).
template <class Fn>
void expect_each(const Program& p, uint32_t n, Fn f, const LaunchInputs& in = {}) {
  for (const Options& options : all_schedules()) {
    const U got = from_bytes<uint32_t>(must_run(p, in, options).buffers[0]);
    ASSERT_EQ(got.size(), n);
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(got[i], f(i)) << "invocation " << i;
  }
}

TEST(Control, if_gives_each_lane_the_value_of_its_arm) {
  Kernel k(64);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 100);
  k.grid(100);
  const VarId v = k.declare(k.u32(7));
  k.begin_if(k.lt(k.rem(k.gid(), k.u32(3)), k.u32(1)));
  k.set(v, k.mul(k.gid(), k.u32(10)));
  k.begin_else();
  k.begin_if(k.eq(k.rem(k.gid(), k.u32(3)), k.u32(2)));
  k.set(v, k.add(k.get(v), k.gid()));
  k.end_if();
  k.end_if();
  k.store(y, k.gid(), k.get(v));
  expect_each(k.finish(), 100, [](uint32_t i) {
    return i % 3 == 0 ? i * 10 : i % 3 == 2 ? 7 + i : 7;
  });
}

TEST(Control, for_runs_a_different_number_of_times_in_each_lane) {
  Kernel k(64);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 200);
  k.grid(200);
  const VarId sum = k.declare(k.u32(0));
  const ValueId i = k.begin_for(k.u32(0), k.rem(k.gid(), k.u32(17)), k.u32(1));
  k.set(sum, k.add(k.get(sum), k.add(i, k.u32(1))));
  k.end_for();
  k.store(y, k.gid(), k.get(sum));
  expect_each(k.finish(), 200, [](uint32_t g) {
    const uint32_t n = g % 17;
    return n * (n + 1) / 2;
  });
}

TEST(Control, for_never_wraps) {
  struct Case {
    Type t;
    uint64_t lo, hi, step;
    uint32_t times;
  };
  const Case cases[] = {{Type::U8, 250, 255, 4, 2},
                        {Type::U8, 0, 255, 100, 3},
                        {Type::U8, 5, 5, 1, 0},
                        {Type::U8, 6, 5, 1, 0},
                        {Type::U8, 0, 5, 0, 0},
                        {Type::I8, 0x80, 0x7f, 0x7f, 3},
                        {Type::I8, 0x80, 0x7f, 1, 255},
                        {Type::I8, 0, 10, 0xff, 0},
                        {Type::I16, 0x8000, 0x7fff, 0x7fff, 3},
                        {Type::U32, 0xfffffff0, 0xffffffff, 8, 2},
                        {Type::I32, 0x80000000, 0x7fffffff, 0x40000000, 4},
                        {Type::U64, ~0ull - 10, ~0ull, 3, 4},
                        {Type::I64, 1ull << 63, ~0ull >> 1, 1ull << 62, 4},
                        {Type::I64, 0, ~0ull >> 1, ~0ull >> 1, 1}};
  for (const Case& c : cases) {
    Kernel k(1);
    const uint32_t y = k.buffer(Role::Out, Type::U32, 1);
    k.grid(1);
    const VarId n = k.declare(k.u32(0));
    k.begin_for(k.constant(c.t, c.lo), k.constant(c.t, c.hi), k.constant(c.t, c.step));
    k.set(n, k.add(k.get(n), k.u32(1)));
    k.end_for();
    k.store(y, k.u32(0), k.get(n));
    EXPECT_EQ(from_bytes<uint32_t>(must_run(k.finish()).buffers[0])[0], c.times)
        << name(c.t) << ' ' << c.lo << ".." << c.hi << " step " << c.step;
  }
}

TEST(Control, while_break_continue_and_return_nest) {
  // for a: while b < 20 { b += 1; if b % 4 == a { continue }; if b > gid % 23 { break };
  //   if gid % 31 == 30 && b == 5 { store; return }; acc = acc * 3 + b }; if acc % 7 == 6 { break }
  Kernel k(32);
  const uint32_t n = 160;
  const uint32_t y = k.buffer(Role::Out, Type::U32, n);
  k.grid(n);
  const ValueId g = k.gid();
  const VarId acc = k.declare(g);
  const ValueId a = k.begin_for(k.u32(0), k.add(k.rem(g, k.u32(3)), k.u32(1)), k.u32(1));
  const VarId b = k.declare(k.u32(0));
  k.begin_while();
  k.begin_body(k.lt(k.get(b), k.u32(20)));
  k.set(b, k.add(k.get(b), k.u32(1)));
  k.begin_if(k.eq(k.rem(k.get(b), k.u32(4)), a));
  k.continue_loop();
  k.end_if();
  k.begin_if(k.lt(k.rem(g, k.u32(23)), k.get(b)));
  k.break_loop();
  k.end_if();
  k.begin_if(k.eq(k.rem(g, k.u32(31)), k.u32(30)));
  k.begin_if(k.eq(k.get(b), k.u32(5)));
  k.store(y, g, k.add(k.get(acc), k.u32(1000)));
  k.return_();
  k.end_if();
  k.end_if();
  k.set(acc, k.add(k.mul(k.get(acc), k.u32(3)), k.get(b)));
  k.end_while();
  k.begin_if(k.eq(k.rem(k.get(acc), k.u32(7)), k.u32(6)));
  k.break_loop();
  k.end_if();
  k.end_for();
  k.store(y, g, k.get(acc));

  expect_each(k.finish(), n, [](uint32_t g) -> uint32_t {
    uint32_t acc = g;
    for (uint32_t a = 0; a < g % 3 + 1; ++a) {
      uint32_t b = 0;
      while (b < 20) {
        b += 1;
        if (b % 4 == a) continue;
        if (g % 23 < b) break;
        if (g % 31 == 30 && b == 5) return acc + 1000;
        acc = acc * 3 + b;
      }
      if (acc % 7 == 6) break;
    }
    return acc;
  });
}

TEST(Control, loops_swap_carried_values_at_once) {
  Kernel k(8);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 8);
  k.grid(8);
  const VarId a = k.declare(k.u32(0)), b = k.declare(k.u32(1)), c = k.declare(k.u32(2));
  k.begin_for(k.u32(0), k.gid(), k.u32(1));
  const ValueId old_a = k.get(a), old_b = k.get(b), old_c = k.get(c);
  k.set(a, old_b);
  k.set(b, old_c);
  k.set(c, old_a);
  k.end_for();
  k.store(y, k.gid(),
          k.add(k.mul(k.get(a), k.u32(100)), k.add(k.mul(k.get(b), k.u32(10)), k.get(c))));
  expect_each(k.finish(), 8, [](uint32_t i) {
    return i % 3 == 0 ? 12u : i % 3 == 1 ? 120u : 201u;
  });
}

TEST(Control, values_of_the_test_are_seen_in_the_body) {
  Kernel k(16);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 16);
  k.grid(16);
  const VarId v = k.declare(k.gid()), sum = k.declare(k.u32(0));
  k.begin_while();
  const ValueId doubled = k.mul(k.get(v), k.u32(2));
  k.begin_body(k.lt(k.u32(5), doubled));
  k.set(sum, k.add(k.get(sum), doubled));
  k.set(v, k.sub(k.get(v), k.u32(1)));
  k.end_while();
  k.store(y, k.gid(), k.get(sum));
  expect_each(k.finish(), 16, [](uint32_t i) {
    uint32_t sum = 0;
    for (uint32_t v = i; v * 2 > 5; --v) sum += v * 2;
    return sum;
  });
}

TEST(Control, a_value_from_outside_survives_both_arms_in_either_order) {
  Kernel k(32);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 32);
  k.grid(32);
  const ValueId g = k.gid();
  const ValueId only_then = k.mul(g, k.u32(3)), only_else = k.mul(g, k.u32(5));
  const VarId v = k.declare(k.u32(0));
  k.begin_if(k.lt(g, k.u32(11)));
  ValueId x = only_then;
  for (int i = 0; i < 20; ++i) x = k.add(x, k.u32(1));
  k.set(v, x);
  k.begin_else();
  x = only_else;
  for (int i = 0; i < 20; ++i) x = k.add(x, k.u32(2));
  k.set(v, x);
  k.end_if();
  k.store(y, g, k.get(v));
  expect_each(k.finish(), 32, [](uint32_t i) { return i < 11 ? i * 3 + 20 : i * 5 + 40; });
}

TEST(Control, regions_change_nothing) {
  Kernel k(4);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 4);
  k.grid(4);
  const VarId v = k.declare(k.gid());
  k.begin_region("outer");
  k.begin_for(k.u32(0), k.u32(3), k.u32(1));
  k.begin_region("inner");
  k.begin_if(k.eq(k.get(v), k.u32(5)));
  k.break_loop();
  k.end_if();
  k.set(v, k.add(k.get(v), k.u32(1)));
  k.end_region();
  k.end_for();
  k.end_region();
  k.store(y, k.gid(), k.get(v));
  expect_each(k.finish(), 4, [](uint32_t i) { return i == 3 ? 5u : i + 3; });
}

TEST(Control, deep_nesting_and_many_ops_need_no_stack) {
  Kernel k(4);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 4);
  k.grid(4);
  const VarId v = k.declare(k.gid());
  for (int i = 0; i < 900; ++i) k.begin_if(k.lt(k.get(v), k.u32(10000)));
  for (int i = 0; i < 100000; ++i) k.set(v, k.add(k.get(v), k.u32(static_cast<uint32_t>(i))));
  for (int i = 0; i < 900; ++i) k.end_if();
  k.store(y, k.gid(), k.get(v));
  const Program p = k.finish();
  Options small;
  small.memory_limit = 8 << 20;  // slots are used again
  const auto got = from_bytes<uint32_t>(must_run(p, {}, small).buffers[0]);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(got[i], i + 99999u * 50000u);
}

TEST(Control, lanes_past_the_end_run) {
  Kernel k(48);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 1);
  k.grid(100);
  k.atomic(Opcode::AtomicAdd, y, {k.u32(0), k.u32(1)});
  expect_each(k.finish(), 1, [](uint32_t) { return 144u; });
}

TEST(Control, an_empty_grid_gives_zeros) {
  Kernel k(48);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 3);
  k.grid(100, 0, 2);
  k.store(y, k.u32(0), k.u32(9));
  expect_each(k.finish(), 3, [](uint32_t) { return 0u; });
}

TEST(Control, ids_have_x_fastest) {
  Kernel k(4, 3, 2);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 8 * 6 * 4);
  k.grid(5, 4, 3);
  const auto gx = k.gid(0), gy = k.gid(1), gz = k.gid(2);
  const ValueId at = k.add(gx, k.mul(k.u32(8), k.add(gy, k.mul(k.u32(6), gz))));
  const auto mix = [&](ValueId a, ValueId b, ValueId c) {
    return k.add(a, k.add(k.mul(b, k.u32(10)), k.mul(c, k.u32(100))));
  };
  const ValueId local = mix(k.lid(0), k.lid(1), k.lid(2));
  const ValueId group =
      mix(k.id(Opcode::WorkgroupId, 0), k.id(Opcode::WorkgroupId, 1), k.id(Opcode::WorkgroupId, 2));
  const ValueId counts = mix(k.id(Opcode::NumWorkgroups, 0), k.id(Opcode::NumWorkgroups, 1),
                             k.id(Opcode::NumWorkgroups, 2));
  k.store(y, at, k.add(k.add(local, k.mul(group, k.u32(1000))), k.mul(counts, k.u32(1000000))));
  expect_each(k.finish(), 8 * 6 * 4, [](uint32_t i) {
    const uint32_t x = i % 8, y = i / 8 % 6, z = i / 48;
    return x % 4 + y % 3 * 10 + z % 2 * 100 + (x / 4 + y / 3 * 10 + z / 2 * 100) * 1000 +
           222u * 1000000;
  });
}

TEST(Control, more_than_65535_workgroups) {
  Kernel k(1);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 70000);
  k.grid(70000);
  k.store(y, k.gid(), k.add(k.id(Opcode::WorkgroupId), k.u32(1)));
  expect_each(k.finish(), 70000, [](uint32_t i) { return i + 1; });
}

}  // namespace
}  // namespace vyre::interp
