#pragma once

// Which accesses are inside their buffer in every launch: index below the buffer's count, and not
// negative.
//
// Known from ranges; from conditions that hold at the access (`i < n`, where n is never above the
// count: len(b) or len64(b), the length of a buffer whose formula says that it is no longer, the
// formula itself written out in the kernel, a minimum with one of them …); from the bounds of a
// `for`; and from formulas. A launch's grid bounds no id: lanes past the end run. Cheap to make,
// each question is a bounded search.

#include "opt/analysis/ranges.h"

namespace vyre::opt {

class BoundsFacts {
 public:
  BoundsFacts(const Program& program, const Ranges& ranges) : p_(program), ranges_(ranges) {}

  /// Is 0 <= index and index + more < count of the buffer, for whoever gets to the op?
  bool proves_below(ValueId index, BufferId buffer, OpId at, uint64_t more = 0) const;
  /// Is all that a memory op touches inside: all elements of load_n and store_n, all bytes of
  /// load_as?
  bool proves_access(OpId op) const;

 private:
  // A question is asked of at most so many values, to this depth.
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
