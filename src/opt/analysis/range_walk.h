#pragma once

// The walk that computes Ranges (ranges.h): once over the program with the conditions of every
// place. At each outermost loop it iterates over the loop until its carried values are stable.

#include <vector>

#include "opt/analysis/ranges.h"

namespace vyre::opt {

class RangeWalk {
 public:
  explicit RangeWalk(Ranges& ranges);
  void run();

 private:
  enum class Mode : uint8_t {
    Grow,    // loops' values are joined with their old ranges
    Shrink,  // and replaced by the ranges that flow in from outside and from the body
    Record   // nothing changes any more: record the conditions of each place
  };
  static constexpr uint32_t rounds_before_jump = 2, rounds_before_all = 8, most_rounds = 14;

  void walk_from(BlockId root);
  void settle(OpId loop);
  void forget_carried(OpId loop);
  void enter(BlockId block);
  void leave(BlockId block);
  void visit(OpId op);
  void exit(OpId op);
  void apply(OpId op);

  // Loops.
  void enter_for(OpId op, BlockId body);
  void enter_carried(OpId op, BlockId block, uint32_t first_operand, uint32_t first_argument);
  void finish_loop(OpId op);
  void update_argument(ValueId argument, ValueId initial, const ValueRange* bound);
  ValueRange jump(Type type, const ValueRange& old, const ValueRange& grown) const;
  /// Bounds of a value that each iteration of a `for` changes by a bounded step; none for other
  /// values.
  std::optional<ValueRange> counted(OpId loop, uint32_t carried) const;
  struct Step {
    Wide lo = 0, hi = 0;
  };
  std::optional<Step> step_of(ValueId v, ValueId argument, int depth) const;

  // Conditions (range_conditions.cc). They hold until the scope that is open ends.
  void assume(ValueId condition, bool truth);
  void assume_comparison(Opcode code, ValueId a, ValueId b);
  void narrow(ValueId v, const ValueRange& to);
  void narrow(ValueId v, Wide lo, Wide hi);
  void narrow_operands(ValueId v);
  void bound(ValueId a, ValueId b, bool strict);
  void open_scope() { scopes_.push_back({undo_.size(), opened_.size(), opened_bounds_.size()}); }
  void close_scope();

  /// Joins the ranges that flow into a value from several places.
  void merge(ValueId into, const ValueRange& r);
  ValueRange merged(ValueId v) const;

  const Program& p_;
  Ranges& out_;
  Mode mode_ = Mode::Record;
  uint32_t round_ = 0;  // over the outermost loop
  uint32_t most_rounds_seen_ = 1;
  bool changed_ = false;
  uint32_t next_ = 0;  // position of the op that comes next

  IdMap<ValueId, ValueRange> now_;  // by value, at the current place
  IdMap<ValueId, ValueRange> merged_;
  IdMap<ValueId, bool> has_merged_;
  std::vector<OpId> loops_;      // around the current place
  IdMap<OpId, bool> continued_;  // by loop: has a `continue`
  IdMap<OpId, bool> carries_;    // by outermost loop: it or a loop in it carries values

  struct Undo {
    ValueId value;
    ValueRange range;
  };
  struct Scope {
    size_t undo, opened, bounds;
  };
  std::vector<Undo> undo_;
  std::vector<Scope> scopes_;
  std::vector<uint32_t> opened_, opened_bounds_;       // of out_.narrowed_, out_.bounds_
  IdMap<ValueId, uint32_t> top_narrowed_, top_bound_;  // by value: the entry that holds now
  struct Assumption {
    ValueId condition;
    bool truth;
  };
  std::vector<Assumption> assumptions_;
  std::vector<ValueId> narrowed_now_;
};

}  // namespace vyre::opt
