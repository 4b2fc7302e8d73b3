// Barriers, subgroup operations and uniform loads at illegal positions, and their error messages.
#include <gtest/gtest.h>

#include "tests/check/check_kernel_util.h"

namespace vyre::test {
namespace {

bool mentions(const Diagnostic& d, std::string_view words) {
  for (const Note& n : d.notes)
    if (n.message.find(words) != std::string::npos) return true;
  return d.message.find(words) != std::string::npos || d.fix.find(words) != std::string::npos;
}

TEST(Placement, barrier_under_a_divergent_condition) {
  Kernel k;
  const ValueId local = k.id(Opcode::LocalId);
  const uint32_t condition = k.line() + 1;
  k.begin_if(k.less(local, k.u32(3)));
  const uint32_t line = k.line();
  k.barrier();
  k.end_if();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_EQ(d.place.line, line);
  EXPECT_EQ(d.place.file, "k.vyre");
  EXPECT_EQ(d.op, "barrier");
  EXPECT_TRUE(mentions(d, "`local_id.x`")) << text({d});
  ASSERT_EQ(d.notes.size(), 2u) << text({d});
  EXPECT_EQ(d.notes[0].place.line, condition);
  EXPECT_EQ(d.notes[0].message,
            "the condition at " + std::to_string(condition) + ":1 depends on `local_id.x`");
  EXPECT_EQ(d.notes[1].message, "`local_id.x` may differ between invocations");
}

TEST(Placement, barrier_in_uniform_flow) {
  Kernel k;
  k.barrier();
  k.begin_if(k.per_workgroup());
  k.barrier();
  k.end_if();
  k.begin_for(k.u32(0), k.load(k.in, k.u32(0)), k.u32(1));
  k.barrier();
  k.end_for();
  expect_legal(k.finish());
}

TEST(Placement, barrier_in_a_loop_with_a_divergent_bound) {
  Kernel k;
  k.begin_for(k.u32(0), k.id(Opcode::LocalId), k.u32(1));
  k.barrier();
  k.end_for();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_TRUE(mentions(d, "how often the loop")) << text({d});
}

TEST(Placement, barrier_in_a_while_whose_test_reads_memory) {
  Kernel k;
  k.begin_while();
  k.begin_body(k.less(k.u32(0), k.load(k.inout, k.u32(0))));
  k.barrier();
  k.end_while();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_TRUE(mentions(d, "a load from `y` (inout)")) << text({d});
}

TEST(Placement, grid_loop_until_a_flag_says_stop) {
  Kernel k;
  k.begin_while();
  k.begin_body(k.less(k.u32(0), k.uniform_load(k.inout, k.u32(0), Scope::Grid)));
  k.barrier(Scope::Grid);
  k.end_while();
  expect_legal(k.finish());
}

TEST(Placement, barrier_after_a_divergent_return) {
  Kernel k;
  const uint32_t return_line = k.line() + 3;
  k.begin_if(k.varying());
  k.at().return_();
  k.end_if();
  k.barrier();
  const Diagnostic d = expect_error(k.finish(), Code::DivergentExit);
  EXPECT_TRUE(mentions(d, "drop the guard, because out-of-bounds accesses are harmless"));
  ASSERT_EQ(d.notes.size(), 3u) << text({d});
  EXPECT_EQ(d.notes[0].message, "not all invocations take this `return`");
  EXPECT_EQ(d.notes[0].place.line, return_line);
  EXPECT_TRUE(mentions(d, "depends on `local_id.x`"));
}

TEST(Placement, barrier_in_a_loop_with_a_divergent_break) {
  Kernel k;
  k.begin_for(k.u32(0), k.u32(8), k.u32(1));
  k.barrier();
  k.begin_if(k.varying());
  k.break_loop();
  k.end_if();
  k.end_for();
  k.barrier();
  const Diagnostic d = expect_error(k.finish(), Code::DivergentExit);
  EXPECT_TRUE(mentions(d, "take this `break`")) << text({d});
}

TEST(Placement, subgroup_operation_after_a_divergent_continue) {
  Kernel k;
  k.begin_for(k.u32(0), k.u32(8), k.u32(1));
  k.begin_if(k.varying());
  k.continue_loop();
  k.end_if();
  k.at().op(Opcode::SubgroupAdd, Type::U32, {k.u32(1)});
  k.end_for();
  const Diagnostic d = expect_error(k.finish(), Code::DivergentExit);
  EXPECT_TRUE(mentions(d, "take this `continue`")) << text({d});
}

TEST(Placement, subgroup_operation_under_a_divergent_condition) {
  Kernel k;
  k.begin_if(k.varying());
  k.op(Opcode::SubgroupAdd, Type::U32, {k.u32(1)});
  k.end_if();
  expect_error(k.finish(), Code::SubgroupOpInDivergentFlow);
}

TEST(Placement, subgroup_operation_in_subgroup_uniform_flow) {
  Kernel k;
  k.begin_if(k.op(Opcode::SubgroupAll, Type::Void, {k.varying()}));
  k.op(Opcode::SubgroupAdd, Type::U32, {k.u32(1)});
  k.barrier(Scope::Subgroup);
  k.end_if();
  expect_legal(k.finish());
}

TEST(Placement, workgroup_barrier_in_subgroup_uniform_flow) {
  Kernel k;
  k.begin_if(k.op(Opcode::SubgroupAll, Type::Void, {k.varying()}));
  k.barrier();
  k.end_if();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_TRUE(mentions(d, "`subgroup_all` may differ between subgroups")) << text({d});
}

TEST(Placement, a_workgroup_of_one_subgroup_changes_nothing) {
  Kernel k;
  k.program.workgroup = {32, 1, 1};
  k.program.subgroup = 32;
  k.begin_if(k.op(Opcode::SubgroupAll, Type::Void, {k.varying()}));
  k.barrier();
  k.end_if();
  expect_error(k.finish(), Code::BarrierInDivergentFlow);
}

TEST(Placement, grid_barrier_in_workgroup_uniform_flow) {
  Kernel k;
  k.begin_if(k.per_workgroup());
  k.barrier(Scope::Grid);
  k.end_if();
  const Diagnostic d = expect_error(k.finish(), Code::GridBarrierInDivergentFlow);
  EXPECT_TRUE(mentions(d, "`workgroup_id.x` may differ between workgroups")) << text({d});
}

TEST(Placement, grid_barrier_in_regions_and_grid_uniform_flow) {
  Kernel k;
  k.begin_region("a");
  k.begin_region("b");
  k.barrier(Scope::Grid);
  k.end_region();
  k.end_region();
  k.begin_if(k.uniform());
  k.begin_for(k.u32(0), k.op(Opcode::Scalar, Type::U32, {}, k.n), k.u32(1));
  k.barrier(Scope::Grid);
  k.end_for();
  k.end_if();
  expect_legal(k.finish());
}

TEST(Placement, grid_barrier_after_a_return_that_is_uniform_in_each_workgroup) {
  Kernel k;
  k.begin_if(k.per_workgroup());
  k.return_();
  k.end_if();
  k.barrier();
  k.barrier(Scope::Grid);
  expect_error(k.finish(), Code::DivergentExit);
}

TEST(Placement, uniform_load_under_a_divergent_condition) {
  Kernel k;
  k.begin_if(k.varying());
  k.uniform_load(k.inout, k.u32(0));
  k.end_if();
  expect_error(k.finish(), Code::UniformLoadInDivergentFlow);
}

TEST(Placement, uniform_load_with_a_divergent_index) {
  Kernel k;
  k.uniform_load(k.inout, k.id(Opcode::LocalId));
  const Diagnostic d = expect_error(k.finish(), Code::UniformLoadIndexVaries);
  EXPECT_TRUE(mentions(d, "local_id.x"));
}

TEST(Placement, uniform_load_over_the_grid_with_an_index_by_workgroup) {
  Kernel k;
  k.uniform_load(k.inout, k.id(Opcode::WorkgroupId));
  k.uniform_load(k.inout, k.id(Opcode::WorkgroupId), Scope::Grid);
  expect_error(k.finish(), Code::UniformLoadIndexVaries);
}

TEST(Placement, broadcast_from_a_divergent_lane) {
  Kernel k;
  k.op(Opcode::SubgroupBroadcast, Type::U32, {k.u32(1), k.id(Opcode::LaneId)});
  expect_error(k.finish(), Code::BroadcastLaneVaries);
}

TEST(Placement, a_value_merged_under_a_divergent_condition_is_explained) {
  Kernel k;
  const VarId bound = k.declare(k.u32(4));
  k.begin_if(k.varying());
  k.set(bound, k.u32(3));
  k.end_if();
  k.begin_for(k.u32(0), k.get(bound), k.u32(1));
  k.barrier();
  k.end_for();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_TRUE(mentions(d, "is assigned in only some of the invocations")) << text({d});
  EXPECT_TRUE(mentions(d, "local_id.x")) << text({d});
}

TEST(Placement, a_count_from_a_divergent_loop_is_explained) {
  Kernel k;
  const VarId count = k.declare(k.u32(0));
  k.begin_while();
  k.begin_body(k.less(k.get(count), k.load(k.inout, k.get(count))));
  k.set(count, k.binary(Opcode::Add, k.get(count), k.u32(1)));
  k.end_while();
  k.begin_if(k.less(k.get(count), k.u32(3)));
  k.barrier();
  k.end_if();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_TRUE(mentions(d, "how often the loop")) << text({d});
}

TEST(Placement, an_error_in_an_inlined_function_shows_the_calls) {
  Kernel k;
  k.begin_if(k.varying());
  const LocId outer = k.program.add_location({0, 100, 1, 1, none});
  const LocId inner = k.program.add_location({0, 200, 1, 1, outer});
  k.loc = k.program.add_location({0, 300, 1, 1, inner});
  k.effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(Scope::Workgroup));
  k.end_if();
  const Diagnostic d = expect_error(k.finish(), Code::BarrierInDivergentFlow);
  EXPECT_EQ(d.place.line, 300u);
  ASSERT_GE(d.notes.size(), 2u);
  EXPECT_EQ(d.notes[d.notes.size() - 2].place.line, 200u);
  EXPECT_EQ(d.notes[d.notes.size() - 1].place.line, 100u);
}

TEST(Placement, errors_come_in_program_order) {
  Kernel k;
  k.begin_if(k.varying());
  k.barrier();
  k.op(Opcode::Neg, Type::U32, {k.u32(1)});
  k.barrier();
  k.end_if();
  Diagnostics found = check(k.finish());
  ASSERT_EQ(found.size(), 3u) << text(found);
  EXPECT_EQ(found[0].code, Code::BarrierInDivergentFlow);
  EXPECT_EQ(found[1].code, Code::OpTypeNotAllowed);
  EXPECT_EQ(found[2].code, Code::BarrierInDivergentFlow);
}

TEST(Placement, errors_come_in_program_order_whatever_the_ids) {
  Kernel k;
  k.op(Opcode::Neg, Type::U32, {k.at().constant_u32(1)});
  Program p = k.finish();
  const OpId early = p.add_op(Opcode::Barrier, Type::Void, {}, {}, 9, none);
  p.insert_before(OpId(0), early);
  Diagnostics found = check(p);
  ASSERT_EQ(found.size(), 1u);  // a scope that does not exist: the structure does not hold
  p.ops[early].attr = 1;
  p.ops[early].type = Type::U32;
  found = check(p);
  ASSERT_EQ(found.size(), 2u) << text(found);
  EXPECT_EQ(found[0].op, "barrier");
  EXPECT_EQ(found[1].op, "neg");
}

}  // namespace
}  // namespace vyre::test
