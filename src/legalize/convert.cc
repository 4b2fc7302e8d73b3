// Conversions from and to floats.

#include "legalize/float_format.h"
#include "legalize/floats.h"
#include "legalize/soft.h"

namespace vyre::emit_exact {

Term Floats::convert(Type to, const Term& x) {
  if (is_native(Opcode::Cast, to, x.type)) return cast(to, x);
  if (to == Type::F64 && x.type == Type::F32) return widen(x);
  if (to == Type::F32 && x.type == Type::F64) return narrow(x);
  if (to == Type::Bool) return (bits(x) << 1) != 0;
  return is_float(to) ? from_integer(to, x) : to_integer(to, x);
}

Term Floats::widen(const Term& x) {
  if (p_.widen) return cast(Type::F64, x);
  const Term word = bits(x), magnitude = word & 0x7fffffffu;
  const Term sign = cast(Type::U64, word & 0x80000000u) << 32;
  constexpr uint64_t rebias = (1023ull - 127) << 52;
  const Term subnormal = magnitude < (1u << 23);
  const Term shifted = (cast(Type::U64, magnitude) << 29) + rebias;
  // Infinities and NaN have the largest exponent there, too.
  const Term normal = shifted + select(magnitude >= 0x7f800000u, c_.constant(Type::U64, rebias), 0);
  Term tiny;
  if (p_.add64) {
    // With the next exponent the bits are those of 2^-126 and the subnormal.
    const Term least = c_.constant(Type::F64, (1023ull - 126) << 52);
    tiny = bits(c_.op(Opcode::Sub, Type::F64, {real(shifted + (1ull << 52)), least}));
  } else {
    const Term n = clz(magnitude);  // 9 … 31, or 32 for 0
    const Term exponent = cast(Type::U64, (1023 - 149 + 31) - n) << 52;
    const Term fraction =
        (cast(Type::U64, magnitude) << (cast(Type::U64, n) + 21)) & ((1ull << 52) - 1);
    // Named in order: the evaluation order of arguments is unspecified.
    const Term nonzero = exponent | fraction;
    tiny = select(magnitude == 0, 0, nonzero);
  }
  return real(select(subnormal, tiny, normal) | sign);
}

Term Floats::narrow(const Term& x) {
  if (p_.narrow) return cast(Type::F32, x);
  const Term word = bits(x), magnitude = word & ~(1ull << 63);
  const Term sign = cast(Type::U32, word >> 32) & 0x80000000u;
  constexpr uint64_t rebias = (1023ull - 127) << 52;
  const Term infinity = c_.constant(Type::U64, 0x7f800000u);
  const Term based = magnitude - rebias;
  const Term odd = (based >> 29) & 1;
  const Term rounded = (based + 0x0fffffffu + odd) >> 29;
  const Term limited = min(rounded, infinity);
  const Term normal = cast(Type::U32, select(magnitude > (0x47full << 52), infinity, limited));
  Term tiny;
  if (p_.add64) {
    // Beside 2^-97 the last bit is 2^-149.
    constexpr uint64_t base = (1023ull - 97) << 52;
    const Term sum = c_.op(Opcode::Add, Type::F64, {real(magnitude), c_.constant(Type::F64, base)});
    tiny = cast(Type::U32, bits(sum) - base);
  } else {
    // The first bits of the significand, and a sticky bit for the others.
    const Term significand = ((magnitude << 11) | (1ull << 63));
    const Term lost = one_if(Type::U32, cast(Type::U32, significand) != 0);
    const Term wide_exponent =
        max(as(Type::I64, magnitude >> 52) - (1023 - 127), c_.constant(Type::I64, -200));
    const Term exponent = cast(Type::I32, wide_exponent);
    tiny = round_to_float(cast(Type::U32, significand >> 32) | lost, exponent);
  }
  const Term number = select(magnitude < ((1023ull - 126) << 52), tiny, normal);
  const Term signed_number = number | sign;
  return real(select(magnitude > (0x7ffull << 52), 0x7fc00000u, signed_number));
}

/// Truncates and saturates; NaN gives 0.
Term Floats::to_integer(Type to, const Term& x) {
  const Shape f = shape_of(x.type);
  const bool wide = x.type == Type::F64 || width_of(to) == 64;
  const Shape w = shape_of(wide ? Type::F64 : Type::F32);  // in whose words it computes
  const Term word = bits(x), stored = word & f.magnitude;
  const Term negative = (word & f.sign) != 0;
  const Term field = cast(w.word, stored >> f.fraction);
  const Term significand = (cast(w.word, stored & (f.leading - 1)) | f.leading)
                           << (w.width - 1 - f.fraction);
  // A number below 1 has no bits left, even if the shift would leave one.
  const Term shift =
      min(c_.constant(w.word, f.bias + w.width - 1) - field, c_.constant(w.word, w.width - 1));
  const Term shifted = significand >> shift;
  const Term size = select(field < f.bias, 0, shifted);
  const Term none = stored > f.infinity;
  if (is_signed(to)) {
    const uint64_t highest = w.magnitude, lowest = w.sign;
    const Term inside = select(negative, 0 - size, size);
    const Term outside = select(negative, c_.constant(w.word, lowest), highest);
    const Term full = as(w.number, select(field >= f.bias + w.width - 1, outside, inside));
    const Term value = select(none, 0, full);
    if (width_of(to) == w.width) return value;
    const auto limit = [&](uint64_t bits) { return c_.constant(w.number, bits); };
    const uint64_t top = low_mask(width_of(to) - 1);
    return cast(to, min(max(value, limit(~top)), limit(top)));
  }
  const Term full = select(field >= f.bias + w.width, low_mask(w.width), size);
  const Term value = select(none | negative, 0, full);
  if (width_of(to) == w.width) return value;
  return cast(to, min(value, c_.constant(w.word, low_mask(width_of(to)))));
}

Term Floats::from_integer(Type to, const Term& x) {
  const Shape f = shape_of(to);
  if (x.type == Type::Bool)
    return select(x, c_.constant(to, f.bias << f.fraction), c_.constant(to, 0));
  const bool wide = to == Type::F64 || width_of(x.type) == 64;
  const Shape w = shape_of(wide ? Type::F64 : Type::F32);
  const Term whole = cast(is_signed(x.type) ? w.number : w.word, x);
  const Term word = as(w.word, whole);
  const Term negative = is_signed(x.type) ? whole < 0 : c_.constant(Type::Bool, 0);
  const Term size = select(negative, 0 - word, word);
  const Term n = clz(size);
  Term significand = size << n;
  Term exponent = (f.bias + w.width - 1) - n;
  if (wide && to == Type::F32) {
    const Term lost = one_if(Type::U32, cast(Type::U32, significand) != 0);
    significand = cast(Type::U32, significand >> 32) | lost;
    exponent = cast(Type::U32, exponent);
  }
  // Rounded as in round_to_float, but it can be neither subnormal nor too large.
  const Term kept = significand >> f.spare;
  const Term odd = kept & 1;
  const Term rest = (significand << (f.width - f.spare)) | odd;
  const Term up = one_if(f.word, rest > f.top());
  const Term number = kept + ((exponent - 1) << f.fraction) + up;
  const Term sign = select(negative, c_.constant(f.word, f.sign), 0);
  return real(select(size == 0, 0, number) | sign);
}

}  // namespace vyre::emit_exact
