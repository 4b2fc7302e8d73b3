#pragma once

// Properties of operations that several stages use.

#include "ir/ops.h"

namespace vyre {

/// The comparison with its operands exchanged: a < b is b > a. Other operations stay as they are.
constexpr Opcode mirrored(Opcode code) {
  switch (code) {
    case Opcode::Lt: return Opcode::Gt;
    case Opcode::Le: return Opcode::Ge;
    case Opcode::Gt: return Opcode::Lt;
    case Opcode::Ge: return Opcode::Le;
    default: return code;
  }
}

constexpr bool is_shift(Opcode code) { return code >= Opcode::Shl && code <= Opcode::RotR; }

constexpr bool is_ordered_comparison(Opcode code) { return mirrored(code) != code; }

/// Returns whether the op needs no operands and is the same for all invocations of a launch.
constexpr bool is_launch_constant(Opcode code) {
  switch (code) {
    case Opcode::Const:
    case Opcode::NumWorkgroups:
    case Opcode::WorkgroupSize:
    case Opcode::SubgroupSize:
    case Opcode::Len:
    case Opcode::Len64:
    case Opcode::Scalar: return true;
    default: return false;
  }
}

}  // namespace vyre
