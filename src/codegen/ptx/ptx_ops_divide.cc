// Integer division. x/0 is all ones (unsigned) or 0 (signed), x%0 is 0, MIN/-1 is MIN, MIN%-1 is 0.
// The machine promises nothing for a divisor of 0 or for MIN/-1, so both are replaced by 1 first.

#include <bit>

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {

void Emitter::divide(Opcode code, Type t, const Text& to, const Text& a, const Text& b) {
  const bool is_signed = vyre::is_signed(t), wraps = width_of(t) >= 32;
  const std::string_view s = suffix(t), bits = bits_suffix(t);
  const Text zero = pred(), divisor = b[0] == '%' ? b : moved(t, b);
  Text safe = temp(t), minus_one;
  ins("setp.eq.{} {}, {}, 0", s, zero, divisor);
  ins("selp.{} {}, 1, {}, {}", bits, safe, divisor, zero);
  if (is_signed && wraps) {  // narrow ones have room for the quotient of MIN
    minus_one = pred();
    const Text safer = temp(t);
    ins("setp.eq.{} {}, {}, -1", s, minus_one, divisor);
    ins("selp.{} {}, 1, {}, {}", bits, safer, safe, minus_one);
    safe = safer;
  }
  if (code == Opcode::Rem) return ins("rem.{} {}, {}, {}", s, to, a, safe);  // x % 1 is 0
  Text quotient = temp(t);
  ins("div.{} {}, {}, {}", s, quotient, a, safe);
  if (code == Opcode::CeilDiv) {
    // Up by one where something is left and the quotient is positive: the remainder has the sign
    // of the dividend, so it must be that of the divisor.
    const Text product = temp(t), rest = temp(t), up = pred(), next = temp(t), other = temp(t);
    ins("mul.lo.{} {}, {}, {}", s, product, quotient, safe);
    ins("sub.{} {}, {}, {}", s, rest, a, product);
    ins("setp.ne.{} {}, {}, 0", s, up, rest);
    if (is_signed) {
      const Text same = temp(t);
      ins("xor.{} {}, {}, {}", bits, same, rest, safe);
      ins("setp.ge.and.{} {}, {}, 0, {}", s, up, same, up);
    }
    ins("add.{} {}, {}, 1", s, next, quotient);
    ins("selp.{} {}, {}, {}, {}", bits, other, next, quotient, up);
    quotient = other;
  }
  if (!minus_one.empty()) {
    const Text negated = temp(t), chosen = temp(t);  // MIN stays MIN
    ins("neg.{} {}, {}", s, negated, a);
    ins("selp.{} {}, {}, {}, {}", bits, chosen, negated, quotient, minus_one);
    quotient = chosen;
  }
  const Text at_zero = is_signed ? "0" : immediate(t, low_mask(width_of(t)));
  if (is_signed && !wraps) {
    const Text raw = word();
    ins("selp.b32 {}, 0, {}, {}", raw, quotient, zero);
    return normalize(t, to, raw);
  }
  ins("selp.{} {}, {}, {}, {}", bits, to, at_zero, quotient, zero);
}

/// Divisors that are known: no corners are left, and powers of two are shifts (the machine's
/// compiler does not see those). Others are mostly gone already, by the pass divide_by_constant.
bool Emitter::divide_by_constant(OpId id) {
  const Op& o = p_.op(id);
  if (o.code != Opcode::Div && o.code != Opcode::Rem && o.code != Opcode::CeilDiv) return false;
  const Type t = o.type;
  if (!is_integer(t)) return false;
  const auto c = constant(p_.operand(id, 1));
  if (!c) return false;
  const uint64_t by = *c & low_mask(width_of(t));
  if (by == 0 || (is_signed(t) && by == low_mask(width_of(t)))) return false;
  const Text a = reg(p_.operand(id, 0)), to = dest(p_.result(id));
  const std::string_view s = suffix(t), b = bits_suffix(t);
  if (!is_signed(t) && std::has_single_bit(by)) {
    const int log2 = std::countr_zero(by);
    if (o.code == Opcode::Rem)
      return ins("and.{} {}, {}, {}", b, to, a, immediate(t, by - 1)), true;
    if (o.code == Opcode::Div) return ins("shr.{} {}, {}, {}", s, to, a, log2), true;
    const Text quotient = temp(t), rest = temp(t), next = temp(t), up = pred();
    ins("shr.{} {}, {}, {}", s, quotient, a, log2);
    ins("and.{} {}, {}, {}", b, rest, a, immediate(t, by - 1));
    ins("setp.ne.{} {}, {}, 0", s, up, rest);
    ins("add.{} {}, {}, 1", s, next, quotient);
    ins("selp.{} {}, {}, {}, {}", b, to, next, quotient, up);
    return true;
  }
  if (o.code == Opcode::CeilDiv) return false;
  ins("{}.{} {}, {}, {}", o.code == Opcode::Div ? "div" : "rem", s, to, a, immediate(t, by));
  return true;
}

}  // namespace vyre::emit_ptx
