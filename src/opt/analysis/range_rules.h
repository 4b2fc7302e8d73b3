#pragma once

// Transfer functions of each op on ranges of its operands: the specified arithmetic on sets.

#include <span>
#include <vector>

#include "opt/analysis/buffer_counts.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {

class RangeRules {
 public:
  explicit RangeRules(const Program& program);

  struct Result {
    ValueRange range;
    /// The exact sum, difference, product, shift or negation fits into the type for all operands.
    bool no_wrap = false;
  };
  /// Computes a result of an op without blocks, from its operands' ranges.
  Result apply(OpId op, uint32_t result, std::span<const ValueRange> operands) const;
  /// The counter of a `for` from the ranges of lo, hi and step.
  ValueRange counter(Type type, const ValueRange& lo, const ValueRange& hi,
                     const ValueRange& step) const;
  const BufferCounts& counts() const { return counts_; }

 private:
  ValueRange source(OpId op) const;
  ValueRange element(OpId op) const;
  ValueRange subgroup(OpId op, const ValueRange& a) const;

  const Program* p_;
  BufferCounts counts_;
  IdMap<BufferId, ValueRange> tables_;  // by buffer: the elements of a table, and 0
};

/// Pure integer ops on operands of known ranges, the type's rules alone. `type` is the op's T,
/// `source` the type of operand 0.
RangeRules::Result apply_pure(Opcode code, Type type, Type source,
                              std::span<const ValueRange> operands);

}  // namespace vyre::opt
