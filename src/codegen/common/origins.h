#pragma once

// The op of the given program that each op of the lowered program comes from: Location::origin,
// which every pass keeps. Emitters read source locations from the given program.

#include "ir/program.h"

namespace vyre {

/// Gives each op its own location, which names the op.
inline void mark_origins(Program& p) {
  p.locations.assign(p.ops.size(), {});
  for (const OpId op : p.ops.ids()) {
    p.locations[op.value()].origin = op;
    p.ops[op].loc = op.value();
  }
  p.loc = none;
}

/// The origin of each op; the first op for those that have none.
inline IdMap<OpId, OpId> origins(const Program& p) {
  IdMap<OpId, OpId> of(p.ops.size(), OpId(0));
  for (const OpId op : p.ops.ids())
    if (const LocId loc = p.ops[op].loc; loc != none) of[op] = p.locations[loc].origin;
  return of;
}

}  // namespace vyre
