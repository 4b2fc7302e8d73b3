// Levels of values and flow: the specification's section on uniformity, rule by rule.
#include "check/uniformity.h"

#include <gtest/gtest.h>

#include "tests/check/check_kernel_util.h"

namespace vyre::test {
namespace {

using U = Uniformity;

// A kernel that stores the values under test; their levels are asked for in the order of stores.
struct Probe : Kernel {
  void show(ValueId v) { store(out, u32(0), as_u32(v)); }
  ValueId as_u32(ValueId v) { return type(v) == Type::U32 ? v : op(Opcode::Cast, Type::U32, {v}); }

  std::vector<U> levels() {
    const Program p = finish();
    expect_structure(p);
    const UniformityInfo info = analyze_uniformity(p);
    std::vector<U> list;
    walk(p, [&](OpId id) {
      if (p.ops[id].code == Opcode::Store) list.push_back(info.value(p.operand(id, 1)));
    });
    return list;
  }

  // Levels of the flow at each store.
  std::vector<U> flows() {
    const Program p = finish();
    expect_structure(p);
    const UniformityInfo info = analyze_uniformity(p);
    std::vector<U> list;
    walk(p, [&](OpId id) {
      if (p.ops[id].code == Opcode::Store) list.push_back(info.flow(id));
    });
    return list;
  }

  void mark() { store(out, u32(0), u32(0)); }

 private:
  static void expect_structure(const Program& p) {
    EXPECT_FALSE(has(check(p), Code::BrokenProgram));
  }
};

using Levels = std::vector<U>;

TEST(Uniformity, of_constants_scalars_lengths_and_ids) {
  Probe k;
  k.show(k.u32(1));
  k.show(k.op(Opcode::Scalar, Type::U32, {}, k.n));
  k.show(k.op(Opcode::Len, Type::Void, {}, k.in));
  k.show(k.id(Opcode::NumWorkgroups));
  k.show(k.id(Opcode::WorkgroupSize));
  k.show(k.id(Opcode::SubgroupSize));
  k.show(k.id(Opcode::WorkgroupId));
  k.show(k.id(Opcode::GlobalId));
  k.show(k.id(Opcode::LocalId));
  k.show(k.id(Opcode::LaneId));
  EXPECT_EQ(k.levels(), (Levels{U::Grid, U::Grid, U::Grid, U::Grid, U::Grid, U::Grid, U::Workgroup,
                                U::Varying, U::Varying, U::Varying}));
}

TEST(Uniformity, of_a_pure_op_is_that_of_its_narrowest_operand) {
  Probe k;
  const ValueId w = k.id(Opcode::WorkgroupId);
  k.show(k.binary(Opcode::Add, k.u32(1), w));
  k.show(k.binary(Opcode::Add, w, k.id(Opcode::LocalId)));
  EXPECT_EQ(k.levels(), (Levels{U::Workgroup, U::Varying}));
}

TEST(Uniformity, of_loads_depends_on_role_and_index) {
  Probe k;
  const uint32_t uniform = k.add_buffer("u", Role::Uniform, Type::U32, k.constant_size(4));
  const uint32_t table = k.add_buffer("t", Role::Table, Type::U32, k.constant_size(1));
  const uint32_t local = k.add_buffer("p", Role::Private, Type::U32, k.constant_size(4));
  k.program.table_bytes.resize(4);
  const ValueId zero = k.u32(0);
  const ValueId w = k.id(Opcode::WorkgroupId);
  k.show(k.load(k.in, zero));
  k.show(k.load(k.in, w));
  k.show(k.load(k.in, k.id(Opcode::LocalId)));
  k.show(k.load(uniform, zero));
  k.show(k.load(table, w));
  k.show(k.load(k.inout, zero));
  k.show(k.load(k.out, zero));
  k.show(k.load(k.tile, zero));
  k.show(k.load(local, zero));
  EXPECT_EQ(k.levels(), (Levels{U::Grid, U::Workgroup, U::Varying, U::Grid, U::Workgroup,
                                U::Varying, U::Varying, U::Varying, U::Varying}));
}

TEST(Uniformity, of_atomics_subgroup_operations_and_uniform_loads) {
  Probe k;
  const ValueId zero = k.u32(0);
  const ValueId v = k.id(Opcode::LocalId);
  k.show(k.atomic(Opcode::AtomicAdd, k.inout, zero, zero));
  k.show(k.op(Opcode::SubgroupAdd, Type::U32, {v}));
  k.show(k.op(Opcode::SubgroupAdd, Type::U32, {zero}));
  k.show(k.op(Opcode::SubgroupBallot, Type::Void, {k.varying()}));
  k.show(k.op(Opcode::SubgroupAny, Type::Void, {k.varying()}));
  k.show(k.op(Opcode::SubgroupBroadcast, Type::U32, {v, zero}));
  k.show(k.op(Opcode::SubgroupShuffle, Type::U32, {zero, zero}));
  k.show(k.op(Opcode::SubgroupScanAdd, Type::U32, {zero}));
  k.show(k.uniform_load(k.inout, zero));
  k.show(k.uniform_load(k.inout, zero, Scope::Grid));
  EXPECT_EQ(k.levels(), (Levels{U::Varying, U::Subgroup, U::Subgroup, U::Subgroup, U::Subgroup,
                                U::Subgroup, U::Varying, U::Varying, U::Workgroup, U::Grid}));
}

TEST(Uniformity, of_a_value_assigned_under_a_condition_is_the_conditions) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  const VarId b = k.declare(k.u32(0));
  k.begin_if(k.varying());
  k.set(a, k.u32(1));
  k.end_if();
  k.begin_if(k.per_workgroup());
  k.set(b, k.u32(1));
  k.end_if();
  k.show(k.get(a));
  k.show(k.get(b));
  EXPECT_EQ(k.levels(), (Levels{U::Varying, U::Workgroup}));
}

TEST(Uniformity, of_a_value_assigned_where_the_other_way_traps) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  k.begin_if(k.varying());
  k.set(a, k.u32(1));
  k.begin_else();
  k.trap(k.u32(1));
  k.end_if();
  k.show(k.get(a));
  EXPECT_EQ(k.levels(), (Levels{U::Varying}));
}

