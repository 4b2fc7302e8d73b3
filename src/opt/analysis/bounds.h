#pragma once

// Bounds analysis: which accesses are inside their buffer in every launch, with the index below the
// buffer's count and not negative.
//
// The proofs use ranges; conditions that hold at the access (`i < n`, where n is never above the
// count: len(b) or len64(b), the length of a buffer that by its formula is never longer, the same
// formula computed in the kernel, a minimum with one of them …); the bounds of a `for`; and
// formulas. A launch's grid bounds no id: lanes past the end run. The constructor does no work;
// each query is a bounded search.

#include "opt/analysis/ranges.h"

namespace vyre::opt {

class BoundsFacts {
 public:
  BoundsFacts(const Program& program, const Ranges& ranges) : p_(program), ranges_(ranges) {}

  /// True if 0 <= index and index + more < count of the buffer, for all lanes that reach the op.
  bool proves_below(ValueId index, BufferId buffer, OpId at, uint64_t more = 0) const;
  /// True if all accesses of a memory op are inside: all elements of load_n and store_n, all bytes
  /// of load_as.
  bool proves_access(OpId op) const;

 private:
  // Limits of a query: the depth of the search, and the number of values that it visits.
  static constexpr int most_depth = 6;
  static constexpr int most_questions = 64;
  struct Search {
    BufferId buffer;
    OpId at;
    int questions = 0;
  };
  bool below(ValueId index, Wide more, Search& s, int depth) const;
  bool at_most(ValueId v, Wide slack, Search& s, int depth) const;
  bool is_formula(ValueId v, FormulaId f, int depth) const;
  bool scaled_below(ValueId index, Wide more, Search& s, int depth) const;

  const Program& p_;
  const Ranges& ranges_;
};

}  // namespace vyre::opt
