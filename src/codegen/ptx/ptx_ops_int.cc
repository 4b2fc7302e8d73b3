// Integers of 32 and 64 bits (legalization has made words of narrow ones), with comparisons, minima
// and bitwise logic of all widths. Divisions are those that the instructions get right.

#include "codegen/ptx/ptx_emitter.h"
#include "legalize/expand.h"

namespace vyre::emit_ptx {

void Emitter::integer(Opcode code, Type t, const Text& to, std::span<const Text> in) {
  const std::string_view s = suffix(t), b = bits_suffix(t);
  const auto binary = [&](std::string_view op, std::string_view type) {
    ins("{}.{} {}, {}, {}", op, type, to, in[0], in[1]);
  };
  switch (code) {
    case Opcode::Add: return binary("add", s);
    case Opcode::Sub: return binary("sub", s);
    case Opcode::Mul: return binary("mul.lo", s);
    case Opcode::MulHi: return binary("mul.hi", s);
    case Opcode::Div: return binary("div", s);
    case Opcode::Rem: return binary("rem", s);
    case Opcode::Min: return binary("min", s);
    case Opcode::Max: return binary("max", s);
    case Opcode::SatAdd: return binary("add.sat", s);
    case Opcode::SatSub: return binary("sub.sat", s);
    case Opcode::And: return binary("and", b);
    case Opcode::Or: return binary("or", b);
    case Opcode::Xor: return binary("xor", b);
    case Opcode::Shl: return binary("shl", b);
    case Opcode::Shr: return binary("shr", s);
    case Opcode::RotL: return ins("shf.l.wrap.b32 {}, {}, {}, {}", to, in[0], in[0], in[1]);
    case Opcode::RotR: return ins("shf.r.wrap.b32 {}, {}, {}, {}", to, in[0], in[0], in[1]);
    case Opcode::Neg: return ins("neg.{} {}, {}", s, to, in[0]);
    case Opcode::Not: return ins("not.{} {}, {}", b, to, in[0]);
    case Opcode::ReverseBits: return ins("brev.{} {}, {}", b, to, in[0]);
    case Opcode::Clamp: {
      const Text low = temp(t);
      ins("max.{} {}, {}, {}", s, low, in[0], in[1]);
      return ins("min.{} {}, {}, {}", s, to, low, in[2]);
    }
    case Opcode::Abs: {
      if (!is_signed(t)) return move(t, to, in[0]);
      const Text minus = temp(t);  // of MIN it is MIN
      ins("neg.{} {}, {}", s, minus, in[0]);
      return ins("max.{} {}, {}, {}", s, to, in[0], minus);
    }
    default: return count_bits(code, t, to, in[0]);
  }
}

void Emitter::count_bits(Opcode code, Type t, const Text& to, const Text& bits) {
  const std::string_view b = bits_suffix(t);
  const Text n = width_of(t) == 64 ? word() : to;
  if (code == Opcode::Ctz) {  // the leading zeros of the reverse
    const Text reverse = temp(t);
    ins("brev.{} {}, {}", b, reverse, bits);
    ins("clz.{} {}, {}", b, n, reverse);
  } else {
    ins("{}.{} {}, {}", code == Opcode::Clz ? "clz" : "popc", b, n, bits);
  }
  if (width_of(t) == 64) ins("cvt.u64.u32 {}, {}", to, n);
}

/// The amount of a shift or rotation in 32 bits. It is taken modulo the width, while PTX's shifts
/// clamp it.
Emitter::Text Emitter::amount_of(OpId id) {
  const Op& o = p_.op(id);
  const ValueId n = without_widening(p_, p_.operand(id, 1));
  const uint64_t mask = width_of(o.type) - 1;
  if (const auto c = constant(n)) return fmt::format("{}", *c & mask);
  Text low = reg(n);
  if (width_of(p_.type(n)) == 64) {
    const Text wide = low;
    low = word();
    ins("cvt.u32.u64 {}, {}", low, wide);
  }
  const bool rotates = o.code == Opcode::RotL || o.code == Opcode::RotR;
  if (rotates || emit_exact::has_mark(o, OpMark::InRange)) return low;
  Text amount = word();
  ins("and.b32 {}, {}, {}", amount, low, mask);
  return amount;
}

}  // namespace vyre::emit_ptx
