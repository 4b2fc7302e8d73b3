#pragma once

// How an integer runs over the lanes of a subgroup: as a base that is the same for all plus a
// constant times the lane, in the arithmetic of its type. An access whose index does so in steps of
// one is a plain vector access.
//
// Lanes that are switched off don't count: in a loop that lanes leave one by one, all that are
// still in it have gone round equally often, so the counter keeps its shape.
//
// Besides, an upper limit where one is plain to see (ids, constants, sums and products of those),
// for indices that cannot be out of bounds.

#include <optional>
#include <vector>

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

class Shapes {
 public:
  explicit Shapes(const Prepared& kernel);

  /// From lane to lane; 0 if all are the same; none if it is no such value.
  std::optional<int64_t> stride(ValueId v) const { return of_[v].stride; }
  /// Is it a base with a step that is not 0?
  bool steps(ValueId v) const { return of_[v].stride && *of_[v].stride != 0; }
  /// True if base + lane · stride does not wrap in the type.
  bool is_exact(ValueId v) const { return of_[v].exact; }
  /// 0 <= value <= limit, in every lane that is on.
  std::optional<uint64_t> limit(ValueId v) const { return of_[v].limit; }

 private:
  struct Shape {
    std::optional<int64_t> stride;
    std::optional<uint64_t> limit;
    bool exact = false;  // base + lane * stride does not wrap
  };
  friend class ShapeFinder;
  IdMap<ValueId, Shape> of_;
};

}  // namespace vyre::emit_llvm
