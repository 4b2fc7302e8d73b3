#pragma once

// Shared by rewriting passes: replacing values, making constants, removing ops and dissolving
// blocks, all collected and applied at once at the end.
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
  /// True if the op is still in the program: neither it nor one of its parents was removed.
  bool is_there(OpId op) const { return !gone_[op]; }

  /// Returns the current value: replacements are followed.
  ValueId resolve(ValueId v) const {
    while (map_[v] != v) v = map_[v];
    return v;
  }
  ValueId operand(OpId op, uint32_t i) const { return resolve(p_.operand(op, i)); }
  /// Returns the bits of a constant, or nothing.
  std::optional<uint64_t> constant(ValueId v) const;
  /// Returns the op that defines the value, or none for an argument.
  OpId def(ValueId v) const { return p_.values[resolve(v)].def; }

  /// Replaces `from` by `to` from now on. `to` must be visible wherever `from` is used.
  void replace(ValueId from, ValueId to);
  /// Adds an op before another one, with the location of that op.
  ValueId insert(OpId before, Opcode code, Type type, std::span<const ValueId> operands,
                 Type result, uint64_t attr = 0);
  ValueId insert_constant(OpId before, Type type, uint64_t bits);
  /// Removes the op with all ops in it. Its results must have no uses left when finish() runs.
  void remove(OpId op);
  /// Replaces `op` by the ops of one of its blocks; if the block ends with `yield`, the yielded
  /// values replace the results of `op`. If it leaves instead, the ops after `op` are removed, and
  /// the leaving op ends the enclosing block. The other blocks of `op` are removed.
  void dissolve(OpId op, uint32_t block);
  /// Removes all ops after the op in its block.
  void remove_after(OpId op);
  void mark_changed() { changed_ = true; }

  /// Applies all changes, and compacts the program if there were any.
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
