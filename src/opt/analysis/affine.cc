#include "opt/analysis/affine.h"

namespace vyre::opt {
namespace {

/// Sums and multiples of forms. Exact ones give up where a number leaves int64_t; the others are
/// computed modulo 2^64, of which every type's width is a part.
class Combiner {
 public:
  explicit Combiner(Type type, bool exact) : width_(width_of(type)), exact_(exact) {}

  /// a + b · factor, or nothing.
  std::optional<AffineForm> add(const AffineForm& a, const AffineForm& b, int64_t factor) {
    AffineForm r;
    r.exact = exact_;
    r.offset = sum(a.offset, b.offset, factor);
    r.terms.reserve(a.terms.size() + b.terms.size());
    size_t i = 0, j = 0;
    while (i < a.terms.size() || j < b.terms.size()) {
      const bool left =
          j == b.terms.size() || (i < a.terms.size() && a.terms[i].symbol <= b.terms[j].symbol);
      const bool right =
          i == a.terms.size() || (j < b.terms.size() && b.terms[j].symbol <= a.terms[i].symbol);
      const ValueId symbol = left ? a.terms[i].symbol : b.terms[j].symbol;
      const int64_t f = sum(left ? a.terms[i].factor : 0, right ? b.terms[j].factor : 0, factor);
      i += left;
      j += right;
      if (f) r.terms.push_back({symbol, f});
    }
    if (overflowed_ || r.terms.size() > AffineForms::most_terms) return std::nullopt;
    return r;
  }

 private:
  int64_t sum(int64_t a, int64_t b, int64_t factor) {
    if (!exact_) {
      const uint64_t wrapped = uint64_t(a) + uint64_t(b) * uint64_t(factor);
      const uint32_t unused = 64 - width_;
      return int64_t(wrapped << unused) >> unused;
    }
    int64_t product = 0, r = 0;
    overflowed_ |=
        __builtin_mul_overflow(b, factor, &product) || __builtin_add_overflow(a, product, &r);
    return r;
  }

  uint32_t width_;
  bool exact_;
  bool overflowed_ = false;
};

class Former {
 public:
  Former(const Program& p, const Ranges& ranges, IdMap<ValueId, AffineForm>& forms)
      : p_(p), ranges_(ranges), forms_(forms) {}

  void run() {
    for (const BlockId b : p_.blocks.ids())
      for (const ValueId v : p_.args(b)) set(v, form_of_constant(v));
    walk(p_, [&](OpId op) {
      for (const ValueId v : p_.results(op)) set(v, form(op, v));
    });
  }

 private:
  void set(ValueId v, std::optional<AffineForm> f) {
    if (f)
      forms_[v] = std::move(*f);
    else
      forms_[v] = {0, {{v, 1}}, true};
  }

  std::optional<AffineForm> form_of_constant(ValueId v) const {
    const Type t = p_.type(v);
    const ValueRange& r = ranges_.of(v);
    if (!is_integer(t) || !r.is_constant()) return std::nullopt;
    // A u64 above int64_t's numbers has a form only modulo 2^64.
    return AffineForm{r.lo, {}, !r.is_unsigned || r.lo >= 0};
  }

  std::optional<AffineForm> form(OpId op, ValueId v) const {
    const Op& o = p_.op(op);
    const Type t = p_.type(v);
    if (!is_integer(t)) return std::nullopt;
    if (auto c = form_of_constant(v)) return c;
    if (!is_pure(o.code) || o.operands.count == 0) return std::nullopt;
    const ValueId a = p_.operand(op, 0);
    if (o.code == Opcode::Cast) return cast(t, a);
    if (o.code == Opcode::Neg) return combine(t, v, {}, forms_[a], -1);
    if (o.operands.count != 2) return std::nullopt;
    const ValueId b = p_.operand(op, 1);
    switch (o.code) {
      case Opcode::Add: return combine(t, v, forms_[a], forms_[b], 1);
      case Opcode::Sub: return combine(t, v, forms_[a], forms_[b], -1);
      case Opcode::Mul:
        if (const auto k = constant(b)) return combine(t, v, {}, forms_[a], *k);
        if (const auto k = constant(a)) return combine(t, v, {}, forms_[b], *k);
        return std::nullopt;
      case Opcode::Shl:
        if (const auto k = constant(b)) {
          const uint32_t by = uint32_t(uint64_t(*k)) & (width_of(t) - 1);
          if (by < 63) return combine(t, v, {}, forms_[a], int64_t{1} << by);
        }
        return std::nullopt;
      case Opcode::Or:
      case Opcode::Xor: {
        // No bit that both may have: a sum without carries. Of a number and one that is not
        // negative it is exact.
        const ValueRange &x = ranges_.at(a, op), &y = ranges_.at(b, op);
        if (~x.zeros & ~y.zeros & low_mask(width_of(t))) return std::nullopt;
        return combine_exactly(t, forms_[a], forms_[b], 1, forms_[a].exact && forms_[b].exact);
      }
      default: return std::nullopt;
    }
  }

  std::optional<int64_t> constant(ValueId v) const {
    const ValueRange& r = ranges_.of(v);
    if (!r.is_constant() || (r.is_unsigned && r.lo < 0)) return std::nullopt;
    return r.lo;
  }

  /// Exact if the operands' forms are and the op did not wrap.
  std::optional<AffineForm> combine(Type t, ValueId v, const AffineForm& a, const AffineForm& b,
                                    int64_t factor) const {
    const bool a_exact = a.exact || (a.terms.empty() && a.offset == 0);
    return combine_exactly(t, a, b, factor, a_exact && b.exact && ranges_.no_wrap(v));
  }
  static std::optional<AffineForm> combine_exactly(Type t, const AffineForm& a, const AffineForm& b,
                                                   int64_t factor, bool exact) {
    return Combiner(t, exact).add(a, b, factor);
  }

  /// Converts a form. A form modulo 2^n does not hold for more than n bits. An exact one stays
  /// exact if the number is kept.
  std::optional<AffineForm> cast(Type t, ValueId a) const {
    const Type from = p_.type(a);
    if (!is_integer(from)) return std::nullopt;
    const AffineForm& f = forms_[a];
    const ValueRange& r = ranges_.of(a);
    if (f.exact && r.low() >= least(t) && r.high() <= greatest(t)) return f;
    if (!f.exact && width_of(t) > width_of(from)) return std::nullopt;
    // Exact and widened, but not kept (a negative number to an unsigned type): true modulo 2^width.
    return combine_exactly(t, {}, f, 1, false);
  }

  const Program& p_;
  const Ranges& ranges_;
  IdMap<ValueId, AffineForm>& forms_;
};

}  // namespace

AffineForms::AffineForms(const Program& p, const Ranges& ranges) : forms_(p.values.size()) {
  Former(p, ranges, forms_).run();
}

std::optional<int64_t> AffineForms::distance(ValueId a, ValueId b) const {
  const AffineForm &x = forms_[a], &y = forms_[b];
  int64_t d = 0;
  if (!x.exact || !y.exact || x.terms != y.terms || __builtin_sub_overflow(y.offset, x.offset, &d))
    return std::nullopt;
  return d;
}

}  // namespace vyre::opt
