// Integer ops that a target has no instruction for, from ops that every target has.

#include <bit>

#include "legalize/expand.h"
#include "legalize/remake.h"

namespace vyre::emit_exact {
namespace {

/// The type of 32 or 64 bits that an op on `t` is computed in; as signed as `t`.
Type word_of(Type t) {
  if (width_of(t) >= 32) return t;
  return is_signed(t) ? Type::I32 : Type::U32;
}
Type unsigned_of(Type t) {
  switch (t) {
    case Type::I8: return Type::U8;
    case Type::I16: return Type::U16;
    case Type::I32: return Type::U32;
    case Type::I64: return Type::U64;
    default: return t;
  }
}

Term op(Opcode code, const Term& a) { return a.code->op(code, a.type, {a}); }
Term op(Opcode code, const Term& a, const Term& b) { return a.code->op(code, a.type, {a, b}); }
Term in_range(Opcode code, const Term& a, const Term& b) {
  return a.code->marked(OpMark::InRange, code, a.type, {a, b});
}

/// A shift by a u32 that is below the width, unless the result is not used.
Term shift(Opcode code, const Term& x, const Term& n) {
  return in_range(code, x, width_of(x.type) == 64 ? cast(x.type, n) : as(x.type, n));
}

/// Expands ops on integers of one type. Narrow ones are computed in words of 32 bits.
class IntegerForms {
 public:
  IntegerForms(TermBuilder& code, const IntegerOps& native, Type type)
      : c_(code),
        native_(native),
        type_(type),
        word_(word_of(type)),
        width_(width_of(type)),
        is_signed_(vyre::is_signed(type)),
        is_narrow_(width_of(type) < 32) {}

  Term expand(Opcode code, std::span<const Term> x) {
    switch (code) {
      case Opcode::Cast: return fitting(limited(word(x[0])));
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul: return wrapped(c_.op(code, word_, {low(x[0]), low(x[1])}));
      case Opcode::Neg:
      case Opcode::Not:
      case Opcode::SubgroupAdd:
      case Opcode::SubgroupScanAdd: return wrapped(op(code, low(x[0])));
      case Opcode::Shl: return wrapped(shift(code, low(x[0]), amount(x[1])));
      case Opcode::Shr: return fitting(shift(code, word(x[0]), amount(x[1])));
      case Opcode::RotL:
      case Opcode::RotR: return rotated(code == Opcode::RotL, bits(x[0]), amount(x[1]));
      case Opcode::Clz:
      case Opcode::Ctz:
      case Opcode::PopCount:
      case Opcode::ReverseBits: {
        const Term a = bits(x[0]);
        return is_narrow_ ? counted_in_word(code, a) : counted_in_halves(code, a);
      }
      case Opcode::Extract: return extracted(word(x[0]), x[1], x[2]);
      case Opcode::Insert: return inserted(x);
      default: break;
    }
    const Term a = word(x[0]), b = word(x[x.size() - 1]);
    switch (code) {
      case Opcode::Abs: return wrapped(op(code, a));
      case Opcode::MulHi: return fitting((a * b) >> width_);
      case Opcode::SatAdd:
      case Opcode::SatSub: return fitting(saturated(code == Opcode::SatAdd, a, b));
      default: {
        const Term result = divided(code, a, b);
        const bool fits = !is_signed_ || code == Opcode::Rem;  // unlike MIN / -1
        return fits ? fitting(result) : wrapped(result);
      }
    }
  }

 private:
  // Operands.

  Term word(const Term& x) const { return cast(word_, x); }
  /// A word whose bits above the width are 0.
  Term bits(const Term& x) const { return cast(unsigned_of(word_), as(unsigned_of(type_), x)); }
  /// A word whose bits above the width are unspecified.
  Term low(const Term& x) const {
    const OpId def = x.is_constant() ? none : c_.program.values[x.value].def;
    if (!is_narrow_ || def == none || c_.program.op(def).code != Opcode::Cast) return word(x);
    const Term uncut = c_.term(c_.program.operand(def, 0));
    return is_integer(uncut.type) && width_of(uncut.type) == 32 ? as(word_, uncut) : word(x);
  }
  /// The amount of a shift or rotation, modulo the width.
  Term amount(const Term& x) const { return cast(Type::U32, x) & (width_ - 1); }

  // Results.

