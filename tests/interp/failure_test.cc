// Traps and limits: the reported errors, without hangs or crashes.

#include <chrono>
#include <cmath>

#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

using U = std::vector<uint32_t>;

LocId line(Kernel& k, uint32_t n, LocId inlined_at = none) {
  return k.loc = k.program.add_location({k.program.add_string("t.vyre"), n, 3, 1, inlined_at});
}

bool mentions(const Diagnostic& d, std::string_view text) {
  return d.message.find(text) != std::string::npos;
}

TEST(Trap, reports_the_lowest_invocation_whatever_the_schedule) {
  Kernel k(16);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 1000);
  k.grid(1000);
  line(k, 4);
  k.begin_if(k.eq(k.rem(k.gid(), k.u32(100)), k.u32(37)));
  line(k, 5);
  k.trap(k.gid());
  line(k, 6);
  k.end_if();
  k.begin_if(k.eq(k.gid(), k.u32(60)));  // a later trap of a higher invocation
  k.trap(k.u32(9));
  k.end_if();
  k.store(y, k.gid(), k.u32(1));
  const Program p = k.finish();
  for (const Options& o : all_schedules()) {
    const Diagnostics errors = must_fail(p, {}, o);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].code, Code::Trapped);
    EXPECT_EQ(classify(errors[0].code), Failure::ProgramFailed);
    EXPECT_TRUE(mentions(errors[0], "code 37") && mentions(errors[0], "(37, 0, 0)"))
        << errors[0].message;
    EXPECT_EQ(errors[0].place.line, 5u);
    EXPECT_EQ(errors[0].place.file, "t.vyre");
  }
}

TEST(Trap, lowest_is_by_z_then_y_then_x) {
  Kernel k(4, 4, 4);
  k.grid(8, 8, 8);
  const ValueId sum = k.add(k.gid(0), k.add(k.gid(1), k.gid(2)));
  const ValueId low_z =
      k.op(Opcode::And, Type::Bool, {k.eq(k.gid(2), k.u32(1)), k.eq(sum, k.u32(9))});
  const ValueId high_z =
      k.op(Opcode::And, Type::Bool, {k.eq(k.gid(2), k.u32(2)), k.eq(k.gid(1), k.u32(0))});
  k.begin_if(k.op(Opcode::Or, Type::Bool, {low_z, high_z}));
  k.trap(k.u32(1));
  k.end_if();
  const Program p = k.finish();
  for (const Options& o : all_schedules()) {
    const Diagnostics errors = must_fail(p, {}, o);
    EXPECT_TRUE(mentions(errors.at(0), "(7, 1, 1)"))
        << errors[0].message;  // y is lowest where x is highest
  }
}

TEST(Trap, assert_names_its_code_and_the_chain_of_calls) {
  Kernel k(8);
  const uint32_t x = k.buffer(Role::In, Type::U32);
  k.grid(8);
  const LocId call = line(k, 20);
  line(k, 3, call);
  k.effect(Opcode::Assert, Type::Void,
           {k.lt(k.load(x, k.gid()), k.u32(10)), k.add(k.gid(), k.u32(40))});
  const Program p = k.finish();
  must_run(p, Given().data(0, U{1, 2, 3, 4, 5, 6, 7, 8}).inputs);
  const Diagnostics errors = must_fail(p, Given().data(0, U{1, 2, 3, 40, 5, 60, 7, 8}).inputs);
  EXPECT_TRUE(mentions(errors.at(0), "code 43") && mentions(errors[0], "(3, 0, 0)"))
      << errors[0].message;
  EXPECT_EQ(errors[0].place.line, 3u);
  ASSERT_FALSE(errors[0].notes.empty());
  EXPECT_EQ(errors[0].notes[0].place.line, 20u);
}

TEST(Trap, keeps_nobody_waiting_and_leaves_its_loops) {
  Kernel k(8);
  const uint32_t s = k.buffer(Role::Shared, Type::U32, 8);
  k.grid(32);
  const VarId i = k.declare(k.u32(0));
  k.begin_while();
  k.begin_body(k.lt(k.get(i), k.u32(5)));
  k.begin_if(k.eq(k.lid(), k.u32(3)));
  k.trap(k.u32(77));
  k.end_if();
  k.store(s, k.lid(), k.u32(1));
  k.barrier(Scope::Workgroup);
  k.set(i, k.add(k.get(i), k.u32(1)));
  k.end_while();
  const Program p = k.finish();
  Options o;
  o.time_limit = 10;
  EXPECT_TRUE(mentions(must_fail(p, {}, o).at(0), "(3, 0, 0)"));
}

