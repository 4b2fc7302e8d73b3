#pragma once

// The meaning of every pure op, over lanes. The interpreter runs these functions over all lanes of
// a workgroup; the constant folder runs them over one. It is the only definition.
//
// Lanes are arrays of the natural type: uint8_t 0/1 for bool, (u)int8_t … (u)int64_t, float,
// double. The result never overlaps an operand.

#include <cstddef>
#include <cstdint>

#include "ir/ops.h"

namespace vyre {

using EvalFn = void (*)(size_t lanes, void* out, const void* const* in);

/// The function for an op with T = `type`; `source` is the type of operand 0 (it matters for casts,
/// comparisons take T from it). Null for ops that have no eval: constants, ids, memory, control.
EvalFn find_eval(Opcode code, Type type, Type source);

/// One lane, bits in and out (low bits of a uint64_t; bool 0 or 1).
uint64_t eval_bits(Opcode code, Type type, Type source, const uint64_t* in, size_t count);

/// Conversions of storage elements. NaN becomes canonical when stored.
float from_f16(uint16_t bits);
float from_bf16(uint16_t bits);
uint16_t to_f16(float value);
uint16_t to_bf16(float value);

inline constexpr uint32_t canonical_nan_f32 = 0x7fc00000u;
inline constexpr uint64_t canonical_nan_f64 = 0x7ff8000000000000ull;

/// Round to nearest even, subnormals kept, no exceptions; restores the caller's state. Code that
/// calls eval or runs kernels holds one.
class ExactFloats {
 public:
  ExactFloats();
  ~ExactFloats();
  ExactFloats(const ExactFloats&) = delete;
  ExactFloats& operator=(const ExactFloats&) = delete;

 private:
  uint64_t saved_;
};

}  // namespace vyre
