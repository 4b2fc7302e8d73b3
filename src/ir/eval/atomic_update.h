#pragma once

// The updates that atomics make to an element, to decide whether their order matters.

#include <cstdint>

#include "ir/ops.h"
#include "ir/types.h"

namespace vyre {

/// Updates of one kind commute with one another, but for FloatAdd, Write and Cas. Updates of
/// different kinds do not commute.
enum class AtomicUpdate : uint8_t { None, Add, Min, Max, And, Or, Xor, FloatAdd, Write, Cas };
inline constexpr size_t num_atomic_updates = 10;

/// None for atomic_load and for what is not atomic.
constexpr AtomicUpdate update_of(Opcode code, Type type) {
  switch (code) {
    case Opcode::AtomicAdd: return type == Type::F32 ? AtomicUpdate::FloatAdd : AtomicUpdate::Add;
    case Opcode::AtomicSub: return AtomicUpdate::Add;
    case Opcode::AtomicMin: return AtomicUpdate::Min;
    case Opcode::AtomicMax: return AtomicUpdate::Max;
    case Opcode::AtomicAnd: return AtomicUpdate::And;
    case Opcode::AtomicOr: return AtomicUpdate::Or;
    case Opcode::AtomicXor: return AtomicUpdate::Xor;
    case Opcode::AtomicExchange:
    case Opcode::AtomicStore: return AtomicUpdate::Write;
    case Opcode::AtomicCas: return AtomicUpdate::Cas;
    default: return AtomicUpdate::None;
  }
}

/// True if the final value of an element does not depend on the order of the two. `same_values`:
/// both write the same value, and a compare-and-swap expects the same, too.
constexpr bool commute(AtomicUpdate a, AtomicUpdate b, bool same_values) {
  if (a == AtomicUpdate::None || b == AtomicUpdate::None) return true;
  if (a != b) return false;
  if (a == AtomicUpdate::FloatAdd) return false;
  return (a != AtomicUpdate::Write && a != AtomicUpdate::Cas) || same_values;
}

}  // namespace vyre
