#pragma once

// Properties of constants that emitters need.

#include "ir/constant_trips.h"
#include "ir/program.h"

namespace vyre {

/// Values that are made from numbers.
inline bool never_nan(const Program& p, ValueId v) {
  const OpId def = p.values[v].def;
  if (def == none) return false;
  const Op& o = p.op(def);
  if (o.code == Opcode::Const) {
    const uint64_t infinity = o.type == Type::F32 ? 0x7f800000 : 0x7ff0000000000000;
    return (o.attr & low_mask(width_of(o.type) - 1)) <= infinity;
  }
  return o.code == Opcode::Cast && !is_float(p.type(p.operand(def, 0)));
}

/// The word that a 64-bit integer was widened from, or the value itself.
inline ValueId without_widening(const Program& p, ValueId v) {
  const OpId def = p.values[v].def;
  if (def == none || p.op(def).code != Opcode::Cast || width_of(p.op(def).type) != 64) return v;
  const ValueId from = p.operand(def, 0);
  return is_integer(p.type(from)) && width_of(p.type(from)) == 32 ? from : v;
}

/// A constant index as a number, in 64 bits with its sign.
inline uint64_t index_number(Type t, uint64_t bits) {
  const uint64_t number = bits & low_mask(width_of(t));
  const bool is_negative = is_signed(t) && number >> (width_of(t) - 1);
  return is_negative ? number | ~low_mask(width_of(t)) : number;
}

/// True if every index of the type, + plus, is below the count of an array; e.g. a table of 256
/// elements indexed by a byte.
inline bool is_always_inside(Type t, uint32_t plus, uint64_t count) {
  return !is_signed(t) && width_of(t) <= 32 && low_mask(width_of(t)) + plus < count;
}

/// True if index + plus, in exact integers, is below the count of an array.
inline bool is_inside(Type t, uint64_t bits, uint32_t plus, uint64_t count) {
  const uint64_t number = index_number(t, bits), at = number + plus;
  const bool wraps = !is_signed(t) && at < number;
  return !wraps && at < count;
}

}  // namespace vyre
