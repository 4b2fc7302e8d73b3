#pragma once

#include "ir/eval/eval.h"
#include "ir/ops.h"

namespace vyre {

/// The scalar op that a reduction or scan of a subgroup repeats.
constexpr Opcode reduction_step(Opcode code) {
  switch (code) {
    case Opcode::SubgroupMin: return Opcode::Min;
    case Opcode::SubgroupMax: return Opcode::Max;
    case Opcode::SubgroupAnd: return Opcode::And;
    case Opcode::SubgroupOr: return Opcode::Or;
    case Opcode::SubgroupXor: return Opcode::Xor;
    default: return Opcode::Add;
  }
}

/// Returns the bits of the identity of the reduction: the value that an absent lane contributes.
constexpr uint64_t reduction_identity(Opcode code, Type t) {
  const uint64_t ones = low_mask(width_of(t));
  const uint64_t sign = is_float(t) || is_signed(t) ? 1ull << (width_of(t) - 1) : 0;
  switch (code) {
    case Opcode::SubgroupAnd: return ones;
    case Opcode::SubgroupMin:
      if (is_float(t)) return t == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
      return ones & ~sign;
    case Opcode::SubgroupMax:
      if (is_float(t)) return t == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
      return sign;
    case Opcode::SubgroupAdd: return is_float(t) ? sign : 0;  // -0.0
    default: return 0;
  }
}

}  // namespace vyre
