// Barriers, shared memory, uniform loads, forward progress, schedules.

#include <numeric>

#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

using U = std::vector<uint32_t>;

TEST(Sync, shared_memory_starts_as_zeros_in_every_workgroup) {
  Kernel k(8);
  const uint32_t s = k.buffer(Role::Shared, Type::U32, 8), y = k.buffer(Role::Out, Type::U32, 64);
  k.grid(64);
  k.store(y, k.gid(), k.load(s, k.lid()));
  k.store(s, k.lid(), k.u32(5));
  const Program p = k.finish();
  for (const Options& o : all_schedules())
    EXPECT_EQ(from_bytes<uint32_t>(must_run(p, {}, o).buffers[y]), U(64, 0));
}

TEST(Sync, a_tree_of_barriers_sums_a_block) {
  Kernel k(256);
  const uint32_t x = k.buffer(Role::In, Type::U32), sums = k.buffer(Role::Out, Type::U32, 4);
  const uint32_t tile = k.buffer(Role::Shared, Type::U32, 256);
  k.grid(1000);
  k.store(tile, k.lid(), k.load(x, k.gid()));
  k.barrier(Scope::Workgroup);
  const VarId stride = k.declare(k.u32(128));
  k.begin_while();
  k.begin_body(k.lt(k.u32(0), k.get(stride)));
  k.begin_if(k.lt(k.lid(), k.get(stride)));
  k.store(tile, k.lid(), k.add(k.load(tile, k.lid()), k.load(tile, k.add(k.lid(), k.get(stride)))));
  k.end_if();
  k.barrier(Scope::Workgroup);
  k.set(stride, k.op(Opcode::Shr, Type::U32, {k.get(stride), k.u32(1)}));
  k.end_while();
  k.begin_if(k.eq(k.lid(), k.u32(0)));
  k.store(sums, k.id(Opcode::WorkgroupId), k.load(tile, k.u32(0)));
  k.end_if();
  const Program p = k.finish();
  U data(1000), expected(4, 0);
  std::iota(data.begin(), data.end(), 1u);
  for (uint32_t i = 0; i < 1000; ++i) expected[i / 256] += data[i];
  for (const Options& o : all_schedules())
    EXPECT_EQ(from_bytes<uint32_t>(must_run(p, Given().data(0, data).inputs, o).buffers[sums]),
              expected);
}

TEST(Sync, values_and_shared_memory_go_on_across_a_grid_barrier) {
  Kernel k(16);
  const uint32_t n = 160;
  const uint32_t t = k.buffer(Role::Scratch, Type::U32, n), y = k.buffer(Role::Out, Type::U32, n);
  const uint32_t s = k.buffer(Role::Shared, Type::U32, 16);
  k.grid(n);
  const ValueId g = k.gid(), kept = k.mul(g, k.u32(1000));
  k.store(t, g, k.add(g, k.u32(1)));
  k.store(s, k.lid(), g);
  const VarId sum = k.declare(k.u32(0));
  k.begin_for(k.u32(0), k.u32(3), k.u32(1));
  k.barrier(Scope::Grid);
  const ValueId mirrored = k.load(t, k.sub(k.u32(n - 1), g));
  k.barrier(Scope::Grid);
  k.store(t, g, k.add(mirrored, k.u32(1)));
  k.set(sum, k.add(k.get(sum), mirrored));
  k.end_for();
  k.store(y, g, k.add(k.add(kept, k.get(sum)), k.mul(k.load(s, k.lid()), k.u32(1000000))));
  const Program p = k.finish();
  U expected(n), cells(n);
  std::iota(cells.begin(), cells.end(), 1u);
  U total(n, 0);
  for (int round = 0; round < 3; ++round) {
    U next(n);
    for (uint32_t i = 0; i < n; ++i) {
      total[i] += cells[n - 1 - i];
      next[i] = cells[n - 1 - i] + 1;
    }
    cells = next;
  }
  for (uint32_t i = 0; i < n; ++i) expected[i] = i * 1000 + total[i] + i * 1000000;
  for (const Options& o : all_schedules())
    EXPECT_EQ(from_bytes<uint32_t>(must_run(p, {}, o).buffers[y]), expected);
}

TEST(Sync, grid_barriers_work_without_shared_memory) {  // several workgroups in a frame
  Kernel k(3);
  const uint32_t n = 3000;
  const uint32_t t = k.buffer(Role::Scratch, Type::U32, n), y = k.buffer(Role::Out, Type::U32, n);
  k.grid(n);
  k.store(t, k.gid(), k.add(k.gid(), k.u32(1)));
  k.barrier(Scope::Grid);
  k.store(y, k.gid(), k.load(t, k.sub(k.u32(n - 1), k.gid())));
  const Program p = k.finish();
  U expected(n);
  for (uint32_t i = 0; i < n; ++i) expected[i] = n - i;
  for (const Options& o : all_schedules())
    EXPECT_EQ(from_bytes<uint32_t>(must_run(p, {}, o).buffers[y]), expected);
}

