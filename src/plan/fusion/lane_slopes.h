#pragma once

// Lane slopes: how far an integer moves from one invocation to its neighbour in x. An access whose
// index has slope 1 is contiguous, slope 0 means one element for all, and no slope means that the
// elements are anywhere.
//
// The analysis estimates cost and proves nothing. A value is taken as piecewise linear: `max(i, 1)
// - 1`, `(i + 1) % n` and `i / w` keep the slope that they have between two breaks. Scalars and
// lengths of the launch are numbers.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace vyre::plan {

class LaneSlopes {
 public:
  using Slope = std::optional<double>;
  /// Returns the number of a uniform value that the launch determines: the result of Scalar, Len,
  /// NumWorkgroups …; none otherwise.
  using Number = std::function<std::optional<double>(const Op&)>;

  /// Runs in time linear in the number of ops times the depth of loops.
  LaneSlopes(const Program& program, const Number& number);
  Slope of(ValueId v) const { return values_[v].slope; }

 private:
  struct Value {
    Slope slope;
    std::optional<double> number;
    bool operator==(const Value&) const = default;
  };
  friend class LaneSlopeFinder;
  IdMap<ValueId, Value> values_;
};

}  // namespace vyre::plan