TEST(Trap, an_endless_loop_that_holds_a_trap_is_left) {
  Kernel k(8);
  k.grid(8);
  k.begin_while();
  k.begin_body(k.yes());
  k.begin_if(k.lt(k.gid(), k.u32(4)));
  k.trap(k.gid());
  k.begin_else();
  k.break_loop();
  k.end_if();
  k.end_while();
  const Program p = k.finish();
  Options o;
  o.time_limit = 10;
  EXPECT_EQ(must_fail(p, {}, o).at(0).code, Code::Trapped);
}

TEST(Trap, the_first_segment_wins_over_a_lower_invocation_of_a_later_one) {
  Kernel k(4);
  k.grid(64);
  k.begin_if(k.eq(k.gid(), k.u32(50)));
  k.trap(k.u32(1));
  k.end_if();
  k.barrier(Scope::Grid);
  k.begin_if(k.eq(k.gid(), k.u32(2)));
  k.trap(k.u32(2));
  k.end_if();
  const Program p = k.finish();
  for (const Options& o : all_schedules()) {
    const Diagnostics errors = must_fail(p, {}, o);
    EXPECT_TRUE(mentions(errors.at(0), "code 1 ") && mentions(errors[0], "(50, 0, 0)"))
        << errors[0].message;
  }
}

TEST(TimeLimit, ends_an_endless_loop_and_names_it) {
  for (const bool progress : {false, true}) {
    Kernel k(8);
    k.program.requires_forward_progress = progress;
    k.grid(8);
    const VarId v = k.declare(k.gid());
    line(k, 12);
    k.begin_while();
    k.begin_body(k.yes());
    k.set(v, k.add(k.get(v), k.u32(1)));
    k.end_while();
    const Program p = k.finish();
    Options o;
    o.time_limit = 0.1;
    const auto start = std::chrono::steady_clock::now();
    const Diagnostics errors = must_fail(p, {}, o);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    EXPECT_EQ(errors.at(0).code, Code::TimeLimitExceeded);
    EXPECT_EQ(classify(errors), Failure::ProgramFailed);
    EXPECT_TRUE(mentions(errors[0], "`k`") && mentions(errors[0], "line 12")) << errors[0].message;
  }
}

TEST(TimeLimit, ends_a_launch_of_too_many_workgroups) {
  Kernel k(1);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 1);
  k.grid(0xffffffff, 0xffffffff, 0xffffffff);
  k.store(y, k.gid(), k.u32(1));
  const Program p = k.finish();
  for (Options o : all_schedules()) {
    o.time_limit = 0.05;
    EXPECT_EQ(must_fail(p, {}, o).at(0).code, Code::TimeLimitExceeded);
  }
}

TEST(TimeLimit, other_waiting_runs_into_it) {
  Kernel k(1);
  const uint32_t x = k.buffer(Role::InOut, Type::U32);
  k.grid(2);
  k.begin_if(k.eq(k.gid(), k.u32(0)));
  k.begin_while();
  k.begin_body(k.eq(k.atomic(Opcode::AtomicLoad, x, {k.u32(0)}), k.u32(0)));
  k.end_while();
  k.begin_else();
  k.barrier(Scope::Subgroup);
  k.end_if();
  k.store(x, k.u32(0), k.u32(1));
  Options o;
  o.time_limit = 0.05;
  EXPECT_EQ(must_fail(k.finish(), Given().data(0, U{0}).inputs, o).at(0).code,
            Code::TimeLimitExceeded);
}

TEST(LaneOpLimit, ends_a_run_at_the_same_place_each_time) {
  Kernel k(4);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 4);
  k.grid(4);
  k.begin_while();
  k.begin_body(k.op(Opcode::Eq, Type::U32, {k.u32(1), k.u32(1)}));
  k.store(y, k.gid(), k.u32(1));
  k.end_while();
  const Program p = k.finish();
  Options o;
  o.lane_op_limit = 100'000;
  EXPECT_EQ(must_fail(p, {}, o)[0].code, Code::TimeLimitExceeded);
  // A run that ends below the limit is unaffected.
  Kernel few(4);
  const uint32_t z = few.buffer(Role::Out, Type::U32, 4);
  few.grid(4);
  few.store(z, few.gid(), few.u32(1));
  EXPECT_TRUE(run(few.finish(), {}, o));
}

