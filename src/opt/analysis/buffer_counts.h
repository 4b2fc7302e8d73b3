#pragma once

// Numbers of elements of buffers, as far as they are the same for every launch: bounds from
// formulas and the specification's limits, and pairs of which one is never above the other. All in
// exact integers. Runs in time linear in buffers and formula nodes. A program with len(b) is never
// launched with 2^32 elements of b; the analysis does not use this, because a pass may remove the
// `len`.

#include <vector>

#include "ir/program.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {

class BufferCounts {
 public:
  explicit BufferCounts(const Program& program);

  struct Bounds {
    Wide lo = 0, hi = 0;
  };
  /// Bounds of the number of elements of a buffer.
  const Bounds& of(BufferId buffer) const { return counts_[buffer]; }
  /// The formula of a buffer's count, in which `len(p)` is replaced by the formula of p if it has
  /// one; no_formula if the count is passed at launch.
  FormulaId formula(BufferId buffer) const;
  /// True if formulas a and b are equal by their structure.
  bool is_equal(FormulaId a, FormulaId b) const { return is_equal(a, b, most_depth); }
  /// True if a + slack <= b in every launch, as far as structure and bounds show.
  bool is_at_most(FormulaId a, Wide slack, FormulaId b) const {
    return is_at_most(a, slack, b, most_depth);
  }
  /// As is_at_most(), for counts of buffers with or without formulas.
  bool count_is_at_most(BufferId a, Wide slack, BufferId b) const;

 private:
  static constexpr int most_depth = 12;  // formulas are small; deeper ones are not analyzed
  FormulaId see_through(FormulaId id) const;
  bool is_equal(FormulaId a, FormulaId b, int depth) const;
  bool is_at_most(FormulaId a, Wide slack, FormulaId b, int depth) const;

  const Program* p_;
  IdMap<BufferId, Bounds> counts_;  // by buffer
  std::vector<Bounds> formulas_;    // by formula
};

}  // namespace vyre::opt
