#pragma once

// Where a value lies as seen from its workgroup: between two lines
//
//   group · workgroup_id.x + local · local_id.x + offset
//
// for every invocation of every launch of at most `most_workgroups` workgroups in x. What a value
// computed by + - * << wraps to is still known modulo 2^width, which is enough for an index: the
// distance to the workgroup's own tile comes out right in the same arithmetic. Whoever compares,
// divides or takes a minimum needs the number itself, and that is what `exact` says.
//
// Knows more than `affine` (which has one form of a value, not bounds): loops from
// sat_sub(begin, halo) to min(begin + tile, len(x)), values of an `if`, quotients by constants.
// What it does not understand has the bounds of `ranges`. Linear.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"
#include "opt/analysis/ranges.h"

namespace vyre::opt {

struct TileLine {
  Wide group = 0, local = 0, offset = 0;
  bool is_constant() const { return group == 0 && local == 0; }
  bool operator==(const TileLine&) const = default;
};

/// Some number e between the lines, where there are any; the value is e, or if not exact e modulo
/// 2^width.
struct TileBounds {
  std::optional<TileLine> low, high;
  bool exact = true;
};

/// Everything that an index can be in a workgroup: group · workgroup_id.x + [low, high].
struct TileWindow {
  Wide group = 0, low = 0, high = 0;
  bool exact = true;
  bool operator==(const TileWindow&) const = default;
};

class TileForms {
 public:
  TileForms(const Program& program, const Ranges& ranges, uint64_t most_workgroups);
  const TileBounds& of(ValueId v) const { return forms_[v]; }
  /// Of an integer that an op uses.
  std::optional<TileWindow> window(ValueId v, OpId at) const;
  /// The same for each invocation i = global_id.x: a · i + [low, high], with `group` for a. None if
  /// the value does not depend on workgroup and lane in this way.
  std::optional<TileWindow> by_invocation(ValueId v, OpId at) const;

  /// The most workgroups in x that a launch of the program can have by the specification.
  static uint64_t most_workgroups(const Program& program);

 private:
  friend class TileWalk;
  TileBounds use(ValueId v, OpId at) const;

  const Program* p_;
  const Ranges* ranges_;
  IdMap<ValueId, TileBounds> forms_;
};

}  // namespace vyre::opt
