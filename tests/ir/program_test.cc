#include "ir/program.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/stats.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre {
namespace {

Program parse_one(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return r.module ? std::move(r.module->kernels[0]) : Program{};
}

const char* nested = R"(
kernel k(x: in u32[], y: out u32[8]) workgroup(8) grid(8) {
  shared t: u32[16]
  var w: u8[3]
  region "a" {
    var s: u32 = 0
    for i in 0..len(x) {
      if x[i] > 3 { s += 1 } else { s += 2 }
    }
    y[0] = s
  }
  region "b" { atomic_add(y[1], 1) }
}
)";

TEST(program, walk_visits_an_op_before_its_blocks_and_every_op_once) {
  const Program p = parse_one(nested);
  std::vector<OpId> order;
  walk(p, [&](OpId id) { order.push_back(id); });
  ASSERT_EQ(order.size(), p.ops.size());
  for (size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(order[i], OpId(i));  // compacted: ids are in this order
}

TEST(program, walk_blocks_is_balanced) {
  const Program p = parse_one(nested);
  int depth = 0, most = 0;
  size_t ops = 0;
  walk_blocks(p, body_block, [&](Visit v, OpId, BlockId) {
    if (v == Visit::EnterBlock) most = std::max(most, ++depth);
    if (v == Visit::LeaveBlock) --depth;
    ops += v == Visit::Op;
  });
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(most, 4);
  EXPECT_EQ(ops, p.ops.size());
}

TEST(program, compact_twice_changes_nothing) {
  Program p = parse_one(nested);
  const std::string before = print(p);
  compact(p);
  EXPECT_EQ(print(p), before);
}

TEST(program, compact_drops_what_is_unlinked) {
  Program p =
      parse_one("kernel k(y: out u32[1]) workgroup(1) grid(1) { let a = 3 + 4\n y[0] = 5 }");
  const IdMap<ValueId, uint32_t> uses = count_uses(p);
  OpId dead = none;
  walk(p, [&](OpId id) {
    if (p.op(id).code == Opcode::Add) dead = id;
  });
  ASSERT_NE(dead, none);
  EXPECT_EQ(uses[p.result(dead)], 0u);
  const size_t before = p.ops.size();
  p.unlink(dead);
  compact(p);
  EXPECT_EQ(p.ops.size(), before - 1);
}

TEST(program, replace_values_follows_chains) {
  Program p = parse_one("kernel k(y: out u32[1]) workgroup(1) grid(1) { y[0] = 1 + 2 }");
  IdMap<ValueId, ValueId> map = identity(p.values);
  // index 0, one, two, sum: sum -> two -> one
  map[ValueId(3)] = ValueId(2);
  map[ValueId(2)] = ValueId(1);
  replace_values(p, map);
  walk(p, [&](OpId id) {
    if (p.op(id).code == Opcode::Store) {
      EXPECT_EQ(p.operand(id, 1), ValueId(1));
    }
  });
}

TEST(program, stats_count_what_they_say) {
  const ProgramStats s = stats(parse_one(nested));
  EXPECT_EQ(s.top_level_regions, 2u);
  EXPECT_EQ(s.atomics, 1u);
  EXPECT_EQ(s.control_ops, 4u);  // two regions, for, if
  EXPECT_EQ(s.memory_ops, 2u);
  EXPECT_EQ(s.shared_bytes, 64u);
  EXPECT_EQ(s.private_bytes, 3u);
  EXPECT_EQ(s.static_device_bytes, 32u);
  EXPECT_TRUE(s.runtime_sized);
  EXPECT_EQ(s.max_nesting, 3u);
}

TEST(program, locations_keep_the_chain_of_calls) {
  const Program p = parse_one(R"(
fn inner(a: u32) -> u32 { return a * 3 }
fn outer(a: u32) -> u32 { return inner(a) + 1 }
kernel k(y: out u32[1]) workgroup(1) grid(1) {
  y[0] = outer(5)
})");
  walk(p, [&](OpId id) {
    if (p.op(id).code != Opcode::Mul) return;
    EXPECT_EQ(p.place(p.op(id).loc).line, 2u);
    Diagnostic d = diagnose(Code::TypeMismatch, {}, "");
    p.add_call_notes(p.op(id).loc, d);
    ASSERT_EQ(d.notes.size(), 2u);
    EXPECT_EQ(d.notes[0].place.line, 3u);
    EXPECT_EQ(d.notes[1].place.line, 5u);
  });
}

TEST(program, insert_and_unlink_keep_the_list) {
  Program p = parse_one("kernel k(y: out u32[1]) workgroup(1) grid(1) { y[0] = 1 }");
  const OpId first = p.blocks[body_block].first;
  const Type u32 = Type::U32;
  const OpId made = p.add_op(Opcode::Const, Type::U32, {}, {&u32, 1}, 9, none);
  p.insert_before(first, made);
  EXPECT_EQ(p.blocks[body_block].first, made);
  p.unlink(made);
  EXPECT_EQ(p.blocks[body_block].first, first);
  EXPECT_EQ(p.op(first).prev, none);
}

}  // namespace
}  // namespace vyre