TEST(Uniformity, of_a_loop_counter_is_that_of_its_start_and_step) {
  Probe k;
  k.show(k.begin_for(k.u32(0), k.id(Opcode::LocalId), k.u32(1)));
  k.end_for();
  k.show(k.begin_for(k.id(Opcode::LocalId), k.u32(9), k.u32(1)));
  k.end_for();
  k.show(k.begin_for(k.u32(0), k.u32(9), k.id(Opcode::WorkgroupId)));
  k.end_for();
  EXPECT_EQ(k.levels(), (Levels{U::Grid, U::Varying, U::Workgroup}));
}

TEST(Uniformity, carried_taint_goes_round_the_loop) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  const VarId b = k.declare(k.u32(0));
  k.begin_for(k.u32(0), k.u32(9), k.u32(1));
  k.show(k.get(a));  // uniform in the first iteration only
  k.set(a, k.get(b));
  k.set(b, k.id(Opcode::LocalId));
  k.end_for();
  k.show(k.get(a));
  EXPECT_EQ(k.levels(), (Levels{U::Varying, U::Varying}));
}

TEST(Uniformity, of_results_after_a_divergent_trip_count) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  const VarId same = k.declare(k.u32(7));
  k.begin_for(k.u32(0), k.id(Opcode::LocalId), k.u32(1));
  k.set(a, k.binary(Opcode::Add, k.get(a), k.u32(1)));
  k.show(k.get(a));  // all that are still in the loop have counted the same
  k.end_for();
  k.show(k.get(a));
  k.show(k.get(same));
  EXPECT_EQ(k.levels(), (Levels{U::Grid, U::Varying, U::Grid}));
}

TEST(Uniformity, of_a_value_yielded_alike_by_both_ways) {
  Kernel k;
  const ValueId same = k.u32(1);
  k.begin_if(k.varying());
  k.end_if();
  k.store(k.out, same, same);
  Program p = k.finish();
  // By hand: the builder makes no such result.
  OpId branch = none;
  for (const OpId op : p.ops.ids())
    if (p.ops[op].code == Opcode::If) branch = op;
  const ValueId result = static_cast<ValueId>(p.values.size());
  p.values.push_back({Type::U32, branch, none, 0});
  p.ops[branch].results = p.add_list({&result, 1});
  for (Op& op : p.ops)
    if (op.code == Opcode::Yield) op.operands = p.add_list({&same, 1});
  expect_legal(p);
  EXPECT_EQ(analyze_uniformity(p).value(result), U::Grid);
}

