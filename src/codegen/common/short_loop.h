#pragma once

// Loops that are worth unrolling: GPU emitters write several bodies per iteration, or request
// unrolling from the device's compiler.

#include <optional>

#include "ir/constant_trips.h"

namespace vyre {

struct ShortLoop {
  uint64_t trips = 0;
  uint64_t ops = 0;  // of one body
};

/// The ops of a loop's blocks, if the loop can be unrolled: the body falls through and contains no
/// barrier, subgroup op or loop.
inline std::optional<uint64_t> ops_of_straight_loop(const Program& p, OpId loop) {
  const Op& o = p.op(loop);
  const BlockId body = o.first_block + (o.n_blocks - 1);
  if (p.op(p.blocks[body].last).code != Opcode::Yield) return std::nullopt;
  uint64_t ops = 0;
  bool is_straight = true;
  for (BlockId block = o.first_block; block <= body; ++block)
    walk(p, block, [&](OpId id) {
      const Opcode code = p.op(id).code;
      const Effect effect = info(code).effect;
      ops += code != Opcode::Const;
      is_straight &= !is_loop(code) && code != Opcode::Continue && code != Opcode::UniformLoad &&
                     effect != Effect::Sync && effect != Effect::Convergent;
    });
  return is_straight ? std::optional(ops) : std::nullopt;
}

/// The trips and ops of the loop if it is straight and has a constant number of trips of at least
/// 2.
inline std::optional<ShortLoop> short_loop(const Program& p, OpId loop) {
  const auto trips = constant_trips(p, loop);
  if (!trips || *trips < 2) return std::nullopt;
  const auto ops = ops_of_straight_loop(p, loop);
  return ops ? std::optional(ShortLoop{*trips, *ops}) : std::nullopt;
}

}  // namespace vyre
