// Deliberately broken passes: a mismatch in a generated program of about 200 ops comes to a few
// ops, which the broken pass still gets wrong.

#include <gtest/gtest.h>

#include <optional>

#include "differential/reduce_mismatch.h"
#include "fuzz/fuzz.h"
#include "ir/eval/eval.h"
#include "opt/pipeline.h"
#include "opt/rewriter.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre::lab {
namespace {

using opt::PassContext;
using opt::PassDescriptor;
using opt::Rewriter;

/// x - 0 becomes 0.
Result<bool> subtract_zero_to_zero(Program& p, PassContext&) {
  Rewriter r(p);
  for (const OpId op : r.ops()) {
    if (p.op(op).code != Opcode::Sub || r.constant(r.operand(op, 1)) != 0u) continue;
    r.replace(p.result(op), r.operand(op, 1));
    r.remove(op);
  }
  return r.finish();
}

/// The first store after a barrier goes.
Result<bool> drop_store_after_barrier(Program& p, PassContext&) {
  Rewriter r(p);
  bool after = false;
  for (const OpId op : r.ops()) {
    if (p.op(op).code == Opcode::Barrier) after = true;
    if (!after || p.op(op).code != Opcode::Store) continue;
    r.remove(op);
    after = false;
  }
  return r.finish();
}

/// Shifts of constants are folded without taking the amount modulo the width.
Result<bool> fold_shifts_wrongly(Program& p, PassContext&) {
  Rewriter r(p);
  const std::vector<OpId> order = r.ops();
  for (const OpId op : order) {
    if (p.op(op).code != Opcode::Shl) continue;
    const auto value = r.constant(r.operand(op, 0)), amount = r.constant(r.operand(op, 1));
    if (!value || !amount) continue;
    const uint32_t width = width_of(p.op(op).type);
    const uint64_t folded = *amount >= width ? 0 : *value << *amount & low_mask(width);
    r.replace(p.result(op), r.insert_constant(op, p.op(op).type, folded));
    r.remove(op);
  }
  return r.finish();
}

/// A loop over constants loses its last iteration.
Result<bool> drop_last_iteration(Program& p, PassContext&) {
  Rewriter r(p);
  const std::vector<OpId> order = r.ops();
  for (const OpId op : order) {
    if (p.op(op).code != Opcode::For) continue;
    const auto lo = r.constant(r.operand(op, 0)), hi = r.constant(r.operand(op, 1));
    if (!lo || !hi || *hi <= *lo || is_signed(p.type(p.operand(op, 0)))) continue;
    const ValueId less = r.insert_constant(op, p.type(p.operand(op, 1)), *hi - 1);
    p.ids[p.op(op).operands.begin + 1] = less;
  }
  return r.finish();
}

/// `<` becomes `<=`.
Result<bool> compare_with_equal(Program& p, PassContext&) {
  bool changed = false;
  walk(p, [&](OpId op) {
    if (p.op(op).code != Opcode::Lt) return;
    p.op(op).code = Opcode::Le;
    changed = true;
  });
  return changed;
}

/// A load that follows a store of the same buffer gets the value that was stored, whatever the
/// index.
Result<bool> forward_any_store(Program& p, PassContext&) {
  Rewriter r(p);
  for (const OpId op : r.ops()) {
    const OpId next = p.op(op).next;
    if (p.op(op).code != Opcode::Load || next == none) continue;
    for (OpId before = p.op(op).prev; before != none; before = p.op(before).prev) {
      if (p.op(before).code != Opcode::Store ||
          uint32_t(p.op(before).attr) != uint32_t(p.op(op).attr))
        continue;
      r.replace(p.result(op), r.operand(before, 1));
      break;
    }
  }
  return r.finish();
}

/// Makes programs illegal: the error, not a result, is what must stay.
Result<bool> make_min_logical(Program& p, PassContext&) {
  bool changed = false;
  walk(p, [&](OpId op) {
    if (p.op(op).code != Opcode::Min || !is_integer(p.op(op).type)) return;
    p.op(op).type = Type::Bool;
    changed = true;
  });
  return changed;
}

constexpr PassDescriptor passes[] = {
    {.name = "subtract_zero_to_zero", .summary = "is wrong", .run = subtract_zero_to_zero},
    {.name = "drop_store_after_barrier", .summary = "is wrong", .run = drop_store_after_barrier},
    {.name = "fold_shifts_wrongly", .summary = "is wrong", .run = fold_shifts_wrongly},
    {.name = "drop_last_iteration", .summary = "is wrong", .run = drop_last_iteration},
    {.name = "compare_with_equal", .summary = "is wrong", .run = compare_with_equal},
    {.name = "forward_any_store", .summary = "is wrong", .run = forward_any_store},
    {.name = "make_min_logical", .summary = "is wrong", .run = make_min_logical},
};

uint64_t count_ops(const Module& m) {
  uint64_t n = 0;
  for (const Program& p : m.kernels) walk(p, [&](OpId) { ++n; });
  return n;
}

struct Found {
  Generated program;
  Disagreement disagreement;
};

/// The first program from `seed` on, of at least `ops` ops, that the pair disagrees about.
std::optional<Found> find_mismatch(const ConfigurationPair& pair, uint64_t seed, uint64_t ops,
                                   uint64_t tries) {
  for (uint64_t end = seed + tries; seed < end; ++seed) {
    Generated g = generate(seed);
    if (count_ops(g.module) < ops) continue;
    g.leaves_files = false;
    if (auto found = judge(pair, g)) return Found{std::move(g), std::move(*found)};
  }
  return std::nullopt;
}

class BrokenPass : public ::testing::TestWithParam<const PassDescriptor*> {};

TEST_P(BrokenPass, a_failure_of_200_ops_comes_to_at_most_15) {
  const opt::RegisterPassForTest registered(*GetParam());
  const auto subjects = choose_subjects({"opt:" + std::string(GetParam()->name)});
  ASSERT_TRUE(subjects);
  const ConfigurationPair pair{reference_subject(), subjects->front()};
  const auto found = find_mismatch(pair, 1, 170, 4000);
  ASSERT_TRUE(found) << "no program shows it";
  const auto reduced = reduce_mismatch(found->program, pair, {});
  ASSERT_TRUE(reduced) << reduced.errors()[0].message;
  const std::string text = text_test(*reduced);
  const reduce::Progress& p = reduced->outcome.progress;
  RecordProperty("seed", std::to_string(found->program.seed));
  RecordProperty("ops_before", std::to_string(p.ops_before));
  RecordProperty("candidates", std::to_string(p.candidates));
  EXPECT_LE(count_ops(reduced->program.module), 15u) << text;
  EXPECT_EQ(count_ops(reduced->program.module), p.ops);
  EXPECT_GE(p.ops_before, 170u);
  EXPECT_EQ(reduced->disagreement.kind, found->disagreement.kind);
  // The written program is the one that was judged.
  const ParseOutcome parsed = parse(text, {});
  ASSERT_TRUE(parsed.module) << text;
  Generated again = reduced->program;
  again.module = *parsed.module;
  const auto same = judge(pair, again, &found->disagreement);
  EXPECT_TRUE(same) << same.errors()[0].message << "\n" << text;
}

INSTANTIATE_TEST_SUITE_P(Passes, BrokenPass,
                         ::testing::Values(&passes[0], &passes[1], &passes[2], &passes[3],
                                           &passes[4], &passes[5], &passes[6]),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace vyre::lab
