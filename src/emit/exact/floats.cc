#include "emit/exact/floats.h"

namespace vyre::emit_exact {

Floats::Floats(Maker& code, const Profile& profile) : c_(code), p_(profile) {}

bool Floats::is_native(Opcode code, Type type, Type source) const {
  const bool wide = type == Type::F64;
  switch (code) {
    case Opcode::Cast:
      if (type == source) return true;
      if (is_float(type) && is_float(source)) return type == Type::F64 ? p_.widen : p_.narrow;
      if (!is_float(type) && !is_float(source)) return true;
      // 64-bit integers become pairs later, which know nothing of floats.
      if (!p_.int64 && (width_of(type) == 64 || width_of(source) == 64)) return false;
      if (type == Type::Bool) return source == Type::F64 ? p_.compare64 : p_.compare32;
      return type == Type::F64 || source == Type::F64 ? p_.convert64 : p_.convert32;
    case Opcode::Neg:
    case Opcode::Abs:
      // Of f32 the emitter makes masks of them.
      return type != Type::F64 || (p_.add64 && p_.mul64 && p_.compare64);
    case Opcode::IsNan:
    case Opcode::IsInf:
    case Opcode::Eq:
    case Opcode::Ne:
    case Opcode::Lt:
    case Opcode::Le:
    case Opcode::Gt:
    case Opcode::Ge:
      return !is_float(source) || (source == Type::F64 ? p_.compare64 : p_.compare32);
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Clamp:
      return !is_float(type) || (wide ? p_.min_max64 : p_.min_max32);
    case Opcode::Add:
    case Opcode::Sub:
      return !is_float(type) || (wide ? p_.add64 : p_.add32);
    case Opcode::Mul:
      return !is_float(type) || (wide ? p_.mul64 : p_.mul32);
    case Opcode::Div:
      return !is_float(type) || (wide ? p_.div64 : p_.div32);
    case Opcode::Fma:
      return wide ? p_.fma64 : p_.fma32;
    case Opcode::Sqrt:
      return wide ? p_.sqrt64 : p_.sqrt32;
    case Opcode::Rsqrt:
      return wide ? p_.sqrt64 && p_.div64 : p_.sqrt32 && p_.div32;
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::Round:
    case Opcode::Trunc:
      return wide ? p_.round64 : p_.round32;
    default:
      return true;
  }
}

Term Floats::expand(Opcode code, Type type, std::span<const Term> x) {
  switch (code) {
    case Opcode::Cast:
      return convert(type, x[0]);
    case Opcode::Neg:
      return neg(x[0]);
    case Opcode::Abs:
      return abs(x[0]);
    case Opcode::IsNan:
      return is_nan(x[0]);
    case Opcode::IsInf:
      return is_inf(x[0]);
    case Opcode::Eq:
    case Opcode::Ne:
    case Opcode::Lt:
    case Opcode::Le:
    case Opcode::Gt:
    case Opcode::Ge:
      return compare(code, x[0], x[1]);
    case Opcode::Min:
    case Opcode::Max:
      return extreme(code, x[0], x[1]);
    case Opcode::Clamp:
      return minimum(maximum(x[0], x[1]), x[2]);
    case Opcode::Add:
    case Opcode::Sub:
      return add_signed(code, x[0], x[1]);
    case Opcode::Mul:
      return mul(x[0], x[1]);
    case Opcode::Div:
      return div(x[0], x[1]);
    case Opcode::Fma:
      return fma(x[0], x[1], x[2]);
    case Opcode::Sqrt:
      return sqrt(x[0]);
    case Opcode::Rsqrt: {
      const uint64_t one = type == Type::F64 ? 0x3ffull << 52 : 0x3f800000u;
      return div(c_.constant(type, one), sqrt(x[0]));
    }
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::Round:
    case Opcode::Trunc:
      return round(code, x[0]);
    default:
      return c_.op(code, type, x);
  }
}

}  // namespace vyre::emit_exact