  /// Cuts a word to the type.
  Term wrapped(const Term& x) const { return is_narrow_ ? cast(type_, x) : as(type_, x); }
  /// Returns a word whose value the type has.
  Term fitting(const Term& x) const {
    return is_narrow_ ? c_.marked(OpMark::InRange, Opcode::Cast, type_, {x}) : as(type_, x);
  }

  Term rotated(bool left, const Term& x, const Term& n) const {
    const Term rest = width_ - n;
    const Term back = is_narrow_ ? rest : rest & (width_ - 1);  // from a narrow number 0 comes in
    const Term up = shift(Opcode::Shl, x, left ? n : back);
    const Term down = shift(Opcode::Shr, x, left ? back : n);
    return wrapped(up | down);
  }

  /// Clamps a word to the range of the type.
  Term limited(const Term& x) const {
    const Term most = c_.constant(word_, low_mask(width_ - is_signed_));
    return is_signed_ ? c_.op(Opcode::Clamp, word_, {x, ~most, most}) : min(x, most);
  }

  Term saturated(bool adds, const Term& a, const Term& b) const {
    if (!is_signed_) {
      if (!adds) return max(a, b) - b;
      if (width_ == 32 || (!is_narrow_ && b.is_constant())) return min(a, ~b) + b;
      const Term sum = a + b;
      return is_narrow_ ? limited(sum) : select(sum < a, low_mask(width_), sum);
    }
    const Term sum = adds ? a + b : a - b;
    if (is_narrow_) return limited(sum);
    // It overflowed if the result's sign is wrong for both (a sum), or for a and unlike b's.
    // Named in order: the evaluation order of arguments is unspecified.
    const Term x = a ^ sum, y = (adds ? sum : a) ^ b;
    const uint64_t most = low_mask(width_ - 1);
    const Term limit = select(a < 0, most + 1, c_.constant(word_, most));
    return select((x & y) < 0, limit, sum);
  }

  /// Divisors of 0, and of -1 where MIN / -1 does not fit a word, are replaced by 1.
  Term divided(Opcode code, const Term& a, const Term& b) const {
    if (native_.pairs && width_ == 64) {  // total: only CeilDiv reaches this
      const Term quotient = a / b;
      return rounded_up(quotient, is_left_over(op(Opcode::Rem, a, b), b));
    }
    const bool wraps = is_signed_ && !is_narrow_;
    const Term by_zero = b == 0;
    Term safe = select(by_zero, 1, b), by_minus_one;
    if (wraps) {
      by_minus_one = b == low_mask(width_);
      safe = select(by_minus_one, 1, safe);
    }
    const bool shifts = !is_signed_ && safe.is_constant() && std::has_single_bit(safe.bits);
    if (code == Opcode::Rem && shifts) return a & (safe.bits - 1);
    if (code == Opcode::Rem && (!is_signed_ || native_.remainders))
      return in_range(Opcode::Rem, a, safe);  // x % 1 is 0
    Term quotient =
        shifts ? a >> uint64_t(std::countr_zero(safe.bits)) : in_range(Opcode::Div, a, safe);
    Term up;
    if (code != Opcode::Div) {
      const Term rest = shifts ? a & (safe.bits - 1) : a - quotient * safe;
      if (code == Opcode::Rem) return rest;
      up = is_left_over(rest, safe);
    }
    if (wraps) quotient = select(by_minus_one, op(Opcode::Neg, a), quotient);
    quotient = select(by_zero, is_signed_ ? 0 : low_mask(width_), quotient);
    return code == Opcode::Div ? quotient : rounded_up(quotient, up);
  }

  /// True if something is left and the quotient is positive: the remainder has the sign of the
  /// dividend, so it must be that of the divisor.
  Term is_left_over(const Term& rest, const Term& divisor) const {
    const Term some = rest != 0;
    return is_signed_ ? some & ((rest ^ divisor) >= 0) : some;
  }

  /// Adds 1 under a condition: chosen, which is one instruction of words.
  Term rounded_up(const Term& x, const Term& up) const {
    return width_ == 64 ? x + one_if(word_, up) : select(up, x + 1, x);
  }

  Term counted_in_word(Opcode code, const Term& x) const {
    const uint64_t spare = 32 - width_;
    switch (code) {
      case Opcode::Clz: return fitting(op(code, x) - spare);
      case Opcode::Ctz: return fitting(op(code, x | uint64_t{1} << width_));
      case Opcode::PopCount: return fitting(op(code, x));
      default: return fitting(as(word_, op(code, x)) >> spare);  // extended as the type says
    }
  }