TEST(MemoryLimit, covers_buffers_and_frames_before_they_are_there) {
  Kernel k(64);
  const uint32_t y = k.buffer(Role::Out, Type::U64);
  k.grid(64);
  k.store(y, k.gid(), k.constant(Type::U64, 1));
  const Program p = k.finish();
  Options o;
  o.memory_limit = 100000;
  must_run(p, Given().length(0, 100).inputs, o);
  const Diagnostics errors = must_fail(p, Given().length(0, 1000000).inputs, o);
  EXPECT_EQ(errors.at(0).code, Code::MemoryLimitExceeded);
  EXPECT_EQ(classify(errors), Failure::ProgramFailed);
  EXPECT_TRUE(mentions(errors[0], "8000000") && mentions(errors[0], "100000")) << errors[0].message;
  o.memory_limit = 900;
  EXPECT_TRUE(mentions(must_fail(p, Given().length(0, 100).inputs, o).at(0), "workgroup"));
  // Without a limit, the machine's memory is one.
  EXPECT_EQ(must_fail(p, Given().length(0, 1ull << 44).inputs).at(0).code, Code::OutOfMemory);
}

TEST(MemoryLimit, counts_every_workgroup_that_waits_at_a_grid_barrier) {
  Kernel k(256);
  const uint32_t w = k.buffer(Role::Private, Type::U32, 1000);
  k.grid(256 * 100);
  k.store(w, k.u32(1), k.u32(1));
  k.barrier(Scope::Grid);
  k.store(w, k.u32(2), k.u32(1));
  const Program p = k.finish();
  Options o;
  o.memory_limit = 10 << 20;
  const Diagnostics errors = must_fail(p, {}, o);
  EXPECT_EQ(errors.at(0).code, Code::MemoryLimitExceeded);
  EXPECT_TRUE(mentions(errors[0], "100 workgroups")) << errors[0].message;
  o.memory_limit = 200 << 20;
  must_run(p, {}, o);
}

TEST(MemoryLimit, a_grid_barrier_over_2_to_the_96_workgroups_is_an_error) {
  Kernel k(1);
  k.grid(0xffffffff, 0xffffffff, 0xffffffff);
  k.barrier(Scope::Grid);
  EXPECT_EQ(must_fail(k.finish()).at(0).code, Code::OutOfMemory);
}

TEST(OutputLimit, covers_what_the_host_gets_back) {
  Kernel k(1);
  k.buffer(Role::Out, Type::U32, 10);
  k.buffer(Role::InOut, Type::U32);
  k.buffer(Role::Scratch, Type::U32, 1000);
  k.grid(1);
  const Program p = k.finish();
  Options o;
  o.output_limit = 80;
  must_run(p, Given().data(1, U(10)).inputs, o);
  o.output_limit = 79;
  const Diagnostics errors = must_fail(p, Given().data(1, U(10)).inputs, o);
  EXPECT_EQ(errors.at(0).code, Code::OutputLimitExceeded);
  EXPECT_TRUE(mentions(errors[0], "80") && mentions(errors[0], "79"));
}

TEST(Progress, rises_to_one) {
  Kernel k(64);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 1);
  k.grid(64 * 20000);
  const VarId v = k.declare(k.u32(0));
  const uint32_t s = k.buffer(Role::Shared, Type::U32, 1);  // one workgroup a frame
  k.begin_for(k.u32(0), k.u32(100), k.u32(1));
  k.set(v, k.add(k.get(v), k.u32(1)));
  k.end_for();
  k.store(s, k.u32(0), k.get(v));
  k.store(y, k.u32(0), k.get(v));
  std::vector<double> seen;
  Options o;
  o.progress = [&](double f) { seen.push_back(f); };
  must_run(k.finish(), {}, o);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), 1.0);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(TimeLimit, below_0_or_not_a_number_is_an_error) {
  Kernel k(1);
  k.grid(1);
  const Program p = k.finish();
  Module m;
  Graph g;
  g.name = "g";
  for (const double limit : {-1.0, -HUGE_VAL, std::nan("")}) {
    Options o;
    o.time_limit = limit;
    EXPECT_EQ(must_fail(p, {}, o).at(0).code, Code::BadOptionValue) << limit;
    EXPECT_EQ(run(m, g, GraphInputs{}, o).errors().at(0).code, Code::BadOptionValue) << limit;
  }
}

}  // namespace
}  // namespace vyre::interp
