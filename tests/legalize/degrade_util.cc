#include "tests/legalize/degrade_util.h"

#include <fmt/format.h>

#include "legalize/expand.h"
#include "legalize/float_format.h"
#include "legalize/remake.h"

namespace vyre::emit_exact {
namespace {

class Degrade : public Remake {
 public:
  Degrade(const Program& program, const Profile& profile) : Remake(program), p_(profile) {}

 private:
  Term op(Opcode code, const Term& a) { return c.op(code, a.type, {a}); }
  Term op(Opcode code, const Term& a, const Term& b) { return c.op(code, a.type, {a, b}); }

  /// Subnormals become zeros; `least` itself, too, if asked for.
  Term flush(const Term& x, bool least = false) {
    const Shape s = shape_of(x.type);
    const Term word = bits(x), magnitude = word & s.magnitude;
    return real(select(magnitude < s.leading + least, word & s.sign, word));
  }
  /// Some units in the last place away, if it is a normal number; up or down by its bits.
  Term off(const Term& x, uint64_t by) {
    const Shape s = shape_of(x.type);
    const Term word = bits(x), magnitude = word & s.magnitude;
    const Term normal = (magnitude > s.leading + by) & (magnitude < s.infinity - by);
    const Term up = ((word >> 3) & 1) != 0;
    return real(select(normal, select(up, word + by, word - by), word));
  }
  /// -0 becomes +0.
  Term unsigned_zero(const Term& x) {
    const Shape s = shape_of(x.type);
    return real(select((bits(x) & s.magnitude) == 0, 0, bits(x)));
  }

  Term wrong_float(Opcode code, const Term* x, const Op& o) {
    const bool wide = x[0].type == Type::F64;
    const bool add = wide ? p_.add64 : p_.add32, mul = wide ? p_.mul64 : p_.mul32;
    const bool compare = wide ? p_.compare64 : p_.compare32 && p_.choose32;
    const bool flat = !wide && !p_.normal32;  // wrong everywhere
    switch (code) {
      case Opcode::Add:
      case Opcode::Sub: {
        if (add) break;
        const Term sum = flush(op(code, flush(x[0]), flush(x[1])));
        return wide || flat ? off(sum, 1) : sum;
      }
      case Opcode::Mul: {
        if (mul) break;
        const Term product = flush(op(code, flush(x[0]), flush(x[1])), true);
        return wide || flat ? off(product, 1) : product;
      }
      case Opcode::Div:
        if (wide ? p_.div64 : p_.div32) break;
        return off(flush(op(code, flush(x[0]), flush(x[1]))), 2);
      case Opcode::Sqrt:
        if (wide ? p_.sqrt64 : p_.sqrt32) break;
        return off(op(code, flush(x[0])), 3);
      case Opcode::Rsqrt:
        if (wide ? p_.sqrt64 && p_.div64 : p_.sqrt32 && p_.div32) break;
        return off(op(code, flush(x[0])), 2);
      case Opcode::Fma:
        if (wide ? p_.fma64 : p_.fma32) break;
        if (!wide && p_.fused32)
          return flush(c.op(code, Type::F32, {flush(x[0]), flush(x[1]), flush(x[2])}), true);
        return flush(
            op(Opcode::Add, flush(op(Opcode::Mul, flush(x[0]), flush(x[1]))), flush(x[2])));
      case Opcode::Min:
      case Opcode::Max:
        if (wide ? p_.min_max64 : p_.min_max32) break;
        return wrong_extreme(code, x[0], x[1]);
      case Opcode::Clamp:
        if (wide ? p_.min_max64 : p_.min_max32) break;
        return wrong_extreme(Opcode::Min, wrong_extreme(Opcode::Max, x[0], x[1]), x[2]);
      case Opcode::Neg:
      case Opcode::Abs:
        if (has_mark(o, OpMark::MayFlush)) return flush(op(code, x[0]));
        if (!wide || (add && mul && compare)) break;  // masks of the emitter
        return flush(op(code, x[0]));
      case Opcode::IsNan:
      case Opcode::IsInf:
        if (compare) break;
        return c.constant(Type::Bool, 0);
      case Opcode::Eq:
      case Opcode::Ne:
      case Opcode::Lt:
      case Opcode::Le:
      case Opcode::Gt:
      case Opcode::Ge:
        if (compare) break;
        return wrong_compare(code, x[0], x[1]);
      case Opcode::Floor:
      case Opcode::Ceil:
      case Opcode::Trunc:
      case Opcode::Round:
        if (wide ? p_.round64 : p_.round32) break;
        return unsigned_zero(op(code, flush(x[0])));
      default: break;
    }
    return c.op(code, o.type, {x, o.operands.count});
  }

