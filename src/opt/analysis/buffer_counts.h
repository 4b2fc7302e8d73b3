#pragma once

// How many elements buffers have, as far as that is the same for every launch: bounds from formulas
// and the specification's limits, and when one count is never above another. All in exact integers.
// Linear in buffers and formula nodes. That a program which asks for len(b) is never launched with
// 2^32 elements of b is left out on purpose: a pass may remove the `len`.

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
  /// Of the number of elements of a buffer.
  const Bounds& of(BufferId buffer) const { return counts_[buffer]; }
  /// The formula of a buffer's count, with `len(p)` of a p that has a formula seen through;
  /// no_formula if the count is given at launch.
  FormulaId formula(BufferId buffer) const;
  /// Is formula a the same number as formula b, by their structure?
  bool is_equal(FormulaId a, FormulaId b) const { return is_equal(a, b, most_depth); }
  /// Is a + slack <= b in every launch, as far as structure and bounds tell?
  bool is_at_most(FormulaId a, Wide slack, FormulaId b) const {
    return is_at_most(a, slack, b, most_depth);
  }
  /// The same for counts of buffers, with or without formulas.
  bool count_is_at_most(BufferId a, Wide slack, BufferId b) const;

 private:
  static constexpr int most_depth = 12;  // formulas are small; deeper ones are not understood
  FormulaId see_through(FormulaId id) const;
  bool is_equal(FormulaId a, FormulaId b, int depth) const;
  bool is_at_most(FormulaId a, Wide slack, FormulaId b, int depth) const;

  const Program* p_;
  IdMap<BufferId, Bounds> counts_;  // by buffer
  std::vector<Bounds> formulas_;    // by formula
};

}  // namespace vyre::opt
