#pragma once

// Loops that are worth writing out: emitters for GPUs write several bodies a round, or tell the
// device's compiler to.

#include <optional>

#include "ir/constant_trips.h"

namespace vyre {

struct ShortLoop {
  uint64_t trips = 0;
  uint64_t ops = 0;  // of one body
};

/// If its trips are a constant, two or more, and its body is straight enough to be written several
/// times: it falls through, nobody waits for anybody in it, and there is no loop inside.
inline std::optional<ShortLoop> short_loop(const Program& p, OpId loop) {
  const auto trips = constant_trips(p, loop);
  const BlockId body = p.op(loop).first_block;
  if (!trips || *trips < 2 || p.op(p.blocks[body].last).code != Opcode::Yield) return std::nullopt;
  ShortLoop found{*trips, 0};
  bool is_straight = true;
  walk(p, body, [&](OpId id) {
    const Opcode code = p.op(id).code;
    const Effect effect = info(code).effect;
    found.ops += code != Opcode::Const;
    is_straight &= !is_loop(code) && code != Opcode::Continue && code != Opcode::UniformLoad &&
                   effect != Effect::Sync && effect != Effect::Convergent;
  });
  return is_straight ? std::optional(found) : std::nullopt;
}

}  // namespace vyre