  Term counted_in_halves(Opcode code, const Term& x) const {
    const Term low = cast(Type::U32, x), high = cast(Type::U32, x >> 32);
    const bool from_top = code == Opcode::Clz;
    const Term &first = from_top ? high : low, &second = from_top ? low : high;
    const Term of_first = op(code, first), of_second = op(code, second);
    if (code == Opcode::ReverseBits) {
      const Term upper = cast(Type::U64, of_first) << 32;
      return wrapped(upper | cast(Type::U64, of_second));
    }
    if (code == Opcode::PopCount) return wrapped(cast(Type::U64, of_first + of_second));
    return wrapped(cast(Type::U64, select(first == 0, of_second + 32, of_first)));
  }

  /// `offset` and `n`, clamped, the offset first. Shifts by the width come with n = 0 only.
  struct Field {
    Term offset, n, empty, down;
  };
  Field field(const Term& offset, const Term& n) const {
    Field f;
    f.offset = min(offset, c_.constant(Type::U32, width_));
    f.n = min(n, width_ - f.offset);
    f.empty = f.n == 0;
    f.down = width_of(word_) - f.n;
    return f;
  }

  /// The field goes to the top of the word and comes down again.
  Term extracted(const Term& x, const Term& offset, const Term& n) const {
    const Field f = field(offset, n);
    const Term top = shift(Opcode::Shl, x, f.down - f.offset);
    return fitting(select(f.empty, 0, shift(Opcode::Shr, top, f.down)));
  }

  Term inserted(std::span<const Term> x) const {
    const Field f = field(x[2], x[3]);
    const Type type = unsigned_of(word_);
    const Term old = as(type, word(x[0])), put = shift(Opcode::Shl, as(type, low(x[1])), f.offset);
    const Term ones = c_.constant(type, ~uint64_t{0});
    const Term mask = shift(Opcode::Shl, shift(Opcode::Shr, ones, f.down), f.offset);
    return wrapped(select(f.empty, old, old ^ ((put ^ old) & mask)));
  }

  TermBuilder& c_;
  const IntegerOps& native_;
  const Type type_, word_;
  const uint32_t width_;
  const bool is_signed_, is_narrow_;
};

bool is_native(Opcode code, Type t, Type source, const IntegerOps& native) {
  if (!is_integer(t)) return true;
  const uint32_t width = width_of(t);
  const bool as_pair = width == 64 && native.pairs;
  switch (code) {
    case Opcode::Cast: return width >= 32 || !is_float(source);
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::MulHi:
    case Opcode::Neg:
    case Opcode::Not:
    case Opcode::Abs:
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::SubgroupAdd:
    case Opcode::SubgroupScanAdd: return width >= 32;
    case Opcode::Div:
    case Opcode::Rem: return as_pair;
    case Opcode::RotL:
    case Opcode::RotR: return as_pair || (width == 32 && native.rotates32);
    case Opcode::SatAdd:
    case Opcode::SatSub:
      return (t == Type::I32 && native.saturates_i32) || (t == Type::U64 && native.saturates_u64);
    case Opcode::Clz:
    case Opcode::Ctz:
    case Opcode::PopCount:
    case Opcode::ReverseBits: return width == 32 || (width == 64 && native.counts64);
    case Opcode::CeilDiv:
    case Opcode::Extract:
    case Opcode::Insert: return false;
    default: return true;
  }
}

bool is_native(const Program& p, OpId id, const IntegerOps& native) {
  const Op& o = p.op(id);
  if (has_mark(o, OpMark::InRange)) return true;
  return is_native(o.code, o.type, o.operands.count ? p.type(p.operand(id, 0)) : o.type, native);
}

class IntegerStage : public Remake {
 public:
  IntegerStage(const Program& program, const IntegerOps& native)
      : Remake(program), native_(native) {}

 private:
  void visit(OpId id) override {
    const Op& o = from.op(id);
    if (is_native(from, id, native_)) return copy(id);
    Term operands[4];
    for (uint32_t i = 0; i < o.operands.count; ++i) operands[i] = operand(id, i);
    give(id, IntegerForms(c, native_, o.type).expand(o.code, {operands, o.operands.count}));
  }

  const IntegerOps native_;
};

}  // namespace

Program expand_integers(Program program, const IntegerOps& native) {
  bool is_done = true;
  walk(program, [&](OpId id) { is_done = is_done && is_native(program, id, native); });
  if (is_done) return program;
  return IntegerStage(program, native).run();
}

}  // namespace vyre::emit_exact
