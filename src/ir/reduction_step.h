#pragma once

#include "ir/ops.h"

namespace vyre {

/// The scalar op that a reduction or scan of a subgroup repeats.
constexpr Opcode reduction_step(Opcode code) {
  switch (code) {
    case Opcode::SubgroupMin:
      return Opcode::Min;
    case Opcode::SubgroupMax:
      return Opcode::Max;
    case Opcode::SubgroupAnd:
      return Opcode::And;
    case Opcode::SubgroupOr:
      return Opcode::Or;
    case Opcode::SubgroupXor:
      return Opcode::Xor;
    default:
      return Opcode::Add;
  }
}

}  // namespace vyre