TEST(Uniformity, of_results_after_a_divergent_break) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  k.begin_for(k.u32(0), k.u32(9), k.u32(1));
  k.set(a, k.binary(Opcode::Add, k.get(a), k.u32(1)));
  k.begin_if(k.varying());
  k.break_loop();
  k.end_if();
  k.end_for();
  k.show(k.get(a));
  EXPECT_EQ(k.levels(), (Levels{U::Varying}));
}

TEST(Uniformity, of_results_after_a_uniform_break) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  k.begin_for(k.u32(0), k.u32(9), k.u32(1));
  k.set(a, k.binary(Opcode::Add, k.get(a), k.u32(1)));
  k.begin_if(k.per_workgroup());
  k.break_loop();
  k.end_if();
  k.end_for();
  k.show(k.get(a));
  EXPECT_EQ(k.levels(), (Levels{U::Workgroup}));
}

TEST(Uniformity, of_a_value_that_a_divergent_continue_leaves_behind) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  k.begin_for(k.u32(0), k.u32(9), k.u32(1));
  k.show(k.get(a));
  k.begin_if(k.varying());
  k.continue_loop();
  k.end_if();
  k.set(a, k.u32(1));
  k.end_for();
  EXPECT_EQ(k.levels(), (Levels{U::Varying}));
}

TEST(Uniformity, of_a_while_result_is_that_of_its_test) {
  Probe k;
  const VarId a = k.declare(k.u32(0));
  k.begin_while();
  k.begin_body(k.less(k.get(a), k.id(Opcode::WorkgroupId)));
  k.set(a, k.binary(Opcode::Add, k.get(a), k.u32(1)));
  k.end_while();
  k.show(k.get(a));
  EXPECT_EQ(k.levels(), (Levels{U::Workgroup}));
}

// ---- Flow.

TEST(UniformFlow, reconverges_after_if_and_loop) {
  Probe k;
  k.begin_if(k.varying());
  k.mark();
  k.begin_else();
  k.mark();
  k.end_if();
  k.mark();
  k.begin_for(k.u32(0), k.id(Opcode::LocalId), k.u32(1));
  k.mark();
  k.end_for();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying, U::Grid, U::Varying, U::Grid}));
}

TEST(UniformFlow, follows_the_scope_of_the_condition) {
  Probe k;
  k.begin_if(k.uniform());
  k.mark();
  k.begin_if(k.per_workgroup());
  k.mark();
  k.begin_if(k.op(Opcode::SubgroupAny, Type::Void, {k.varying()}));
  k.mark();
  k.end_if();
  k.end_if();
  k.end_if();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Workgroup, U::Subgroup}));
}

TEST(UniformFlow, is_lost_after_a_divergent_return_and_kept_after_a_uniform_one) {
  Probe k;
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  k.mark();
  k.begin_if(k.varying());
  k.return_();
  k.end_if();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Varying}));
}

TEST(UniformFlow, of_an_earlier_point_does_not_see_a_later_return) {
  Probe k;
  k.begin_if(k.uniform());
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  k.mark();
  k.begin_if(k.varying());
  k.return_();
  k.end_if();
  k.mark();
  k.end_if();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Varying, U::Varying}));
}

TEST(UniformFlow, is_not_lost_by_traps_and_asserts) {
  Probe k;
  k.begin_if(k.varying());
  k.trap(k.u32(1));
  k.end_if();
  k.mark();
  k.effect(Opcode::Assert, Type::Void, {k.varying(), k.u32(1)});
  k.mark();
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.mark();
  k.begin_if(k.varying());
  k.trap(k.u32(1));
  k.end_if();
  k.end_for();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Grid, U::Grid, U::Grid}));
}

TEST(UniformFlow, is_lost_in_the_whole_loop_by_a_divergent_break_but_not_after_it) {
  Probe k;
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.mark();
  k.begin_if(k.varying());
  k.break_loop();
  k.end_if();
  k.mark();
  k.end_for();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying, U::Grid}));
}

TEST(UniformFlow, is_lost_in_the_whole_loop_by_a_divergent_continue_but_not_after_it) {
  Probe k;
  k.begin_while();
  k.mark();
  k.begin_body(k.uniform());
  k.mark();
  k.begin_if(k.varying());
  k.continue_loop();
  k.end_if();
  k.mark();
  k.end_while();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying, U::Varying, U::Grid}));
}

