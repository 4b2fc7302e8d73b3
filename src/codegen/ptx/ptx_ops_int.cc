// Integers. Those of 8 and 16 bits are computed in 32 bits and extended again where bits above may
// have changed.

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {

void Emitter::integer(Opcode code, Type t, const Text& to, std::span<const Text> in) {
  const bool narrow = width_of(t) < 32;
  const std::string_view s = suffix(t), b = bits_suffix(t);
  const auto wrap = [&](auto&& write) {
    if (!narrow) return write(to);
    const Text raw = word();
    write(raw);
    normalize(t, to, raw);
  };
  switch (code) {
    case Opcode::Add:
      return wrap([&](const Text& r) { ins("add.{} {}, {}, {}", s, r, in[0], in[1]); });
    case Opcode::Sub:
      return wrap([&](const Text& r) { ins("sub.{} {}, {}, {}", s, r, in[0], in[1]); });
    case Opcode::Mul:
      return wrap([&](const Text& r) { ins("mul.lo.{} {}, {}, {}", s, r, in[0], in[1]); });
    case Opcode::Neg: return wrap([&](const Text& r) { ins("neg.{} {}, {}", s, r, in[0]); });
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::CeilDiv: return divide(code, t, to, in[0], in[1]);
    case Opcode::Min: return ins("min.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Max: return ins("max.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Clamp: {
      const Text low = temp(t);
      ins("max.{} {}, {}, {}", s, low, in[0], in[1]);
      return ins("min.{} {}, {}, {}", s, to, low, in[2]);
    }
    case Opcode::Abs: {
      if (!is_signed(t)) return move(t, to, in[0]);
      const Text minus = temp(t);  // of MIN it is MIN
      ins("neg.{} {}, {}", s, minus, in[0]);
      return wrap([&](const Text& r) { ins("max.{} {}, {}, {}", s, r, in[0], minus); });
    }
    case Opcode::MulHi: {
      if (!narrow) return ins("mul.hi.{} {}, {}, {}", s, to, in[0], in[1]);
      const Text product = word();  // fits: its high half is extended already
      ins("mul.lo.{} {}, {}, {}", s, product, in[0], in[1]);
      return ins("shr.{} {}, {}, {}", s, to, product, width_of(t));
    }
    case Opcode::SatAdd:
    case Opcode::SatSub: return saturate(code, t, to, in[0], in[1]);
    case Opcode::And: return ins("and.{} {}, {}, {}", b, to, in[0], in[1]);
    case Opcode::Or: return ins("or.{} {}, {}, {}", b, to, in[0], in[1]);
    case Opcode::Xor: return ins("xor.{} {}, {}, {}", b, to, in[0], in[1]);
    case Opcode::Not: return wrap([&](const Text& r) { ins("not.{} {}, {}", b, r, in[0]); });
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::RotL:
    case Opcode::RotR: return shift(code, t, to, in[0], in[1]);
    case Opcode::Clz:
    case Opcode::Ctz:
    case Opcode::PopCount:
    case Opcode::ReverseBits: return count_bits(code, t, to, in[0]);
    default: return bit_field(code, t, to, in);
  }
}

void Emitter::saturate(Opcode code, Type t, const Text& to, const Text& a, const Text& b) {
  const bool add = code == Opcode::SatAdd;
  const unsigned width = width_of(t);
  const std::string_view s = suffix(t);
  if (!is_signed(t)) {
    const Text x = temp(t);
    if (!add) {  // max(a, b) - b
      ins("max.{} {}, {}, {}", s, x, a, b);
      return ins("sub.{} {}, {}, {}", s, to, x, b);
    }
    if (width < 32) {
      ins("add.u32 {}, {}, {}", x, a, b);
      return ins("min.u32 {}, {}, {}", to, x, low_mask(width));
    }
    const Text room = temp(t);  // min(a, MAX - b) + b
    ins("not.{} {}, {}", bits_suffix(t), room, b);
    ins("min.{} {}, {}, {}", s, x, a, room);
    return ins("add.{} {}, {}, {}", s, to, x, b);
  }
  if (width == 32) return ins("{}.sat.s32 {}, {}, {}", add ? "add" : "sub", to, a, b);
  if (width < 32) {
    const Text sum = word(), low = word();
    ins("{}.s32 {}, {}, {}", add ? "add" : "sub", sum, a, b);
    ins("max.s32 {}, {}, {}", low, sum, -(int64_t{1} << (width - 1)));
    return ins("min.s32 {}, {}, {}", to, low, (int64_t{1} << (width - 1)) - 1);
  }
  // It overflowed if the result's sign is wrong for both (a sum), or for a and unlike b's.
  const Text sum = wide(), x = wide(), y = wide(), limit = wide(), p = pred();
  ins("{}.s64 {}, {}, {}", add ? "add" : "sub", sum, a, b);
  ins("xor.b64 {}, {}, {}", x, a, sum);
  if (add)
    ins("xor.b64 {}, {}, {}", y, sum, b);
  else
    ins("xor.b64 {}, {}, {}", y, a, b);
  ins("and.b64 {}, {}, {}", x, x, y);
  ins("shr.s64 {}, {}, 63", limit, a);
  ins("xor.b64 {}, {}, 0x7fffffffffffffff", limit, limit);
  ins("setp.lt.s64 {}, {}, 0", p, x);
  ins("selp.b64 {}, {}, {}, {}", to, limit, sum, p);
}

/// Amounts are taken modulo the width; the machine's own shifts would stop at it.
void Emitter::shift(Opcode code, Type t, const Text& to, const Text& a, const Text& n) {
  const unsigned width = width_of(t);
  Text amount;  // 32 bits
  if (n[0] != '%') {
    amount =
        fmt::format("{}", std::stoull(n[0] == '-' ? n.substr(1) : n, nullptr, 0) & (width - 1));
    if (n[0] == '-')  // of a signed type: two's complement
      amount = fmt::format("{}", (0 - std::stoull(n.substr(1))) & (width - 1));
  } else {
    Text low = n;
    if (width == 64) {
      low = word();
      ins("cvt.u32.u64 {}, {}", low, n);
    }
    amount = word();
    ins("and.b32 {}, {}, {}", amount, low, width - 1);
  }
  const std::string_view b = bits_suffix(t);
  if (code == Opcode::Shr) return ins("shr.{} {}, {}, {}", suffix(t), to, a, amount);
  if (code == Opcode::Shl) {
    if (width >= 32) return ins("shl.{} {}, {}, {}", b, to, a, amount);
    const Text raw = word();
    ins("shl.b32 {}, {}, {}", raw, a, amount);
    return normalize(t, to, raw);
  }
  const bool left = code == Opcode::RotL;
  if (width == 32) return ins("shf.{}.wrap.b32 {}, {}, {}, {}", left ? "l" : "r", to, a, a, amount);
  const Text bits = zero_extended(t, a), back = word(), x = temp(t), y = temp(t);
  ins("sub.u32 {}, {}, {}", back, width, amount);  // a whole width has gone: 0 comes in
  ins("{}.{} {}, {}, {}", left ? "shl" : "shr",
      left          ? b
      : width == 64 ? "u64"
                    : "u32",
      x, bits, amount);
  ins("{}.{} {}, {}, {}", left ? "shr" : "shl", left ? width == 64 ? "u64" : "u32" : b, y, bits,
      back);
  if (width == 64) return ins("or.b64 {}, {}, {}", to, x, y);
  const Text both = word();
  ins("or.b32 {}, {}, {}", both, x, y);
  normalize(t, to, both);
}

void Emitter::count_bits(Opcode code, Type t, const Text& to, const Text& a) {
  const unsigned width = width_of(t);
  const std::string_view b = bits_suffix(t);
  const Text bits = zero_extended(t, a);
  if (code == Opcode::ReverseBits) {
    if (width >= 32) return ins("brev.{} {}, {}", b, to, bits);
    const Text all = word();
    ins("brev.b32 {}, {}", all, bits);
    return ins("shr.{} {}, {}, {}", suffix(t), to, all, 32 - width);  // extends as the type says
  }
  const Text n = width == 64 ? word() : to;
  switch (code) {
    case Opcode::PopCount: ins("popc.{} {}, {}", b, n, bits); break;
    case Opcode::Clz:
      if (width >= 32) {
        ins("clz.{} {}, {}", b, n, bits);
      } else {
        const Text zeros = word();
        ins("clz.b32 {}, {}", zeros, bits);
        ins("sub.u32 {}, {}, {}", n, zeros, 32 - width);
      }
      break;
    default: {  // ctz: the leading zeros of the reverse; a bit above a narrow value stops it
      const Text reverse = temp(t);
      Text from = bits;
      if (width < 32) {
        from = word();
        ins("or.b32 {}, {}, {}", from, bits, uint64_t{1} << width);
      }
      ins("brev.{} {}, {}", b, reverse, from);
      ins("clz.{} {}, {}", b, n, reverse);
    }
  }
  if (width == 64) ins("cvt.u64.u32 {}, {}", to, n);
}

// The field goes to the top of the register and comes down again, or a mask is made the same way.
// Shifts stop at the width, so a field of no bits comes out as 0, and so does its mask.
void Emitter::bit_field(Opcode code, Type t, const Text& to, std::span<const Text> in) {
  const bool extract = code == Opcode::Extract;
  const unsigned width = width_of(t), whole = width == 64 ? 64 : 32;
  const std::string_view b = bits_suffix(t);
  const Text offset = word(), n = word(), room = word(), down = word();
  ins("min.u32 {}, {}, {}", offset, in[extract ? 1 : 2], width);
  ins("sub.u32 {}, {}, {}", room, width, offset);
  ins("min.u32 {}, {}, {}", n, in[extract ? 2 : 3], room);
  ins("sub.u32 {}, {}, {}", down, whole, n);
  if (extract) {
    const Text up = word(), top = temp(t);
    ins("sub.u32 {}, {}, {}", up, down, offset);
    ins("shl.{} {}, {}, {}", b, top, in[0], up);
    if (!is_signed(t)) return ins("shr.{} {}, {}, {}", suffix(t), to, top, down);
    // An arithmetic shift by the whole width would leave the sign.
    const Text field = temp(t), empty = pred();
    ins("shr.{} {}, {}, {}", suffix(t), field, top, down);
    ins("setp.eq.u32 {}, {}, 0", empty, n);
    return ins("selp.{} {}, 0, {}, {}", b, to, field, empty);
  }
  const Text ones = temp(t), low = temp(t), mask = temp(t), x = temp(t), differ = temp(t);
  ins("mov.{} {}, -1", b, ones);
  ins("shr.{} {}, {}, {}", whole == 64 ? "u64" : "u32", low, ones, down);
  ins("shl.{} {}, {}, {}", b, mask, low, offset);
  ins("shl.{} {}, {}, {}", b, x, in[1], offset);
  ins("xor.{} {}, {}, {}", b, differ, x, in[0]);
  ins("and.{} {}, {}, {}", b, differ, differ, mask);
  if (width >= 32) return ins("xor.{} {}, {}, {}", b, to, in[0], differ);
  const Text merged = word();
  ins("xor.b32 {}, {}, {}", merged, in[0], differ);
  normalize(t, to, merged);
}

}  // namespace vyre::emit_ptx
