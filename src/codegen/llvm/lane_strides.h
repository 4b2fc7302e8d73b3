#pragma once

// Lane-stride analysis: an integer is base + stride · lane, where base is the same for all lanes
// and stride is a constant, in the arithmetic of its type. An access whose index has stride one is
// a plain vector access.
//
// Inactive lanes do not count: in a loop that lanes leave one by one, all lanes that are still in
// it have executed equally many iterations, so the counter keeps its stride.
//
// The analysis also finds upper limits in simple cases (ids, constants, sums and products of
// those), for indices that cannot be out of bounds.

#include <optional>
#include <vector>

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

class Shapes {
 public:
  explicit Shapes(const Prepared& kernel);

  /// The difference between neighbouring lanes; 0 if all lanes have the same value; none if it is
  /// not a constant.
  std::optional<int64_t> stride(ValueId v) const { return of_[v].stride; }
  /// True if the stride is known and not 0.
  bool steps(ValueId v) const { return of_[v].stride && *of_[v].stride != 0; }
  /// True if base + lane · stride does not wrap in the type.
  bool is_exact(ValueId v) const { return of_[v].exact; }
  /// 0 <= value <= limit in every active lane.
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
