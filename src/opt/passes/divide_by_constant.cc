#include "opt/passes/divide_by_constant.h"

#include <bit>

#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

using Wide = unsigned __int128;

Type unsigned_of(Type t) {
  switch (size_of(t)) {
    case 1: return Type::U8;
    case 2: return Type::U16;
    case 4: return Type::U32;
    default: return Type::U64;
  }
}

/// Writes the ops of one division before the op that it replaces.
struct Writer {
  Rewriter& r;
  OpId at;
  Type type;

  unsigned width() const { return unsigned(size_of(type)) * 8; }
  uint64_t mask() const { return width() == 64 ? ~uint64_t{0} : (uint64_t{1} << width()) - 1; }
  ValueId constant(uint64_t bits) const { return r.insert_constant(at, type, bits & mask()); }
  ValueId binary(Opcode code, ValueId a, ValueId b) const {
    const ValueId operands[] = {a, b};
    return r.insert(at, code, type, operands, type);
  }
  ValueId shift_right(ValueId a, unsigned by) const {
    return by == 0 ? a : binary(Opcode::Shr, a, constant(by));
  }
  /// The sign bit and the bits after it down to `bits` bits, as a number without sign.
  ValueId sign_bits(ValueId x, unsigned bits) const {
    const Type u = unsigned_of(type);
    const Writer w{r, at, u};
    const ValueId sign = shift_right(x, width() - 1);
    const ValueId in[] = {sign};
    const ValueId as_unsigned = r.insert(at, Opcode::Bitcast, u, in, u);
    const ValueId low = w.shift_right(as_unsigned, width() - bits);
    const ValueId back[] = {low};
    return r.insert(at, Opcode::Bitcast, type, back, type);
  }

  ValueId unsigned_quotient(ValueId x, uint64_t d) const {
    const unsigned n = width();
    if (std::has_single_bit(d)) return shift_right(x, unsigned(std::countr_zero(d)));
    // A multiplier of N bits: for x of N bits, else for x without the factors of two of d.
    for (const unsigned drop : {0u, unsigned(std::countr_zero(d))}) {
      const Wide odd = d >> drop;
      for (unsigned s = 0; s < n; ++s) {
        const Wide power = Wide{1} << (n + s);
        const Wide m = (power + odd - 1) / odd;
        if (m >> n) break;
        if (m * odd - power > Wide{1} << (s + drop)) continue;
        // Named in order: the evaluation order of arguments is unspecified.
        const ValueId multiplier = constant(uint64_t(m));
        return shift_right(binary(Opcode::MulHi, shift_right(x, drop), multiplier), s);
      }
    }
    // N+1 bits: m = 2^N + low; (x·m) >> N is t + x with t = mulhi(x, low), which may not fit.
    const unsigned l = unsigned(std::bit_width(d - 1));
    const Wide low = ((Wide{1} << n) * ((Wide{1} << l) - d)) / d + 1;
    const ValueId t = binary(Opcode::MulHi, x, constant(uint64_t(low)));
    const ValueId half = shift_right(binary(Opcode::Sub, x, t), 1);
    return shift_right(binary(Opcode::Add, t, half), l - 1);
  }

  ValueId signed_quotient(ValueId x, uint64_t bits) const {
    const unsigned n = width();
    const bool negative = bits >> (n - 1) & 1;
    const uint64_t magnitude = negative ? (0 - bits) & mask() : bits;  // of MIN: 2^(N-1)
    if (std::has_single_bit(magnitude)) {
      const unsigned k = unsigned(std::countr_zero(magnitude));
      const ValueId biased = binary(Opcode::Add, x, sign_bits(x, k));  // towards 0
      const ValueId q = shift_right(biased, k);
      if (!negative) return q;
      const ValueId in[] = {q};
      return r.insert(at, Opcode::Neg, type, in, type);
    }
    const Wide d = magnitude;
    const Wide t = (Wide{1} << (n - 1)) + negative;
    const Wide most = t - 1 - t % d;
    unsigned p = n;
    while (Wide{1} << p <= most * (d - (Wide{1} << p) % d)) ++p;
    const uint64_t m = uint64_t(((Wide{1} << p) + d - (Wide{1} << p) % d) / d);
    const uint64_t multiplier = (negative ? 0 - m : m) & mask();
    const bool multiplier_negative = multiplier >> (n - 1) & 1;
    ValueId q = binary(Opcode::MulHi, x, constant(multiplier));
    if (!negative && multiplier_negative) q = binary(Opcode::Add, q, x);
    if (negative && !multiplier_negative) q = binary(Opcode::Sub, q, x);
    q = shift_right(q, p - n);
    return binary(Opcode::Sub, q, shift_right(q, n - 1));  // one more if negative
  }
};

}  // namespace

Result<bool> divide_by_constant(Program& p, PassContext& context) {
  Rewriter r(p);
  bool found = false;
  for (const OpId op : r.ops()) {
    WorkDeadline::poll_current();
    const Opcode code = p.op(op).code;
    const Type type = p.op(op).type;
    if ((code != Opcode::Div && code != Opcode::Rem) || is_float(type)) continue;
    const auto divisor = r.constant(p.operand(op, 1));
    if (!divisor) continue;
    found = true;
    const Writer w{r, op, type};
    const uint64_t d = *divisor & w.mask();
    if (d == 0 || d == 1 || (is_signed(type) && d == w.mask())) {
      context.refuse(op, "division by 0, 1 and -1 is for simplify");
      continue;
    }
    const ValueId x = r.operand(op, 0);
    ValueId result;
    if (code == Opcode::Rem && !is_signed(type) && std::has_single_bit(d)) {
      result = w.binary(Opcode::And, x, w.constant(d - 1));
    } else {
      result = is_signed(type) ? w.signed_quotient(x, d) : w.unsigned_quotient(x, d);
      if (code == Opcode::Rem)
        result = w.binary(Opcode::Sub, x, w.binary(Opcode::Mul, result, w.constant(d)));
    }
    r.replace(p.result(op), result);
    r.remove(op);
  }
  context.nothing_to_do = !found;
  return r.finish();
}

}  // namespace vyre::opt
