#pragma once

// The number of iterations of a loop, where constants determine it. Emitters use it: a loop with
// few iterations need not check the stop flag.

#include <optional>
#include <vector>

#include "ir/program.h"

namespace vyre {

/// The bits of a constant, or nothing.
inline std::optional<uint64_t> constant_bits(const Program& p, ValueId v) {
  const OpId def = p.values[v].def;
  if (def == none || p.op(def).code != Opcode::Const) return std::nullopt;
  return p.op(def).attr;
}

/// Returns nothing for other loops, and for a step that is not positive.
inline std::optional<uint64_t> constant_trips(const Program& p, OpId loop) {
  if (p.op(loop).code != Opcode::For) return std::nullopt;
  const auto lo = constant_bits(p, p.operand(loop, 0)), hi = constant_bits(p, p.operand(loop, 1));
  const auto step = constant_bits(p, p.operand(loop, 2));
  const Type t = p.type(p.operand(loop, 0));
  if (!lo || !hi || !step) return std::nullopt;
  const uint64_t mask = low_mask(width_of(t)), sign = is_signed(t) ? mask - mask / 2 : 0;
  if (*step == 0 || *step & sign) return std::nullopt;
  // With the sign flipped, signed numbers are ordered as unsigned ones.
  const uint64_t first = (*lo ^ sign) & mask, end = (*hi ^ sign) & mask;
  return end <= first ? 0 : (end - first - 1) / *step + 1;
}

/// For a `while` that carries `v` from `init` and replaces it by `change` in each iteration: the
/// maximum number of iterations that `test`, one of the conditions for another iteration, allows.
inline std::optional<uint64_t> trips_of_test(const Program& p, OpId test, ValueId v, uint64_t init,
                                             OpId change) {
  const Opcode code = p.op(test).code;
  const Type t = p.type(v);
  const uint32_t width = width_of(t);
  const bool swapped = p.op(change).code == Opcode::Add && p.operand(change, 1) == v;
  if (p.operand(test, 0) != v || p.operand(change, swapped) != v) return std::nullopt;
  const auto limit = constant_bits(p, p.operand(test, 1)),
             by = constant_bits(p, p.operand(change, !swapped));
  if (!limit || !by || *by == 0) return std::nullopt;
  // Both numbers are below 2^(width - 1), so they are not negative, whatever the type.
  const uint64_t most = low_mask(width - 1);
  switch (p.op(change).code) {
    case Opcode::Add:
      if (code != Opcode::Lt || init > most || *limit > most || *by > most - *limit)
        return std::nullopt;
      return *limit <= init ? 0 : (*limit - init - 1) / *by + 1;
    case Opcode::Shl:  // below the limit it is at most half of what fits, and it is never 0
      if (code != Opcode::Lt || *by != 1 || init == 0 || init > most || *limit > most)
        return std::nullopt;
      return width;
    case Opcode::Shr:  // eventually 0
      if (is_signed(t) || *by >= width) return std::nullopt;
      if (code != Opcode::Gt && !(code == Opcode::Ne && *limit == 0)) return std::nullopt;
      return width;
    default: return std::nullopt;
  }
}

/// Returns an upper bound of the iterations of a loop. For a `while`, one carried number must start
/// as a constant and be changed in one way, so that the test eventually fails whatever its other
/// conditions are.
inline std::optional<uint64_t> most_trips(const Program& p, OpId loop) {
  const Op& o = p.op(loop);
  if (o.code != Opcode::While) return constant_trips(p, loop);
  const BlockId head = o.first_block, body = head + 1;
  const OpId end = p.blocks[head].last, yield = p.blocks[body].last;
  if (p.op(end).code != Opcode::Test || p.op(yield).code != Opcode::Yield) return std::nullopt;
  const auto args = p.args(head);
  std::optional<uint64_t> found;
  std::vector<ValueId> conditions = {p.operand(end, 0)};
  for (size_t at = 0; at < conditions.size() && at < 8 && !found; ++at) {
    const OpId test = p.values[conditions[at]].def;
    if (test == none || p.op(test).operands.count != 2) continue;
    if (p.op(test).code == Opcode::And) {
      for (const ValueId part : p.operands(test)) conditions.push_back(part);
      continue;
    }
    for (size_t k = 0; k < args.size() && !found; ++k) {
      const OpId change = p.values[p.operand(yield, uint32_t(k))].def;
      const auto init = constant_bits(p, p.operand(loop, uint32_t(k)));
      if (!init || change == none || p.op(change).operands.count != 2 ||
          !is_integer(p.type(args[k])))
        continue;
      found = trips_of_test(p, test, args[k], *init, change);
    }
  }
  if (!found) return std::nullopt;
  bool continues = false;  // possibly with other values
  walk_blocks(p, body, [&](Visit what, OpId op, BlockId) {
    if (what == Visit::Op && p.op(op).code == Opcode::Continue) continues = true;
  });
  return continues ? std::nullopt : found;
}

}  // namespace vyre
