#pragma once

// Which values a value can have: an interval and known bits (value_range.h), and which values it is
// below.
//
// For every integer value, and bool as 0 or 1. What is said holds in every invocation that computes
// the value, in every launch: ids are bounded by the specification (and local_id, lane_id and
// workgroup_size by the program), lengths and scalars by their types and formulas, loads by their
// element or table. of(v) counts the conditions that must have held where v is computed; at(v, op)
// also those that must have held to get to op: the arms of an `if`, tests of loops, asserts before,
// and what is left of a block after an `if` that leaves it. An invocation that trapped does not get
// any further, so what follows an assert may count on it. A pass that moves an op out from under
// its conditions loses them.
//
// Loops: an outermost loop is walked in rounds, with what it and the loops in it carry growing from
// round to round and soon jumping to the type's ends, until nothing grows; two more rounds then
// shrink what jumped too far: towards the loop's test, and for what counts up or down in a `for` by
// the number of its iterations. The number of rounds is bounded, so all is linear in ops and
// operands.

#include <span>
#include <vector>

#include "ir/program.h"
#include "opt/analysis/range_rules.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {

class Ranges {
 public:
  explicit Ranges(const Program& program);
  /// Of integers and bools; of other types nothing is known.
  const ValueRange& of(ValueId v) const { return by_value_[v]; }
  /// The same, narrowed by the conditions around an op that may use v.
  ValueRange at(ValueId v, OpId op) const { return at(v, op, look_through); }
  /// Made by a sum, difference, product, left shift or negation whose exact result fits its type.
  bool no_wrap(ValueId v) const { return no_wrap_[v]; }

  /// A value as base + offset in exact integers: casts that keep the number and sums and
  /// differences with constants that do not wrap are seen through.
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
  /// What a base (of a Shifted) is known to be below at an op. Appends.
  void below(ValueId base, OpId op, std::vector<Below>& list) const;

  const RangeRules& rules() const { return rules_; }
  /// Walks that the loop with the most of them needed.
  uint32_t rounds() const { return rounds_; }

 private:
  friend class RangeWalk;
  static constexpr int look_through = 2;  // ops between a value and what a condition says

  /// Something that holds from one position of the program to another. Those of one value are in
  /// order of `begin`; `outer` is the one that held when this one began.
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
