#pragma once

// How often a `for` runs, where its bounds are constants. Emitters ask: a loop with few trips need
// not look whether it should stop.

#include <optional>

#include "ir/program.h"

namespace vyre {

/// The bits of a constant, or nothing.
inline std::optional<uint64_t> constant_bits(const Program& p, ValueId v) {
  const OpId def = p.values[v].def;
  if (def == none || p.op(def).code != Opcode::Const) return std::nullopt;
  return p.op(def).attr;
}

/// Nothing for other loops, and for bounds that are negative or a step that is not positive.
inline std::optional<uint64_t> constant_trips(const Program& p, OpId loop) {
  if (p.op(loop).code != Opcode::For) return std::nullopt;
  const auto lo = constant_bits(p, p.operand(loop, 0)), hi = constant_bits(p, p.operand(loop, 1));
  const auto step = constant_bits(p, p.operand(loop, 2));
  const Type t = p.type(p.operand(loop, 0));
  if (!lo || !hi || !step) return std::nullopt;
  const uint64_t limit = is_signed(t) ? low_mask(width_of(t) - 1) : low_mask(width_of(t));
  if (*lo > limit || *hi > limit || *step > limit || *step == 0) return std::nullopt;
  return *hi <= *lo ? 0 : (*hi - *lo - 1) / *step + 1;
}

}  // namespace vyre