TEST(UniformFlow, is_lost_in_and_after_the_loops_around_a_divergent_return) {
  Probe k;
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.mark();
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.mark();
  k.begin_if(k.varying());
  k.return_();
  k.end_if();
  k.end_for();
  k.mark();
  k.end_for();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying, U::Varying, U::Varying}));
}

TEST(UniformFlow, is_lost_by_a_uniform_return_from_a_loop_in_divergent_flow) {
  Probe k;
  k.begin_if(k.varying());
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  k.end_for();
  k.end_if();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying}));
}

TEST(UniformFlow, after_a_loop_in_divergent_flow_is_divergent_with_a_return_in_it_or_not) {
  Probe k;
  k.begin_if(k.varying());
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.end_for();
  k.mark();
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  k.end_for();
  k.mark();
  k.end_if();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying}));
}

TEST(UniformFlow, in_a_divergent_test_is_divergent_unless_nothing_leads_back_to_it) {
  Probe k;
  k.begin_while();
  k.mark();
  k.begin_body(k.varying());
  k.mark();
  k.end_while();
  k.begin_while();
  k.mark();
  k.begin_body(k.varying());
  k.mark();
  k.break_loop();
  k.end_while();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying, U::Grid, U::Varying, U::Grid}));
}

TEST(UniformFlow, after_a_test_that_never_ends_is_not_judged) {
  Kernel k;
  k.begin_while();
  k.begin_if(k.varying());
  k.return_();
  k.begin_else();
  k.return_();
  k.end_if();
  k.begin_body(k.uniform());
  k.barrier();
  k.end_while();
  k.barrier();
  expect_legal(k.finish());
}

TEST(UniformFlow, inside_a_loop_in_divergent_flow_is_divergent) {
  Probe k;
  k.begin_if(k.varying());
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.mark();
  k.end_for();
  k.end_if();
  EXPECT_EQ(k.flows(), (Levels{U::Varying}));
}

TEST(UniformFlow, survives_a_divergent_break_from_a_loop_without_a_way_back) {
  Probe k;
  k.begin_for(k.u32(0), k.u32(4), k.u32(1));
  k.mark();
  k.begin_if(k.varying());
  k.break_loop();
  k.end_if();
  k.break_loop();
  k.end_for();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Grid}));
}

TEST(UniformFlow, passes_through_regions) {
  Probe k;
  k.begin_region("a");
  k.mark();
  k.begin_if(k.varying());
  k.return_();
  k.end_if();
  k.mark();
  k.end_region();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Varying, U::Varying}));
}

TEST(UniformFlow, is_lost_after_a_return_in_the_test_of_a_while) {
  Probe k;
  k.begin_while();
  k.begin_if(k.varying());
  k.return_();
  k.end_if();
  k.begin_body(k.uniform());
  k.mark();
  k.end_while();
  k.mark();
  EXPECT_EQ(k.flows(), (Levels{U::Varying, U::Varying}));
}

TEST(UniformFlow, is_lost_in_a_loop_whose_bound_a_divergent_assignment_changed) {
  Probe k;
  const VarId bound = k.declare(k.load(k.in, k.u32(0)));
  k.begin_for(k.u32(0), k.get(bound), k.u32(1));
  k.mark();
  k.end_for();
  k.begin_if(k.varying());
  k.set(bound, k.u32(3));
  k.end_if();
  k.begin_for(k.u32(0), k.get(bound), k.u32(1));
  k.mark();
  k.end_for();
  EXPECT_EQ(k.flows(), (Levels{U::Grid, U::Varying}));
}

TEST(UniformFlow, of_code_that_no_path_reaches_is_not_judged) {
  Kernel k;
  k.begin_if(k.varying());
  k.return_();
  k.begin_else();
  k.return_();
  k.end_if();
  k.barrier();
  expect_legal(k.finish());
}

// A straight line of many ops and one loop: linear time is what keeps this test short.
TEST(Uniformity, of_a_hundred_thousand_ops_is_fast) {
  Kernel k;
  const VarId v = k.declare(k.u32(0));
  for (int i = 0; i < 20'000; ++i) {
    k.begin_if(k.varying());
    k.set(v, k.binary(Opcode::Add, k.get(v), k.u32(1)));
    k.end_if();
  }
  k.store(k.out, k.u32(0), k.get(v));
  expect_legal(k.finish());
}

}  // namespace
}  // namespace vyre::test