  /// Wrong of subnormals, or everywhere.
  Term wrong_compare(Opcode code, const Term& a, const Term& b) {
    const Term flushed = op(code, flush(a), flush(b));
    const bool flat = a.type == Type::F32 && !p_.compare32 && !p_.compare_normal32;
    return flat ? !flushed : flushed;
  }

  /// The second one if it is not worse: wrong for NaN and zeros.
  Term wrong_extreme(Opcode code, const Term& a, const Term& b) {
    const Term x = flush(a), y = flush(b);
    return select(op(code == Opcode::Min ? Opcode::Lt : Opcode::Gt, x, y), x, y);
  }

  Term wrong_cast(Type to, const Term& x) {
    if (is_float(to) && is_float(x.type)) {
      if (to == Type::F64) return p_.widen ? cast(to, x) : cast(to, flush(x));
      return p_.narrow ? cast(to, x) : off(flush(cast(to, x)), 1);
    }
    if (to == Type::Bool && is_float(x.type)) {
      const bool right = x.type == Type::F64 ? p_.compare64 : p_.compare32 && p_.choose32;
      return cast(to, right ? x : flush(x));
    }
    const bool wide = to == Type::F64 || x.type == Type::F64;
    if ((wide ? p_.convert64 : p_.convert32) || x.type == Type::Bool) return cast(to, x);
    if (is_float(x.type)) {  // as x86 does it: out of range is the same as NaN
      const Term n = cast(to, x);
      const uint64_t high = is_signed(to) ? low_mask(width_of(to) - 1) : low_mask(width_of(to));
      const uint64_t low = is_signed(to) ? high + 1 : 0;
      const Term none = (bits(x) & shape_of(x.type).magnitude) > shape_of(x.type).infinity;
      return select((n == high) | (n == low) | none, 1ull << (width_of(to) - 1), n);
    }
    return off(cast(to, x), 1);
  }

  /// An op marked InRange: wrong outside.
  Term wrong_outside(const Op& o, const Term* x) {
    const Term result = c.op(o.code, o.type, {x, o.operands.count});
    const uint64_t ones = low_mask(width_of(o.type)), most = low_mask(width_of(o.type) - 1);
    Term outside;
    if (o.code == Opcode::Cast) {
      outside = cast(x[0].type, result) != x[0];
    } else if (o.code == Opcode::Shl || o.code == Opcode::Shr) {
      outside = (x[1] & (ones ^ (width_of(o.type) - 1))) != 0;
    } else {
      outside = x[1] == 0;
      if (is_signed(o.type)) outside = outside | ((x[1] == ones) & (x[0] == (most ^ ones)));
    }
    return select(outside, ~result, result);
  }

  void visit(OpId id) override {
    const Op& o = from.op(id);
    if (!is_pure(o.code) || o.operands.count == 0) return copy(id);
    Term x[4];
    for (uint32_t i = 0; i < o.operands.count; ++i) x[i] = operand(id, i);
    if (has_mark(o, OpMark::InRange)) return give(id, wrong_outside(o, x));
    if (o.code == Opcode::Cast && (is_float(o.type) || is_float(x[0].type)) && o.type != x[0].type)
      return give(id, wrong_cast(o.type, x[0]));
    if (has_mark(o, OpMark::AnyNan)) {
      // Any bits of a NaN; another sign, too.
      const Shape s = shape_of(x[0].type);
      const Term word = c.op(Opcode::Bitcast, o.type, {x[0]});
      const Term nan = (as(s.word, word) & s.magnitude) > s.infinity;
      return give(id, select(nan, s.sign | s.infinity | 0x155, word));
    }
    if (is_float(x[0].type) && o.code != Opcode::Cast && o.code != Opcode::Bitcast &&
        o.code != Opcode::Select)
      return give(id, wrong_float(o.code, x, o));
    if (!p_.bits && o.code >= Opcode::Clz && o.code <= Opcode::ReverseBits)
      return give(id, ~c.op(o.code, o.type, {x, o.operands.count}));
    copy(id);
  }

