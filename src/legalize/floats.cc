#include "legalize/floats.h"

#include "legalize/soft.h"

namespace vyre::emit_exact {

bool is_native(const Profile& p, Opcode code, Type type, Type source) {
  const bool wide = type == Type::F64;
  switch (code) {
    case Opcode::Cast:
      if (type == source) return true;
      if (is_float(type) && is_float(source)) return type == Type::F64 ? p.widen : p.narrow;
      if (!is_float(type) && !is_float(source)) return true;
      // 64-bit integers become pairs later, and pairs have no float conversions.
      if (!p.int64 && (width_of(type) == 64 || width_of(source) == 64)) return false;
      if (type == Type::Bool) return source == Type::F64 ? p.compare64 : p.compare32;
      return type == Type::F64 || source == Type::F64 ? p.convert64 : p.convert32;
    case Opcode::Neg:
    case Opcode::Abs:
      // For f32 the emitter makes masks of them.
      return type != Type::F64 || (p.add64 && p.mul64 && p.compare64);
    case Opcode::IsNan:
    case Opcode::IsInf:
    case Opcode::Eq:
    case Opcode::Ne:
    case Opcode::Lt:
    case Opcode::Le:
    case Opcode::Gt:
    case Opcode::Ge: return !is_float(source) || (source == Type::F64 ? p.compare64 : p.compare32);
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Clamp: return !is_float(type) || (wide ? p.min_max64 : p.min_max32);
    case Opcode::Add:
    case Opcode::Sub: return !is_float(type) || (wide ? p.add64 : p.add32);
    case Opcode::Mul: return !is_float(type) || (wide ? p.mul64 : p.mul32);
    case Opcode::Div: return !is_float(type) || (wide ? p.div64 : p.div32);
    case Opcode::Fma: return wide ? p.fma64 : p.fma32;
    case Opcode::Sqrt: return wide ? p.sqrt64 : p.sqrt32;
    case Opcode::Rsqrt: return wide ? p.sqrt64 && p.div64 : p.sqrt32 && p.div32;
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::Round:
    case Opcode::Trunc: return wide ? p.round64 : p.round32;
    default: return true;
  }
}

bool compares32(Opcode code, Type type, Type source) {
  if (source != Type::F32) return false;
  return (code >= Opcode::Eq && code <= Opcode::Ge) || (code == Opcode::Cast && type == Type::Bool);
}

Term Floats::expand(Opcode code, Type type, std::span<const Term> x) {
  switch (code) {
    case Opcode::Cast: return convert(type, x[0]);
    case Opcode::Neg: return neg(x[0]);
    case Opcode::Abs: return abs(x[0]);
    case Opcode::IsNan: return is_nan(x[0]);
    case Opcode::IsInf: return is_inf(x[0]);
    case Opcode::Eq:
    case Opcode::Ne:
    case Opcode::Lt:
    case Opcode::Le:
    case Opcode::Gt:
    case Opcode::Ge: return compare(code, x[0], x[1]);
    case Opcode::Min:
    case Opcode::Max: return extreme(code, x[0], x[1]);
    case Opcode::Clamp: return minimum(maximum(x[0], x[1]), x[2]);
    case Opcode::Add:
    case Opcode::Sub: return add_signed(code, x[0], x[1]);
    case Opcode::Mul: return mul(x[0], x[1]);
    case Opcode::Div: return div(x[0], x[1]);
    case Opcode::Fma: return fma(x[0], x[1], x[2]);
    case Opcode::Sqrt: return sqrt(x[0]);
    case Opcode::Rsqrt: {
      const uint64_t one = type == Type::F64 ? 0x3ffull << 52 : 0x3f800000u;
      return div(c_.constant(type, one), sqrt(x[0]));
    }
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::Round:
    case Opcode::Trunc: return round(code, x[0]);
    default: return c_.op(code, type, x);
  }
}

/// Quotients and roots by one op of f64 are not longer than a call.
bool Floats::is_short(Opcode code, Type type) const {
  if (type == Type::F64 || !has_f64() || !p_.widen || !p_.narrow) return false;
  return code == Opcode::Div ? p_.div64 : code == Opcode::Sqrt && p_.sqrt64;
}

Term Floats::by_long_form(Opcode code, std::initializer_list<Term> x) {
  const Type type = x.begin()->type;
  if (functions_ && !is_short(code, type)) return c_.marked(OpMark::ByFunction, code, type, x);
  return long_form(code, {x.begin(), x.size()});
}

Term Floats::long_form(Opcode code, std::span<const Term> x) {
  switch (code) {
    case Opcode::Add: return long_add(x[0], x[1]);
    case Opcode::Mul: {
      // Named in order: the evaluation order of arguments is unspecified.
      const Term b = bits(x[1]), a = bits(x[0]);
      return real(soft_mul(a, b));
    }
    case Opcode::Div: return long_div(x[0], x[1]);
    case Opcode::Sqrt: return long_sqrt(x[0]);
    default: return long_fma(x[0], x[1], x[2]);
  }
}

}  // namespace vyre::emit_exact
