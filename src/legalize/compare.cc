// Signs, comparisons, min and max by integers.

#include "ir/op_properties.h"
#include "legalize/float_format.h"
#include "legalize/floats.h"

namespace vyre::emit_exact {
namespace {

Term magnitude_of(const Term& word) { return word & low_mask(width_of(word.type) - 1); }

/// The bits as a signed number.
Term signed_bits(const Term& x) {
  return x.code->marked(OpMark::AnyNan, Opcode::Bitcast, shape_of(x.type).number, {x});
}

/// A signed number that is ordered as the floats are; both zeros are 0. Not for NaN.
Term ordered(const Term& number) {
  const Term sign = number >> (width_of(number.type) - 1);
  return (magnitude_of(number) ^ sign) - sign;
}

/// The same with -0 just below +0. Its own inverse.
Term strict(const Term& number) {
  return number ^ magnitude_of(number >> (width_of(number.type) - 1));
}

/// Compares bits with a number that is not zero.
Term compare_bits(Opcode code, const Term& u, uint64_t constant, const Shape& s) {
  if (code == Opcode::Eq) return u == constant;
  if (code == Opcode::Ne) return u != constant;
  if (constant & s.sign) return compare_bits(mirrored(code), u ^ s.sign, constant ^ s.sign, s);
  const auto number = [&] { return as(s.number, u); };
  const auto no_negative_nan = [&] { return u <= (s.sign | s.infinity); };
  switch (code) {
    case Opcode::Gt: return (u - (constant + 1)) < s.infinity - constant;
    case Opcode::Ge: return (u - constant) <= s.infinity - constant;
    default: {
      // Named in order: the evaluation order of arguments is unspecified.
      const Term is_number = no_negative_nan();
      return (code == Opcode::Lt ? number() < constant : number() <= constant) & is_number;
    }
  }
}

/// Compares bits with zero, which has two representations.
Term compare_zero(Opcode code, const Term& u, const Shape& s) {
  switch (code) {
    case Opcode::Eq: return (u << 1) == 0;
    case Opcode::Ne: return (u << 1) != 0;
    case Opcode::Gt: return (u - 1) < s.infinity;
    case Opcode::Ge: {
      const Term negative_zero = u == s.sign;
      return (u <= s.infinity) | negative_zero;
    }
    case Opcode::Lt: return (u - (s.sign + 1)) < s.infinity;
    default: {
      const Term is_number = u <= (s.sign | s.infinity);
      return (as(s.number, u) <= 0) & is_number;
    }
  }
}

}  // namespace

Term Floats::neg(const Term& x) {
  if (is_native(Opcode::Neg, x.type, x.type)) return c_.op(Opcode::Neg, x.type, {x});
  return real(bits(x) ^ shape_of(x.type).sign);
}

Term Floats::abs(const Term& x) {
  if (is_native(Opcode::Abs, x.type, x.type)) return c_.op(Opcode::Abs, x.type, {x});
  return real(magnitude_of(bits(x)));
}

Term Floats::is_nan(const Term& x) {
  if (is_native(Opcode::IsNan, x.type, x.type)) return c_.op(Opcode::IsNan, x.type, {x});
  return magnitude_of(bits(x)) > shape_of(x.type).infinity;
}

Term Floats::is_inf(const Term& x) {
  if (is_native(Opcode::IsInf, x.type, x.type)) return c_.op(Opcode::IsInf, x.type, {x});
  return magnitude_of(bits(x)) == shape_of(x.type).infinity;
}

Term Floats::compare(Opcode code, const Term& a, const Term& b) {
  if (is_native(code, a.type, a.type)) return native(code, a, b);
  if (b.is_constant()) return compare_with(code, a, b);
  if (a.is_constant()) return compare_with(mirrored(code), b, a);
  const Shape s = shape_of(a.type);
  const Term x = signed_bits(a), y = signed_bits(b);
  const Term my = magnitude_of(y), mx = magnitude_of(x);
  const Term numbers = max(mx, my) <= s.infinity;
  if (code == Opcode::Eq || code == Opcode::Ne) {
    const Term zeros = ((x | y) << 1) == 0;
    const Term equal = ((x == y) | zeros) & numbers;
    return code == Opcode::Eq ? equal : !equal;
  }
  const Term i = ordered(x), j = ordered(y);
  return c_.op(code, i.type, {i, j}) & numbers;
}

Term Floats::compare_with(Opcode code, const Term& x, const Term& constant) {
  const Shape s = shape_of(x.type);
  const uint64_t magnitude = constant.bits & s.magnitude;
  if (magnitude > s.infinity) return c_.constant(Type::Bool, code == Opcode::Ne);
  if (magnitude == 0) return compare_zero(code, bits(x), s);
  // Flushing the other operand to a zero of its sign changes nothing. (Comparing bits for equality
  // has the same cost.)
  const bool ordering = code != Opcode::Eq && code != Opcode::Ne;
  const bool right = x.type == Type::F32 && (p_.compare32 || p_.compare_normal32);
  if (right && ordering && is_large_constant(constant)) return native(code, x, constant);
  return compare_bits(code, bits(x), constant.bits, s);
}

Term Floats::extreme(Opcode code, const Term& a, const Term& b) {
  if (is_native(code, a.type, a.type)) return native(code, a, b);
  const Shape s = shape_of(a.type);
  const Opcode wins = code == Opcode::Min ? Opcode::Lt : Opcode::Gt;
  // Against a number that is not zero only equal bits tie, and a NaN loses.
  for (const bool swapped : {false, true}) {
    const Term &x = swapped ? b : a, &k = swapped ? a : b;
    if (!k.is_constant() || (k.bits & s.magnitude) > s.infinity) continue;
    if (is_large_constant(k) || (k.bits == 0 && code == Opcode::Max))
      return select(compare(wins, x, k), x, k);
    if (k.bits == 0) return select((bits(x) ^ s.sign) <= s.infinity, x, k);
  }
  if (is_native(Opcode::Lt, a.type, a.type)) {
    const Term unordered = native(Opcode::Ne, b, b);
    const Term first = native(wins, a, b) | unordered;
    // Equal numbers have equal bits, but for zeros.
    const Term x = bits(a), y = bits(b);
    const Term both = real(code == Opcode::Min ? x | y : x & y);
    const Term one = select(first, a, b);
    return select(native(Opcode::Eq, a, b), both, one);
  }
  const auto key = [&](const Term& number) {
    const uint64_t loses = code == Opcode::Min ? s.magnitude : s.sign;
    const Term place = strict(number);
    return select(magnitude_of(number) > s.infinity, loses, place);
  };
  const Term i = key(signed_bits(a)), j = key(signed_bits(b));
  return real(strict(c_.op(code, i.type, {i, j})));
}

}  // namespace vyre::emit_exact
