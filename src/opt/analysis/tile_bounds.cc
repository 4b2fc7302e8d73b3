#include "opt/analysis/tile_bounds.h"

#include <algorithm>

namespace vyre::opt {
namespace {

// Lines whose numbers exceed this are not kept, so that no sum or product of two overflows.
constexpr Wide most = Wide(1) << 62;

using Line = std::optional<TileLine>;

Line checked(TileLine l) {
  const auto fits = [](Wide n) { return n >= -most && n <= most; };
  if (fits(l.group) && fits(l.local) && fits(l.offset)) return l;
  return std::nullopt;
}

Line add(const Line& a, const Line& b, Wide factor = 1) {
  if (!a || !b) return std::nullopt;
  return checked(
      {a->group + b->group * factor, a->local + b->local * factor, a->offset + b->offset * factor});
}

Line scale(const Line& a, Wide factor) { return add(TileLine{}, a, factor); }

Line shift(const Line& a, Wide offset) { return add(a, TileLine{0, 0, offset}); }

/// Below both, or above both: ids are not negative.
Line below(const Line& a, const Line& b) {
  if (!a || !b) return std::nullopt;
  return TileLine{std::min(a->group, b->group), std::min(a->local, b->local),
                  std::min(a->offset, b->offset)};
}
Line above(const Line& a, const Line& b) {
  if (!a || !b) return std::nullopt;
  return TileLine{std::max(a->group, b->group), std::max(a->local, b->local),
                  std::max(a->offset, b->offset)};
}

/// Selects one of two bounds that both hold: the one with the larger factor of the workgroup.
Line better(const Line& a, const Line& b) {
  if (!a) return b;
  if (!b) return a;
  return b->group > a->group ? b : a;
}

Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0); }

TileBounds plain(const ValueRange& r, Type type) {
  if (!is_integer(type)) return {std::nullopt, std::nullopt, false};
  return {checked({0, 0, r.low()}), checked({0, 0, r.high()}), true};
}

/// Uses the bounds of `ranges` where the lines are constants, or are absent.
void tighten(TileBounds& b, const ValueRange& r, Type type) {
  const TileBounds known = plain(r, type);
  if (!b.low || (b.low->is_constant() && known.low && known.low->offset > b.low->offset))
    b.low = known.low;
  if (!b.high || (b.high->is_constant() && known.high && known.high->offset < b.high->offset))
    b.high = known.high;
}

/// A line without its lane term.
TileLine without_local(const TileLine& l, Wide lanes, bool high) {
  const Wide end = l.local * (lanes - 1);
  return {l.group, 0, l.offset + (high ? std::max<Wide>(end, 0) : std::min<Wide>(end, 0))};
}

}  // namespace

class TileWalk {
 public:
  TileWalk(TileForms& f, uint64_t most_workgroups)
      : f_(f),
        p_(*f.p_),
        ranges_(*f.ranges_),
        lanes_(p_.workgroup[0]),
        groups_(std::max<uint64_t>(most_workgroups, 1)) {}

  void run() {
    f_.forms_.resize(p_.values.size());
    met_.assign(p_.values.size(), false);
    for (const ValueId v : p_.values.ids()) f_.forms_[v] = plain(ranges_.of(v), p_.type(v));
    walk(p_, [&](OpId op) { visit(op); });
  }

 private:
  TileBounds use(ValueId v, OpId at) const { return f_.use(v, at); }

  void set(ValueId v, TileBounds b) {
    if (b.exact) tighten(b, ranges_.of(v), p_.type(v));
    f_.forms_[v] = b;
  }

  Wide least_of(const TileLine& l) const {
    return l.offset + std::min<Wide>(l.group * (groups_ - 1), 0) +
           std::min<Wide>(l.local * (lanes_ - 1), 0);
  }
  Wide greatest_of(const TileLine& l) const {
    return l.offset + std::max<Wide>(l.group * (groups_ - 1), 0) +
           std::max<Wide>(l.local * (lanes_ - 1), 0);
  }
  bool fits(const TileBounds& b, Type t) const {
    return b.low && b.high && least_of(*b.low) >= least(t) && greatest_of(*b.high) <= greatest(t);
  }
  bool is_not_negative(ValueId v, const TileBounds& b) const {
    return ranges_.of(v).low() >= 0 || (b.low && least_of(*b.low) >= 0);
  }

  std::optional<Wide> constant(ValueId v) const {
    const ValueRange& r = ranges_.of(v);
    if (!r.is_constant()) return std::nullopt;
    return r.low();
  }

  void visit(OpId op) {
    const Op& o = p_.op(op);
    if (o.code == Opcode::For) return count(op);
    if (o.code == Opcode::Yield) return yield(op);
    if (!is_pure(o.code) || o.results.count != 1 || !is_integer(p_.type(p_.result(op)))) return;
    const ValueId v = p_.result(op);
    if (ranges_.of(v).is_constant()) return;
    if (auto b = form(op, v)) set(v, *b);
  }

