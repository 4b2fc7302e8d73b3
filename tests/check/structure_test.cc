// Programs whose arrays contradict each other, and exits that do not fit.
#include <gtest/gtest.h>

#include <functional>

#include "check/check_limits.h"
#include "check/check_structure.h"
#include "tests/check/check_kernel_util.h"

namespace vyre::test {
namespace {

// A kernel with one of everything that has structure.
Program rich() {
  Kernel k;
  const VarId v = k.declare(k.u32(1));
  k.begin_region("part");
  k.begin_if(k.varying());
  k.set(v, k.u32(2));
  k.end_if();
  k.end_region();
  k.begin_for(k.u32(0), k.u32(9), k.u32(1));
  k.set(v, k.binary(Opcode::Add, k.get(v), k.u32(1)));
  k.begin_if(k.varying());
  k.break_loop();
  k.end_if();
  k.end_for();
  k.begin_while();
  k.begin_body(k.less(k.get(v), k.u32(100)));
  k.set(v, k.binary(Opcode::Mul, k.get(v), k.u32(2)));
  k.end_while();
  k.store(k.out, k.id(Opcode::GlobalId), k.get(v));
  return k.finish();
}

OpId find(const Program& p, Opcode code) {
  for (const OpId op : p.ops.ids())
    if (p.ops[op].code == code) return op;
  ADD_FAILURE() << "no " << mnemonic(code);
  return OpId(0);
}

TEST(Structure, a_program_with_everything_is_legal) { expect_legal(rich()); }

struct Damage {
  const char* what;
  std::function<void(Program&)> apply;
};

class BrokenPrograms : public ::testing::TestWithParam<Damage> {};

TEST_P(BrokenPrograms, are_rejected) {
  Program p = rich();
  GetParam().apply(p);
  const Diagnostics found = check(p);
  EXPECT_TRUE(has_errors(found)) << GetParam().what;
  EXPECT_TRUE(has(found, Code::BrokenProgram)) << GetParam().what << "\n" << text(found);
}

INSTANTIATE_TEST_SUITE_P(
    Structure, BrokenPrograms,
    ::testing::Values(
        Damage{"no blocks", [](Program& p) { p.blocks.clear(); }},
        Damage{"unknown opcode",
               [](Program& p) { p.ops[OpId(3)].code = static_cast<Opcode>(250); }},
        Damage{"unknown type", [](Program& p) { p.ops[OpId(3)].type = static_cast<Type>(99); }},
        Damage{"unknown role", [](Program& p) { p.buffers[0].role = static_cast<Role>(77); }},
        Damage{"unknown element", [](Program& p) { p.buffers[0].element = static_cast<Type>(77); }},
        Damage{"void value", [](Program& p) { p.values[ValueId(0)].type = Type::Void; }},
        Damage{"f16 value", [](Program& p) { p.values[ValueId(0)].type = Type::F16; }},
        Damage{"operand list outside", [](Program& p) { p.ops[OpId(2)].operands = {0, 1u << 30}; }},
        Damage{"operand list begins outside",
               [](Program& p) { p.ops[OpId(2)].operands = {~0u, 1}; }},
        Damage{"operand out of range", [](Program& p) { p.ids[0] = ValueId(1u << 20); }},
        Damage{"shared list cells",
               [](Program& p) { p.ops[OpId(1)].results = p.ops[OpId(0)].results; }},
        Damage{"shared operand list",
               [](Program& p) {
                 const Range list = p.ops[find(p, Opcode::Add)].operands;
                 p.ops[find(p, Opcode::Mul)].operands = list;
               }},
        Damage{"next out of range", [](Program& p) { p.ops[OpId(0)].next = OpId(1u << 20); }},
        Damage{"next forms a cycle", [](Program& p) { p.ops[OpId(3)].next = OpId(0); }},
        Damage{"next skips an op",
               [](Program& p) { p.ops[OpId(0)].next = p.ops[p.ops[OpId(0)].next].next; }},
        Damage{"prev is wrong", [](Program& p) { p.ops[OpId(2)].prev = OpId(0); }},
        Damage{"parent is wrong", [](Program& p) { p.ops[OpId(0)].parent = BlockId(1); }},
        Damage{"last is wrong", [](Program& p) { p.blocks[body_block].last = OpId(0); }},
        Damage{"block in a cycle",
               [](Program& p) { p.ops[find(p, Opcode::If)].first_block = BlockId(0); }},
        Damage{"block shared by two ops",
               [](Program& p) {
                 p.ops[find(p, Opcode::For)].first_block =
                     p.ops[find(p, Opcode::Region)].first_block;
               }},
        Damage{"blocks outside",
               [](Program& p) { p.ops[find(p, Opcode::If)].first_block = BlockId(900); }},
        Damage{"block count", [](Program& p) { p.ops[find(p, Opcode::If)].n_blocks = 1; }},
        Damage{"block's parent", [](Program& p) { p.blocks[BlockId(1)].parent = none; }},
        Damage{"body has arguments", [](Program& p) { p.add_argument(body_block, Type::U32); }},
        Damage{"orphan op", [](Program& p) { p.ops.push_back(p.ops[OpId(0)]); }},
        Damage{"orphan block", [](Program& p) { p.add_block(none); }},
        Damage{"orphan value", [](Program& p) { p.values.push_back(p.values[ValueId(0)]); }},
        Damage{"value of another op", [](Program& p) { p.values[ValueId(0)].def = OpId(5); }},
        Damage{"value with another index", [](Program& p) { p.values[ValueId(0)].index = 5; }},
        Damage{"location out of range", [](Program& p) { p.ops[OpId(0)].loc = 5000; }},
        Damage{"kernel's location", [](Program& p) { p.loc = 5000; }},
        Damage{"buffer's location", [](Program& p) { p.buffers[1].loc = 5000; }},
        Damage{"file out of range", [](Program& p) { p.locations[0].file = 9; }},
        Damage{"inlined into itself", [](Program& p) { p.locations[3].inlined_at = 3; }},
        Damage{"count out of range", [](Program& p) { p.buffers[0].count = 900; }},
        Damage{"grid out of range", [](Program& p) { p.grid[0] = 900; }},
        Damage{"formula refers to itself",
               [](Program& p) { p.formulas.nodes.push_back({FormulaOp::Add, 99, 99, 0, false}); }},
        Damage{"formula of an unknown kind",
               [](Program& p) { p.formulas.nodes[0].op = static_cast<FormulaOp>(44); }},
        Damage{"formula of an unknown buffer",
               [](Program& p) { p.formulas.nodes[0] = {FormulaOp::Len, 44, 0, 0, false}; }}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name)
        if (!isalnum(static_cast<unsigned char>(c))) c = '_';
      return name;
    });

TEST(Structure, add_with_one_operand) {
  Program p = rich();
  p.ops[find(p, Opcode::Add)].operands.count = 1;
  EXPECT_TRUE(has(check(p), Code::WrongOperandCount));
}

TEST(Structure, add_without_a_result) {
  Kernel k;
  k.u32(1);
  Program p = k.finish();
  p.ops[OpId(0)].results.count = 0;
  expect_error(p, Code::WrongOperandCount);
}

TEST(Structure, dimension_w) {
  Kernel k;
  k.id(Opcode::LocalId, 3);
  expect_error(k.finish(), Code::BadAttribute);
}

TEST(Structure, load_from_a_buffer_that_does_not_exist) {
  Program p = rich();
  p.ops[find(p, Opcode::Store)].attr = MemoryRef{BufferId(60)}.pack();
  expect_error(p, Code::BadAttribute);
}

TEST(Structure, barrier_with_an_unknown_scope) {
  Kernel k;
  k.barrier(static_cast<Scope>(3));
  expect_error(k.finish(), Code::BadAttribute);
}

TEST(Structure, plain_store_with_a_memory_order) {
  Program p = rich();
  p.ops[find(p, Opcode::Store)].attr |= 1ull << 32;
  expect_error(p, Code::BadAttribute);
}

TEST(Structure, attribute_bits_that_mean_nothing) {
  Program p = rich();
  p.ops[find(p, Opcode::Store)].attr |= 1ull << 63;
  expect_error(p, Code::BadAttribute);
  p = rich();
  p.ops[find(p, Opcode::Add)].attr = 1;
  expect_error(p, Code::BadAttribute);
}

TEST(Structure, block_without_an_exit) {
  Program p = rich();
  p.ops[p.blocks[body_block].last].code = Opcode::Barrier;
  expect_error(p, Code::MisplacedExit);
}

TEST(Structure, exit_in_the_middle_of_a_block) {
  Kernel k;
  k.barrier();
  k.barrier();
  Program p = k.finish();
  p.ops[OpId(0)].code = Opcode::Return;
  p.ops[OpId(0)].attr = 0;
  expect_error(p, Code::MisplacedExit);
}

TEST(Structure, empty_body) {
  Program p;
  p.name = "k";
  p.add_block(none);
  expect_error(p, Code::MisplacedExit);
}

TEST(Structure, body_that_yields) {
  Program p = rich();
  p.ops[p.blocks[body_block].last].code = Opcode::Yield;
  expect_error(p, Code::MisplacedExit);
}

TEST(Structure, test_that_yields) {
  Kernel k;
  k.begin_while();
  k.begin_body(k.uniform());
  k.end_while();
  Program p = k.finish();
  p.ops[find(p, Opcode::Test)].code = Opcode::Trap;
  expect_error(p, Code::MisplacedExit);
}

TEST(Structure, yield_with_too_few_values) {
  Program p = rich();
  for (const OpId op : p.ops.ids())
    if (p.ops[op].code == Opcode::Yield && p.ops[op].operands.count == 1) {
      p.ops[op].operands.count = 0;
      break;
    }
  expect_error(p, Code::ExitDoesNotFit);
}

TEST(Structure, break_with_too_few_values) {
  Program p = rich();
  p.ops[find(p, Opcode::Break)].operands.count = 0;
  expect_error(p, Code::ExitDoesNotFit);
}

TEST(Structure, break_outside_of_a_loop) {
  Kernel k;
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  Program p = k.finish();
  p.ops[find(p, Opcode::Return)].code = Opcode::Break;
  expect_error(p, Code::ExitOutsideLoop);
}

TEST(Structure, break_in_the_test_of_a_while) {
  Kernel k;
  k.begin_while();
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  k.begin_body(k.uniform());
  k.end_while();
  Program p = k.finish();
  expect_legal(p);
  p.ops[find(p, Opcode::Return)].code = Opcode::Break;
  expect_error(p, Code::ExitOutsideLoop);
}

TEST(Structure, use_before_the_definition) {
  Kernel k;
  const ValueId a = k.u32(1);
  k.binary(Opcode::Add, a, a);
  const ValueId late = k.u32(2);
  Program p = k.finish();
  p.ids[p.ops[OpId(1)].operands.begin] = late;
  expect_error(p, Code::ValueNotVisible);
}

TEST(Structure, use_outside_of_the_defining_block) {
  Kernel k;
  k.begin_if(k.varying());
  const ValueId inner = k.u32(1);
  k.end_if();
  k.store(k.out, inner, inner);
  const Diagnostics found = check(k.finish());
  EXPECT_TRUE(has(found, Code::ValueNotVisible)) << text(found);
}

TEST(Structure, own_result_as_an_operand) {
  Kernel k;
  const ValueId a = k.u32(1);
  k.binary(Opcode::Add, a, a);
  Program p = k.finish();
  p.ids[p.ops[OpId(1)].operands.begin] = p.result(OpId(1));
  expect_error(p, Code::ValueNotVisible);
}

TEST(Structure, body_of_a_while_sees_its_test_and_the_rest_does_not) {
  Kernel k;
  k.begin_while();
  const ValueId seen = k.u32(5);
  k.begin_body(k.uniform());
  k.store(k.out, seen, seen);
  k.end_while();
  k.store(k.out, k.u32(0), k.u32(0));
  Program p = k.finish();
  expect_legal(p);
  p.ids[p.ops[p.ops[p.blocks[body_block].last].prev].operands.begin] =
      p.result(find(p, Opcode::While) + 1);
  expect_error(p, Code::ValueNotVisible);
}

Program nested(uint32_t depth) {
  Kernel k;
  const ValueId c = k.uniform();
  for (uint32_t i = 0; i < depth; ++i) k.begin_if(c);
  for (uint32_t i = 0; i < depth; ++i) k.end_if();
  return k.finish();
}

TEST(Structure, nesting_up_to_the_limit) {
  expect_legal(nested(limits::nesting));
  expect_error(nested(limits::nesting + 1), Code::NestingOverLimit);
}

TEST(Structure, nesting_of_a_hundred_thousand_does_not_overflow_the_stack) {
  expect_error(nested(100'000), Code::NestingOverLimit);
}

TEST(Structure, too_many_ops) {
  const Program p = rich();  // 16 Mi of them would be a gigabyte
  Reporter exact(p), one_less(p);
  EXPECT_TRUE(check_arrays(p, exact, p.ops.size()));
  EXPECT_FALSE(check_arrays(p, one_less, p.ops.size() - 1));
  only_error(one_less.take(), Code::TooManyOps);
}

TEST(Structure, a_hundred_thousand_mistakes_give_a_thousand_errors) {
  Kernel k;
  for (int i = 0; i < 100'000; ++i) k.id(Opcode::LocalId, 7);
  const Diagnostics found = check(k.finish());
  EXPECT_LE(found.size(), 1001u);
  EXPECT_TRUE(has(found, Code::MoreNotShown));
}

}  // namespace
}  // namespace vyre::test
