// Conversions. Float to integer truncates and saturates, and NaN gives 0. On a device that does
// otherwise, legalization keeps such numbers away from the instruction.

#include "codegen/spirv/spirv_emitter.h"
#include "ir/eval/eval.h"

namespace vyre::emit_spirv {

Id Emitter::cast(Type to, Type from, Id x) {
  if (to == Type::Bool) {
    if (!is_float(from)) return ins(spv::OpINotEqual, b(), {x, zero_of(from)});
    // Everything but the sign: a comparison might flush a subnormal.
    return ins(spv::OpINotEqual, b(),
               {magnitude_of(from, bits_of(from, x)), zero_of(bits_as(from))});
  }
  if (from == Type::Bool) {
    const uint64_t one = to == Type::F32 ? 0x3f800000 : to == Type::F64 ? 0x3ff0000000000000 : 1;
    // Named in order: the evaluation order of arguments is unspecified.
    const Id no = zero_of(to), yes = constant_of(to, one);
    return select(to, x, yes, no);
  }
  if (is_float(from) && is_integer(to))
    return ins(is_signed(to) ? spv::OpConvertFToS : spv::OpConvertFToU, type_of(to), {x});
  if (is_float(from)) return ins(spv::OpFConvert, type_of(to), {x});
  if (is_float(to))
    return ins(is_signed(from) ? spv::OpConvertSToF : spv::OpConvertUToF, type_of(to), {x});
  // Between integers. Words hold narrow values extended, so taking one as 32 bits is right as it
  // is.
  if (width_of(to) == 64) {
    if (width_of(from) == 64) return x;
    return wide_of(from, x).low;
  }
  const Id low = width_of(from) == 64 ? ins(spv::OpUConvert, u32(), {x}) : x;
  return normalize(to, low);
}

/// A NaN that becomes an integer is the canonical one.
Id Emitter::bitcast(Type to, Type from, Id x, bool never_nan) {
  if (from == Type::Bool || to == Type::Bool) return cast(to, from, x);
  if (is_float(from) == is_float(to)) return is_float(from) ? x : normalize(to, x);
  if (is_float(to)) return from_bits(to, x);
  return canonical_bits(from, x, never_nan);
}

}  // namespace vyre::emit_spirv