  /// The counter of a `for` never wraps.
  void count(OpId op) {
    const TileBounds lo = use(p_.operand(op, 0), op), hi = use(p_.operand(op, 1), op);
    TileBounds b;
    if (lo.exact) b.low = lo.low;
    if (hi.exact) b.high = shift(hi.high, -1);
    set(p_.args(p_.op(op).first_block)[0], b);
  }

  /// The results of an `if` or region are the values that its blocks yield.
  void yield(OpId op) {
    const OpId owner = p_.blocks[p_.op(op).parent].parent;
    if (owner == none || is_loop(p_.op(owner).code)) return;
    for (uint32_t i = 0; i < p_.op(owner).results.count; ++i) {
      const ValueId v = p_.result(owner, i);
      if (!is_integer(p_.type(v))) continue;
      const TileBounds b = use(p_.operand(op, i), op);
      set(v, met_[v] ? either(f_.forms_[v], b) : b);
      met_[v] = true;
    }
  }

  static TileBounds either(const TileBounds& a, const TileBounds& b) {
    return {below(a.low, b.low), above(a.high, b.high), a.exact && b.exact};
  }

  std::optional<TileBounds> form(OpId op, ValueId v) {
    const Op& o = p_.op(op);
    const Type t = p_.type(v);
    if (o.operands.count == 0) return id(o);
    const TileBounds a = use(p_.operand(op, 0), op);
    if (o.code == Opcode::Cast) return cast(p_.operand(op, 0), a, t);
    if (o.code == Opcode::Neg) return summed(v, t, {TileLine{}, TileLine{}, true}, a, -1);
    if (o.code == Opcode::Select)
      return either(use(p_.operand(op, 1), op), use(p_.operand(op, 2), op));
    if (o.operands.count != 2) return std::nullopt;
    const TileBounds b = use(p_.operand(op, 1), op);
    const auto k = constant(p_.operand(op, 1));
    switch (o.code) {
      case Opcode::Add: return summed(v, t, a, b, 1);
      case Opcode::Sub: return summed(v, t, a, b, -1);
      case Opcode::Mul:
        if (k) return scaled(v, t, a, *k);
        if (const auto left = constant(p_.operand(op, 0))) return scaled(v, t, b, *left);
        return std::nullopt;
      case Opcode::Shl:
        if (!k) return std::nullopt;
        return scaled(v, t, a, Wide(1) << (uint64_t(*k) & (width_of(t) - 1)));
      case Opcode::Or:
      case Opcode::Xor: {
        // No bit that both may have: a sum without carries.
        const ValueRange x = ranges_.at(p_.operand(op, 0), op),
                         y = ranges_.at(p_.operand(op, 1), op);
        if (~x.zeros & ~y.zeros & low_mask(width_of(t))) return std::nullopt;
        return TileBounds{add(a.low, b.low), add(a.high, b.high), a.exact && b.exact};
      }
      default: break;
    }
    if (!a.exact || !b.exact) return std::nullopt;
    return of_numbers(op, t, a, b, k);
  }

  /// Ops that require their operands as exact numbers.
  std::optional<TileBounds> of_numbers(OpId op, Type t, const TileBounds& a, const TileBounds& b,
                                       std::optional<Wide> k) {
    const ValueId left = p_.operand(op, 0);
    switch (p_.op(op).code) {
      case Opcode::Div:
        if (!k || *k <= 0 || !is_not_negative(left, a)) return std::nullopt;
        return divided(a, *k, 1);
      case Opcode::CeilDiv:
        if (!k || *k <= 0 || !is_not_negative(left, a)) return std::nullopt;
        return divided({shift(a.low, *k - 1), shift(a.high, *k - 1), true}, *k, 1);
      case Opcode::Shr:
        if (!k) return std::nullopt;
        return divided(a, Wide(1) << (uint64_t(*k) & (width_of(t) - 1)), 1);
      case Opcode::And: {
        // All bits but the lowest: the multiple of a power of two that is not above.
        if (!k) return std::nullopt;
        const uint64_t dropped = ~bits_of(t, *k) & low_mask(width_of(t));
        if (dropped & (dropped + 1) || dropped >= uint64_t{1} << 60) return std::nullopt;
        return divided(a, Wide(dropped) + 1, Wide(dropped) + 1);
      }
      case Opcode::Min: return TileBounds{below(a.low, b.low), better(a.high, b.high), true};
      case Opcode::Max: return TileBounds{better(a.low, b.low), above(a.high, b.high), true};
      case Opcode::SatSub: {
        if (!is_unsigned(t)) return std::nullopt;
        Line high = add(a.high, b.low, -1);
        if (high && (high->group < 0 || high->local < 0)) high.reset();
        if (high) high->offset = std::max<Wide>(high->offset, 0);
        return TileBounds{add(a.low, b.high, -1), high, true};
      }
      case Opcode::SatAdd: {
        if (!is_unsigned(t)) return std::nullopt;
        TileBounds sum{add(a.low, b.low), add(a.high, b.high), true};
        if (!fits(sum, t)) sum.low = std::nullopt;
        return sum;
      }
      default: return std::nullopt;
    }
  }

