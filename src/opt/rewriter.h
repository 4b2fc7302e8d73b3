#pragma once

// What rewriting passes share: replacing values, making constants, taking ops away and dissolving
// blocks, all collected and done at once at the end.
//
//   Rewriter r(program);
//   for (const OpId op : r.ops()) … r.replace(program.result(op), other); r.remove(op); …
//   return r.finish();   // whether anything changed; the program is compact again

#include <optional>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace vyre::opt {

/// Calls enter(block), leave(block) or visit(op) of a pass's state for each event.
template <class State>
void walk_events(const Program& program, State& state) {
  for (const auto& [what, op, block] : block_events(program)) {
    WorkDeadline::poll_current();
    if (what == Visit::EnterBlock)
      state.enter(block);
    else if (what == Visit::LeaveBlock)
      state.leave(block);
    else
      state.visit(op);
  }
}

class Rewriter {
 public:
  explicit Rewriter(Program& program);

  /// All ops in program order, as they were at the beginning.
  const std::vector<OpId>& ops() const { return order_; }
  /// Still in the program? False for ops that were removed, or whose parents were.
  bool is_there(OpId op) const { return !gone_[op]; }

  /// The value as of now: replacements are followed.
  ValueId resolve(ValueId v) const {
    while (map_[v] != v) v = map_[v];
    return v;
  }
  ValueId operand(OpId op, uint32_t i) const { return resolve(p_.operand(op, i)); }
  /// The bits of a constant, or nothing.
  std::optional<uint64_t> constant(ValueId v) const;
  /// The op that makes the value, or none for an argument.
  OpId def(ValueId v) const { return p_.values[resolve(v)].def; }

  /// From now on `to` stands for `from`. It must be visible wherever `from` is used.
  void replace(ValueId from, ValueId to);
  /// A new op before another one; its location is that op's.
  ValueId insert(OpId before, Opcode code, Type type, std::span<const ValueId> operands,
                 Type result, uint64_t attr = 0);
  ValueId insert_constant(OpId before, Type type, uint64_t bits);
  /// Takes the op away, with all that is in it. Nobody may use its results any more when finish()
  /// runs.
  void remove(OpId op);
  /// Puts the ops of a block of `op` in its place; if the block ends with `yield`, what it yields
  /// replaces the results of `op`. If it leaves instead, what follows `op` is taken away, and the
  /// leaving op ends the block around. The other blocks of `op` are taken away.
  void dissolve(OpId op, uint32_t block);
  /// Takes away everything behind the op in its block.
  void remove_after(OpId op);
  void mark_changed() { changed_ = true; }

  /// Applies everything and compacts, if anything was done.
  bool finish();

 private:
  void forget(OpId op);

  Program& p_;
  std::vector<OpId> order_;
  IdMap<ValueId, ValueId> map_;
  IdMap<OpId, bool> gone_;
  bool changed_ = false;
};

}  // namespace vyre::opt
