#pragma once

// Range analysis: an interval and known bits (value_range.h) of each value, and values that are its
// upper bounds.
//
// Covers every integer value, and bool as 0 or 1. A range holds in every invocation that computes
// the value, in every launch: ids are bounded by the specification (and local_id, lane_id and
// workgroup_size by the program), lengths and scalars by their types and formulas, loads by their
// element or table. of(v) uses the conditions that must have held where v is computed. at(v, op)
// also uses those that must have held to reach op: the branches of an `if`, tests of loops, earlier
// asserts, and for the rest of a block the condition of an `if` that leaves it. An invocation that
// trapped does not continue, so ops after an assert may rely on it. A pass that moves an op out of
// its conditions loses them.
//
// Loops: the walk iterates over an outermost loop. The ranges of values that it and the loops in it
// carry grow with each iteration, and soon jump to the type's ends, until none grows. Two more
// iterations then narrow ranges that jumped too far: towards the loop's test, and for values that
// count up or down in a `for` by its number of iterations. The number of iterations is bounded, so
// the analysis runs in time linear in ops and operands.

#include <span>
#include <vector>

#include "ir/program.h"
#include "opt/analysis/range_rules.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {

class Ranges {
 public:
  explicit Ranges(const Program& program);
  /// The range of an integer or bool; other types have no known range.
  const ValueRange& of(ValueId v) const { return by_value_[v]; }
  /// The same, narrowed by the conditions around an op that may use v.
  ValueRange at(ValueId v, OpId op) const { return at(v, op, look_through); }
  /// True if v is a sum, difference, product, left shift or negation whose exact result fits its
  /// type.
  bool no_wrap(ValueId v) const { return no_wrap_[v]; }

  /// A value as base + offset in exact integers. Follows casts that keep the number, and sums and
  /// differences with constants that do not wrap.
  struct Shifted {
    ValueId base = none;
    Wide offset = 0;
  };
  Shifted split(ValueId v) const;

  /// base + offset < above, or <= if not strict, in exact integers.
  struct Below {
    Wide offset = 0;
    ValueId above = none;
    bool strict = false;
  };
  /// Appends the known upper bounds of a base (of a Shifted) at an op.
  void below(ValueId base, OpId op, std::vector<Below>& list) const;

  const RangeRules& rules() const { return rules_; }
  /// The largest number of iterations that the walk needed for a loop.
  uint32_t rounds() const { return rounds_; }

 private:
  friend class RangeWalk;
  static constexpr int look_through = 2;  // ops between a value and the operand of a condition

  /// A range or bound that holds from one position of the program to another. Entries of one value
  /// are in order of `begin`; `outer` is the one that held when this one began.
  struct Span {
    uint32_t begin = 0, end = 0;
    uint32_t outer = none;
  };
  struct Narrowed : Span {
    ValueId value = none;
    ValueRange range;
  };
  struct Bound : Span {
    ValueId value = none;
    Below below;
  };
  /// Entries of a list by value.
  struct Index {
    IdMap<ValueId, uint32_t> begin;
    std::vector<uint32_t> entry;
    template <class T>
    void build(size_t values, const std::vector<T>& list);
    /// The last entry of v that begins at or before a position, or none.
    template <class T>
    uint32_t find(const std::vector<T>& list, ValueId v, uint32_t position) const;
  };

  ValueRange at(ValueId v, OpId op, int depth) const;

  const Program* program_;
  RangeRules rules_;
  IdMap<ValueId, ValueRange> by_value_;
  IdMap<ValueId, bool> no_wrap_;
  IdMap<OpId, uint32_t> position_;  // by op, in program order
  std::vector<Narrowed> narrowed_;
  std::vector<Bound> bounds_;
  Index narrowed_of_, bounds_of_;
  uint32_t rounds_ = 0;
};

}  // namespace vyre::opt