  std::optional<TileBounds> id(const Op& o) const {
    if (o.attr != 0) return std::nullopt;
    TileLine l;
    switch (o.code) {
      case Opcode::GlobalId: l = {lanes_, 1, 0}; break;
      case Opcode::LocalId: l = {0, 1, 0}; break;
      case Opcode::WorkgroupId: l = {1, 0, 0}; break;
      default: return std::nullopt;
    }
    return TileBounds{l, l, true};
  }

  std::optional<TileBounds> cast(ValueId from, const TileBounds& a, Type t) const {
    const Type source = p_.type(from);
    if (!is_integer(source)) return std::nullopt;
    const ValueRange& r = ranges_.of(from);
    TileBounds b = a;
    if (a.exact) {
      b.exact = fits(a, t) || (r.low() >= least(t) && r.high() <= greatest(t));
      return b;
    }
    if (width_of(t) > width_of(source)) return std::nullopt;
    return b;
  }

  std::optional<TileBounds> summed(ValueId v, Type t, const TileBounds& a, const TileBounds& b,
                                   int sign) const {
    TileBounds s{add(a.low, sign > 0 ? b.low : b.high, sign),
                 add(a.high, sign > 0 ? b.high : b.low, sign), false};
    s.exact = a.exact && b.exact && (ranges_.no_wrap(v) || fits(s, t));
    return s;
  }

  std::optional<TileBounds> scaled(ValueId v, Type t, const TileBounds& a, Wide k) const {
    if (k > most || k < -most) return std::nullopt;
    TileBounds s{scale(k >= 0 ? a.low : a.high, k), scale(k >= 0 ? a.high : a.low, k), false};
    s.exact = a.exact && (ranges_.no_wrap(v) || fits(s, t));
    return s;
  }

  /// The floor of a / by, times `times`. A line must be divisible but for its offset.
  TileBounds divided(const TileBounds& a, Wide by, Wide times) const {
    const auto line = [&](const Line& from, bool high) -> Line {
      if (!from) return std::nullopt;
      TileLine l = *from;
      if (l.group % by != 0) return std::nullopt;
      if (l.local % by != 0) l = without_local(l, lanes_, high);
      return checked({l.group / by * times, l.local / by * times, floor_div(l.offset, by) * times});
    };
    return {line(a.low, false), line(a.high, true), true};
  }

  TileForms& f_;
  const Program& p_;
  const Ranges& ranges_;
  const Wide lanes_, groups_;
  IdMap<ValueId, bool> met_;  // results of ifs that have something from one of their blocks
};

TileForms::TileForms(const Program& program, const Ranges& ranges, uint64_t most_workgroups)
    : p_(&program), ranges_(&ranges) {
  TileWalk(*this, most_workgroups).run();
}

TileBounds TileForms::use(ValueId v, OpId at) const {
  TileBounds b = forms_[v];
  if (b.exact) tighten(b, ranges_->at(v, at), p_->type(v));
  return b;
}

std::optional<TileWindow> TileForms::window(ValueId v, OpId at) const {
  const TileBounds b = use(v, at);
  if (b.low && b.high && b.low->group == b.high->group) {
    const Wide lanes = p_->workgroup[0];
    const Wide lo = without_local(*b.low, lanes, false).offset;
    const Wide hi = without_local(*b.high, lanes, true).offset;
    return TileWindow{b.low->group, lo, hi, b.exact};
  }
  const ValueRange r = ranges_->at(v, at);
  if (!is_integer(p_->type(v)) || r.high() > most) return std::nullopt;
  return TileWindow{0, r.low(), r.high(), true};
}

std::optional<TileWindow> TileForms::by_invocation(ValueId v, OpId at) const {
  const TileBounds b = use(v, at);
  if (!b.low || !b.high || b.low->group != b.high->group || b.low->local != b.high->local ||
      b.low->group != b.low->local * Wide(p_->workgroup[0]))
    return std::nullopt;
  return TileWindow{b.low->local, b.low->offset, b.high->offset, b.exact};
}

uint64_t TileForms::most_workgroups(const Program& program) {
  return 0xffffffffull / program.workgroup[0];
}

}  // namespace vyre::opt