  const Profile p_;
};

}  // namespace

Program degrade(const Program& program, const Profile& profile) {
  return Degrade(program, profile).run();
}

std::string forbidden(const Program& p, const Profile& q) {
  std::string found;
  const auto bad = [&](OpId id, Type t) {
    const Op& o = p.op(id);
    const bool f32 = t == Type::F32, f64 = t == Type::F64;
    const bool wide = t == Type::I64 || t == Type::U64;
    if (f64 && (!q.float64 || !q.int64)) return true;
    if (wide && !q.int64) return true;
    if (!q.bits && o.code >= Opcode::Clz && o.code <= Opcode::ReverseBits) return true;
    switch (o.code) {
      case Opcode::Fma: return (f32 && !q.fma32 && !q.fused32) || (f64 && !q.fma64);
      case Opcode::Min:
      case Opcode::Max:
      case Opcode::Clamp: return (f32 && !q.min_max32) || (f64 && !q.min_max64);
      case Opcode::Div: return (f32 && !q.div32) || (f64 && !q.div64);
      case Opcode::Rsqrt: return (f32 && !(q.div32 && q.sqrt32)) || (f64 && !(q.div64 && q.sqrt64));
      case Opcode::Sqrt: return f64 && !q.sqrt64;
      case Opcode::Add:
      case Opcode::Sub: return f64 && !q.add64;
      case Opcode::Mul: return f64 && !q.mul64;
      case Opcode::Floor:
      case Opcode::Ceil:
      case Opcode::Round:
      case Opcode::Trunc: return (f32 && !q.round32) || (f64 && !q.round64);
      case Opcode::Eq:
      case Opcode::Ne: return (f32 && !q.compare32) || (f64 && !q.compare64);
      case Opcode::Lt:
      case Opcode::Le:
      case Opcode::Gt:
      case Opcode::Ge: return (f32 && !q.compare32 && !q.compare_normal32) || (f64 && !q.compare64);
      case Opcode::SubgroupAdd:
      case Opcode::SubgroupMin:
      case Opcode::SubgroupMax:
      case Opcode::SubgroupScanAdd: return is_float(t) || (wide && !q.subgroup_extended_types);
      case Opcode::SubgroupAnd:
      case Opcode::SubgroupOr:
      case Opcode::SubgroupXor:
      case Opcode::SubgroupBroadcast:
      case Opcode::SubgroupShuffle:
      case Opcode::SubgroupShuffleUp:
      case Opcode::SubgroupShuffleDown:
      case Opcode::SubgroupShuffleXor: return size_of(t) == 8 && !q.subgroup_extended_types;
      default: return false;
    }
  };
  walk(p, [&](OpId id) {
    if (!found.empty()) return;
    const Op& o = p.op(id);
    for (const auto& list : {p.operands(id), p.results(id)})
      for (const ValueId v : list)
        if (found.empty() && bad(id, p.type(v)))
          found = fmt::format("{} of {}", mnemonic(o.code), name(p.type(v)));
    if (o.code == Opcode::Cast && found.empty()) {
      const Type to = o.type, source = p.type(p.operand(id, 0));
      if (is_float(to) && is_float(source) && to != source) {
        if (to == Type::F64 ? !q.widen : !q.narrow) found = "cast between floats";
      } else if (is_float(to) != is_float(source) && to != Type::Bool && source != Type::Bool) {
        const bool wide = to == Type::F64 || source == Type::F64;
        if (wide ? !q.convert64 : !q.convert32) found = "cast between a float and an integer";
      }
    }
  });
  return found;
}

}  // namespace vyre::emit_exact
