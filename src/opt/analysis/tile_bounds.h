#pragma once

// Tile bounds: the position of a value as seen from its workgroup, between two lines
//
//   group · workgroup_id.x + local · local_id.x + offset
//
// for every invocation of every launch of at most the given number of workgroups in x. A value that
// wraps when computed by + - * << is still known modulo 2^width, which is enough for an index: the
// distance to the workgroup's tile is right in the same arithmetic. Comparisons, divisions and
// minima need the number itself, and `exact` says that it is known.
//
// More precise than `affine` (which has one form of a value, not bounds) for loops from
// sat_sub(begin, halo) to min(begin + tile, len(x)), values of an `if`, and quotients by constants.
// A value that it cannot analyze has the bounds of `ranges`. Runs in time linear in the number of
// ops.

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

/// If there are lines, some number e lies between them; the value is e, or if not exact e modulo
/// 2^width.
struct TileBounds {
  std::optional<TileLine> low, high;
  bool exact = true;
};

/// All values that an index can have in a workgroup: group · workgroup_id.x + [low, high].
struct TileWindow {
  Wide group = 0, low = 0, high = 0;
  bool exact = true;
  bool operator==(const TileWindow&) const = default;
};

class TileForms {
 public:
  TileForms(const Program& program, const Ranges& ranges, uint64_t most_workgroups);
  const TileBounds& of(ValueId v) const { return forms_[v]; }
  /// Returns the window of an integer that an op uses.
  std::optional<TileWindow> window(ValueId v, OpId at) const;
  /// The same for each invocation i = global_id.x: a · i + [low, high], with `group` for a. None if
  /// the value does not depend on workgroup and lane in this way.
  std::optional<TileWindow> by_invocation(ValueId v, OpId at) const;

  /// Returns the largest number of workgroups in x that a launch can have by the specification.
  static uint64_t most_workgroups(const Program& program);

 private:
  friend class TileWalk;
  TileBounds use(ValueId v, OpId at) const;

  const Program* p_;
  const Ranges* ranges_;
  IdMap<ValueId, TileBounds> forms_;
};

}  // namespace vyre::opt
