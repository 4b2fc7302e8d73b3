// IrBuilder, Cloner and the types of ids.

#include "ir/ir_builder.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "check/check.h"
#include "ir/cloner.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre {
namespace {

static_assert(!std::is_convertible_v<OpId, ValueId> && !std::is_constructible_v<OpId, ValueId>);
static_assert(!std::is_convertible_v<BlockId, OpId> && !std::is_constructible_v<BlockId, OpId>);
template <class A, class B>
constexpr bool are_distinct = !std::is_convertible_v<A, B> && !std::is_constructible_v<A, B> &&
                              !std::is_convertible_v<B, A> && !std::is_constructible_v<B, A>;
static_assert(are_distinct<BufferId, OpId> && are_distinct<BufferId, ValueId> &&
              are_distinct<BufferId, BlockId> && are_distinct<BufferId, GraphBufferId>);
static_assert(are_distinct<GraphBufferId, OpId> && are_distinct<GraphBufferId, ValueId> &&
              are_distinct<GraphBufferId, BlockId>);
static_assert(!std::is_convertible_v<uint32_t, BufferId> &&
              !std::is_convertible_v<BufferId, uint32_t>);
static_assert(!std::is_convertible_v<uint32_t, GraphBufferId> &&
              !std::is_convertible_v<GraphBufferId, uint32_t>);
static_assert(!std::is_convertible_v<uint32_t, OpId> && !std::is_convertible_v<OpId, uint32_t>);

Program parse_kernel(std::string_view body) {
  const ParseOutcome parsed = parse(
      "kernel k(n: u32, x: in u32[], y: inout u32[]) workgroup(4) "
      "grid(len(y)) {\n" +
      std::string(body) + "\n}\n");
  EXPECT_TRUE(parsed.module);
  return parsed.module ? parsed.module->kernels[0] : Program();
}

OpId find(const Program& p, Opcode code) {
  for (const OpId op : p.ops.ids())
    if (p.op(op).code == code) return op;
  ADD_FAILURE() << "no " << mnemonic(code);
  return none;
}

std::vector<Opcode> codes_in(const Program& p, BlockId block) {
  std::vector<Opcode> codes;
  for (OpId op = p.blocks[block].first; op != none; op = p.op(op).next)
    codes.push_back(p.op(op).code);
  return codes;
}

TEST(IrBuilder, adds_at_the_end_of_a_block_or_before_an_op) {
  Program p;
  p.add_block(none);
  IrBuilder b(p);
  const ValueId one = b.constant(Type::U32, 1);
  const OpId end = b.exit(Opcode::Return);
  b.before(end);
  const ValueId sum = b.op(Opcode::Add, Type::U32, {one, one});
  EXPECT_EQ(codes_in(p, body_block), (std::vector{Opcode::Const, Opcode::Add, Opcode::Return}));
  EXPECT_EQ(p.type(sum), Type::U32);
}

TEST(IrBuilder, returns_none_for_an_op_without_a_result) {
  Program p;
  p.add_block(none);
  IrBuilder b(p);
  b.constant(Type::U32, 7);  // a value that must not be returned
  EXPECT_EQ(b.op(Opcode::Barrier, Type::Void, {}, uint64_t(Scope::Workgroup)), none);
}

TEST(IrBuilder, accepts_operands_from_the_list_that_it_extends) {
  Program p;
  p.add_block(none);
  IrBuilder b(p);
  const Type types[] = {Type::U32, Type::U32, Type::U32};
  const OpId region = b.open(Opcode::Region, {}, 1);
  const std::vector<ValueId> results = b.set_results(region, types);
  for (int i = 0; i < 100; ++i) {
    p.ids.shrink_to_fit();  // the list moves when it grows
    const OpId end = b.exit(Opcode::Yield, p.results(region));
    EXPECT_TRUE(std::ranges::equal(p.operands(end), results)) << i;
  }
}

TEST(IrBuilder, in_restores_the_insertion_point) {
  Program p;
  p.add_block(none);
  IrBuilder b(p);
  const BlockId then = b.add_if(b.boolean(true));
  b.in(then, [&] { b.exit(Opcode::Yield); });
  b.exit(Opcode::Return);
  EXPECT_EQ(codes_in(p, body_block), (std::vector{Opcode::Const, Opcode::If, Opcode::Return}));
  EXPECT_EQ(codes_in(p, then), std::vector{Opcode::Yield});
  EXPECT_EQ(codes_in(p, then + 1), std::vector{Opcode::Yield});
}

constexpr std::string_view nested = R"(
  var s = n
  for i in 0..n {
    if x[i] > s { s += x[i] } else { for j in i..n { s ^= j } }
  }
  y[global_id.x] = s)";

TEST(Cloner, copies_a_loop_within_its_program) {
  Program p = parse_kernel(nested);
  const OpId loop = find(p, Opcode::For), store = find(p, Opcode::Store);
  IrBuilder b(p);
  b.before(store);
  Cloner cloner(p, b);
  const OpId copy = cloner.copy(loop);
  EXPECT_EQ(b.next, store) << "the insertion point stays";
  EXPECT_EQ(p.op(copy).next, store);
  EXPECT_EQ(p.operand(copy, 1), p.operand(loop, 1)) << "values from outside stay";
  EXPECT_EQ(cloner.map[p.result(loop)], p.result(copy));
  p.list(p.op(store).operands)[1] = p.result(copy);
  compact(p);
  EXPECT_FALSE(has_errors(check(p)));
  size_t loops = 0;
  walk(p, [&](OpId op) { loops += p.op(op).code == Opcode::For; });
  EXPECT_EQ(loops, 4u);
}

TEST(Cloner, copies_a_body_into_another_program) {
  const Program from = parse_kernel(nested);
  Program to = without_body(from);
  EXPECT_TRUE(to.ops.empty());
  IrBuilder b(to);
  Cloner cloner(from, b);
  for (OpId op = from.blocks[body_block].first; op != none; op = from.op(op).next) cloner.copy(op);
  compact(to);
  EXPECT_EQ(print(to), print(from));
}

}  // namespace
}  // namespace vyre
