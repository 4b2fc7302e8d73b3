// Conversions. Float to integer truncates and saturates, and NaN gives 0. The instruction does all
// of that from f32 to 32 bits; with 64 bits on either side a NaN gives another result.

#include "codegen/ptx/ptx_emitter.h"
#include "ir/eval/eval.h"

namespace vyre::emit_ptx {

void Emitter::cast(Type to, Type from, const Text& result, const Text& x) {
  if (to == Type::Bool) {
    if (from == Type::Bool) return move(to, result, x);
    const Text zero = immediate(from, 0);
    return ins("setp.{}.{} {}, {}, {}", is_float(from) ? "neu" : "ne", suffix(from), result, x,
               zero);
  }
  if (from == Type::Bool) {
    const Text one =
        is_float(to) ? immediate(to, to == Type::F32 ? 0x3f800000 : 0x3ff0000000000000) : "1";
    return ins("selp.{} {}, {}, {}, {}", is_float(to) ? suffix(to) : bits_suffix(to), result, one,
               immediate(to, 0), x);
  }
  if (is_float(from) && is_integer(to)) return float_to_int(to, from, result, x);
  if (is_float(from)) {
    if (to == from) return move(to, result, x);
    return to == Type::F64 ? ins("cvt.f64.f32 {}, {}", result, x)
                           : ins("cvt.rn.f32.f64 {}, {}", result, x);
  }
  if (is_float(to)) return ins("cvt.rn.{}.{} {}, {}", suffix(to), suffix(from), result, x);
  // Between integers.
  if (width_of(to) == 64) {
    if (width_of(from) == 64) return move(to, result, x);
    return ins("cvt.{}.{} {}, {}", is_signed(from) ? "s64" : "u64", suffix(from), result, x);
  }
  Text low = x;
  if (width_of(from) == 64) {
    low = width_of(to) == 32 ? result : word();
    ins("cvt.u32.u64 {}, {}", low, x);
  }
  // 32-bit registers hold narrow values extended, so taking one as 32 bits is right as it is.
  if (width_of(to) < 32) return normalize(to, result, low);
  move(to, result, low);
}

void Emitter::float_to_int(Type to, Type from, const Text& result, const Text& x) {
  const std::string_view s = suffix(to), f = suffix(from);
  if (width_of(to) == 32 && from == Type::F32) return ins("cvt.rzi.{}.f32 {}, {}", s, result, x);
  const Text whole = temp(to), is_nan = pred();
  ins("cvt.rzi.{}.{} {}, {}", s, f, whole, x);
  ins("setp.nan.{} {}, {}, {}", f, is_nan, x, x);
  ins("selp.{} {}, 0, {}, {}", bits_suffix(to), result, whole, is_nan);
}

/// A NaN that becomes an integer is the canonical one.
void Emitter::bitcast(Type to, Type from, const Text& result, const Text& x) {
  if (from == Type::Bool || to == Type::Bool) return cast(to, from, result, x);
  if (is_float(from) == is_float(to)) {
    if (is_float(from)) return move(to, result, x);
    return width_of(to) < 32 ? normalize(to, result, x) : move(to, result, x);
  }
  const std::string_view b = bits_suffix(to);
  if (is_float(to)) return ins("mov.{} {}, {}", b, result, x);
  const Text bits = temp(to), is_nan = pred();
  ins("mov.{} {}, {}", b, bits, x);
  ins("setp.nan.{} {}, {}, {}", suffix(from), is_nan, x, x);
  const uint64_t nan = from == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
  ins("selp.{} {}, {}, {}, {}", b, result, immediate(to, nan), bits, is_nan);
}

}  // namespace vyre::emit_ptx