TEST(Sync, a_loop_runs_until_a_device_flag_says_stop) {
  // In each iteration every workgroup adds 1; workgroup 0 clears the flag when the sum suffices.
  Kernel k(4);
  const uint32_t flag = k.buffer(Role::InOut, Type::U32), sum = k.buffer(Role::Out, Type::U32, 1),
                 rounds = k.buffer(Role::Out, Type::U32, 20);
  k.grid(20);
  const VarId r = k.declare(k.u32(0));
  k.begin_while();
  const ValueId go = k.uniform_load(flag, k.u32(0), Scope::Grid);
  k.begin_body(k.lt(k.u32(0), go));
  k.begin_if(k.eq(k.lid(), k.u32(0)));
  k.atomic(Opcode::AtomicAdd, sum, {k.u32(0), k.u32(1)});
  k.end_if();
  k.barrier(Scope::Grid);
  k.begin_if(k.eq(k.gid(), k.u32(0)));
  k.begin_if(k.lt(k.u32(22), k.atomic(Opcode::AtomicLoad, sum, {k.u32(0)})));
  k.store(flag, k.u32(0), k.u32(0));
  k.end_if();
  k.end_if();
  k.set(r, k.add(k.get(r), k.u32(1)));
  k.end_while();
  k.store(rounds, k.gid(), k.get(r));
  const Program p = k.finish();
  for (const Options& o : all_schedules()) {
    const auto out = must_run(p, Given().data(0, U{1}).inputs, o);
    EXPECT_EQ(from_bytes<uint32_t>(out.buffers[sum]), U{25});
    EXPECT_EQ(from_bytes<uint32_t>(out.buffers[rounds]), U(20, 5));
  }
}

TEST(Sync, uniform_load_of_a_workgroup) {
  Kernel k(8);
  const uint32_t s = k.buffer(Role::Shared, Type::U32, 4), y = k.buffer(Role::Out, Type::U32, 24);
  k.grid(24);
  k.begin_if(k.eq(k.lid(), k.u32(5)));
  k.store(s, k.u32(2), k.add(k.id(Opcode::WorkgroupId), k.u32(7)));
  k.end_if();
  k.store(y, k.gid(), k.uniform_load(s, k.u32(2), Scope::Workgroup));
  const auto got = from_bytes<uint32_t>(must_run(k.finish()).buffers[y]);
  for (uint32_t i = 0; i < 24; ++i) EXPECT_EQ(got[i], 7 + i / 8);
}

/// Workgroups in a chain by ticket: each waits for the one before it.
Program chain(uint32_t groups, bool by_ticket) {
  Kernel k(2);
  k.program.requires_forward_progress = true;
  const uint32_t state = k.buffer(Role::Scratch, Type::U32, groups + 2),
                 y = k.buffer(Role::Out, Type::U32, groups);
  const uint32_t s = k.buffer(Role::Shared, Type::U32, 1);
  k.grid(groups * 2);
  k.begin_if(k.eq(k.lid(), k.u32(0)));
  k.store(s, k.u32(0),
          by_ticket ? k.atomic(Opcode::AtomicAdd, state, {k.u32(groups), k.u32(1)})
                    : k.sub(k.u32(groups - 1), k.id(Opcode::WorkgroupId)));
  k.end_if();
  const ValueId ticket = k.uniform_load(s, k.u32(0), Scope::Workgroup);
  k.begin_if(k.eq(k.lid(), k.u32(0)));
  const VarId before = k.declare(k.u32(0));
  k.begin_if(k.lt(k.u32(0), ticket));
  k.begin_while();
  k.begin_body(k.yes());
  k.set(before, k.atomic(Opcode::AtomicLoad, state, {k.sub(ticket, k.u32(1))}));
  k.begin_if(k.lt(k.u32(0), k.get(before)));
  k.break_loop();
  k.end_if();
  k.end_while();
  k.end_if();
  const ValueId mine = k.add(k.get(before), k.add(ticket, k.u32(1)));
  k.atomic(Opcode::AtomicExchange, state, {ticket, mine});
  k.store(y, ticket, mine);
  k.end_if();
  return k.finish();
}

TEST(Sync, workgroups_that_spin_take_turns) {
  for (const bool by_ticket :
       {true, false}) {  // without tickets every workgroup waits for a later one
    const Program p = chain(50, by_ticket);
    U expected(50);
    for (uint32_t i = 0; i < 50; ++i) expected[i] = (i + 1) * (i + 2) / 2;
    for (Options o : all_schedules()) {
      o.time_limit = 20;
      EXPECT_EQ(from_bytes<uint32_t>(must_run(p, {}, o).buffers[1]), expected);
    }
  }
}

TEST(Schedules, decide_who_wins_a_race) {
  Kernel k(64);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 1), first = k.buffer(Role::Out, Type::U32, 1);
  const uint32_t arm = k.buffer(Role::Out, Type::U32, 1);
  k.grid(256);
  k.store(y, k.u32(0), k.gid());
  k.atomic(Opcode::AtomicCas, first, {k.u32(0), k.u32(0), k.add(k.gid(), k.u32(1))});
  k.begin_if(k.lt(k.lid(), k.u32(32)));
  k.store(arm, k.u32(0), k.u32(1));
  k.begin_else();
  k.store(arm, k.u32(0), k.u32(2));
  k.end_if();
  const Program p = k.finish();
  const auto list = all_schedules();
  std::vector<std::array<uint32_t, 3>> got;
  for (const Options& o : list) {
    const auto out = must_run(p, {}, o);
    got.push_back({from_bytes<uint32_t>(out.buffers[y])[0],
                   from_bytes<uint32_t>(out.buffers[first])[0],
                   from_bytes<uint32_t>(out.buffers[arm])[0]});
    const auto again = must_run(p, {}, o);
    EXPECT_EQ(out.buffers, again.buffers) << "a schedule is reproducible";
  }
  EXPECT_EQ(got[0], (std::array<uint32_t, 3>{255, 1, 2}));
  EXPECT_EQ(got[1], (std::array<uint32_t, 3>{0, 256, 1}));
  EXPECT_NE(got[2][0], got[0][0]);
  EXPECT_NE(got[2][0], got[3][0]);
}

}  // namespace
}  // namespace vyre::interp
