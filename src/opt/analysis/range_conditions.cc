// Propagates a condition that holds to the operands of the condition.

#include <algorithm>

#include "opt/analysis/range_walk.h"

namespace vyre::opt {
namespace {

// Limit of the steps for one condition, which keeps an iteration linear.
constexpr int most_steps = 32;

Opcode opposite(Opcode code) {
  switch (code) {
    case Opcode::Eq: return Opcode::Ne;
    case Opcode::Ne: return Opcode::Eq;
    case Opcode::Lt: return Opcode::Ge;
    case Opcode::Le: return Opcode::Gt;
    case Opcode::Gt: return Opcode::Le;
    default: return Opcode::Lt;
  }
}

Wide floor_div(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }  // b > 0
Wide ceil_div(Wide a, Wide b) { return -floor_div(-a, b); }

}  // namespace

void RangeWalk::close_scope() {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  while (undo_.size() > scope.undo) {
    now_[undo_.back().value] = undo_.back().range;
    undo_.pop_back();
  }
  while (opened_.size() > scope.opened) {
    Ranges::Narrowed& e = out_.narrowed_[opened_.back()];
    e.end = next_;
    top_narrowed_[e.value] = e.outer;
    opened_.pop_back();
  }
  while (opened_bounds_.size() > scope.bounds) {
    Ranges::Bound& e = out_.bounds_[opened_bounds_.back()];
    e.end = next_;
    top_bound_[e.value] = e.outer;
    opened_bounds_.pop_back();
  }
}

void RangeWalk::narrow(ValueId v, const ValueRange& to) {
  const Type t = p_.type(v);
  if (!has_range(t)) return;
  const std::optional<ValueRange> r = meet(t, now_[v], to);
  if (!r || *r == now_[v]) return;  // none: this place is never reached
  undo_.push_back({v, now_[v]});
  now_[v] = *r;
  narrowed_now_.push_back(v);
  if (mode_ != Mode::Record) return;
  Ranges::Narrowed e;
  e.begin = next_;
  e.outer = top_narrowed_[v];
  e.value = v;
  e.range = *r;
  top_narrowed_[v] = uint32_t(out_.narrowed_.size());
  opened_.push_back(top_narrowed_[v]);
  out_.narrowed_.push_back(e);
}

void RangeWalk::narrow(ValueId v, Wide lo, Wide hi) {
  const Type t = p_.type(v);
  if (!has_range(t)) return;
  if (const auto r = find_range(t, std::max(lo, least(t)), std::min(hi, greatest(t))))
    narrow(v, *r);
}

void RangeWalk::bound(ValueId a, ValueId b, bool strict) {
  if (mode_ != Mode::Record || now_[b].is_constant()) return;
  const Ranges::Shifted s = out_.split(a);
  Ranges::Bound e;
  e.begin = next_;
  e.outer = top_bound_[s.base];
  e.value = s.base;
  e.below = {s.offset, b, strict};
  top_bound_[s.base] = uint32_t(out_.bounds_.size());
  opened_bounds_.push_back(top_bound_[s.base]);
  out_.bounds_.push_back(e);
}

void RangeWalk::assume_comparison(Opcode code, ValueId a, ValueId b) {
  if (!is_integer(p_.type(a))) return;
  const ValueRange x = now_[a], y = now_[b];
  switch (code) {
    case Opcode::Lt:
      narrow(a, least(p_.type(a)), y.high() - 1);
      narrow(b, x.low() + 1, greatest(p_.type(b)));
      return bound(a, b, true);
    case Opcode::Le:
      narrow(a, least(p_.type(a)), y.high());
      narrow(b, x.low(), greatest(p_.type(b)));
      return bound(a, b, false);
    case Opcode::Gt: return assume_comparison(Opcode::Lt, b, a);
    case Opcode::Ge: return assume_comparison(Opcode::Le, b, a);
    case Opcode::Eq:
      narrow(a, y);
      narrow(b, x);
      bound(a, b, false);
      return bound(b, a, false);
    default: {  // different: only an end can go
      const auto without = [&](ValueId v, const ValueRange& r, const ValueRange& other) {
        if (!other.is_constant()) return;
        narrow(v, r.low() + (r.low() == other.low()), r.high() - (r.high() == other.low()));
      };
      without(a, x, y);
      without(b, y, x);
    }
  }
}

/// Narrows the operands of v by the range of v.
void RangeWalk::narrow_operands(ValueId v) {
  const OpId def = p_.values[v].def;
  if (def == none || !is_integer(p_.type(v))) return;
  const Op& o = p_.op(def);
  if (!is_pure(o.code) || o.operands.count == 0) return;
  const ValueRange r = now_[v];
  const ValueId a = p_.operand(def, 0), b = o.operands.count > 1 ? p_.operand(def, 1) : a;
  const ValueRange x = now_[a], y = now_[b];
  const bool exact = out_.no_wrap_[v];
  const Wide top = greatest(p_.type(v)), bottom = least(p_.type(v));
  const auto by_factor = [&](Wide factor) {
    narrow(a, ceil_div(r.low(), factor), floor_div(r.high(), factor));
  };
  const auto by_divisor = [&](Wide divisor) {  // rounds down, as for numbers that are not negative
    narrow(a, r.low() * divisor, r.high() * divisor + (divisor - 1));
  };
  const bool by_constant = y.is_constant() && y.low() > 0 && y.high() < (Wide{1} << 62);
  const uint32_t shift = uint32_t(uint64_t(y.lo)) & (width_of(p_.type(v)) - 1);
  switch (o.code) {
    case Opcode::Cast:
      // Only if the cast keeps every number: else several numbers become this one.
      if (has_range(p_.type(a)) && x.low() >= bottom && x.high() <= top)
        narrow(a, r.low(), r.high());
      break;
    case Opcode::Add:
      if (!exact) break;
      narrow(a, r.low() - y.high(), r.high() - y.low());
      narrow(b, r.low() - x.high(), r.high() - x.low());
      break;
    case Opcode::Sub:
      if (!exact) break;
      narrow(a, r.low() + y.low(), r.high() + y.high());
      narrow(b, x.low() - r.high(), x.high() - r.low());
      break;
    case Opcode::Mul:
      if (exact && by_constant) by_factor(y.low());
      break;
    case Opcode::Shl:
      if (exact && y.is_constant()) by_factor(Wide{1} << shift);
      break;
    case Opcode::Div:
      if (by_constant && x.low() >= 0) by_divisor(y.low());
      break;
    case Opcode::Shr:
      if (y.is_constant() && shift < 62) by_divisor(Wide{1} << shift);
      break;
    case Opcode::Min:
      narrow(a, r.low(), top);
      narrow(b, r.low(), top);
      break;
    case Opcode::Max:
      narrow(a, bottom, r.high());
      narrow(b, bottom, r.high());
      break;
    case Opcode::And:  // no larger than either
      if (x.low() >= 0) narrow(a, r.low(), top);
      if (y.low() >= 0) narrow(b, r.low(), top);
      break;
    case Opcode::Or:  // no smaller than either
      if (x.low() < 0 || y.low() < 0) break;
      narrow(a, bottom, r.high());
      narrow(b, bottom, r.high());
      break;
    default: break;
  }
}

void RangeWalk::assume(ValueId condition, bool truth) {
  assumptions_.clear();
  narrowed_now_.clear();
  assumptions_.push_back({condition, truth});
  for (int steps = 0; steps < most_steps && !assumptions_.empty(); ++steps) {
    const auto [c, holds] = assumptions_.back();
    assumptions_.pop_back();
    narrow(c, constant_range(Type::Bool, holds));
    const OpId def = p_.values[c].def;
    if (def == none) continue;
    const Op& o = p_.op(def);
    const auto also = [&](ValueId v, bool is) { assumptions_.push_back({v, is}); };
    // If one of two inputs is a constant other than this value, the value came from the other
    // input.
    const auto choice = [&](ValueId chooser, ValueId first, ValueId second) {
      const auto never = [&](ValueId v) {
        if (v == none) return true;
        const ValueRange& r = out_.by_value_[v];
        return r.is_constant() && bool(r.lo) != holds;
      };
      const bool not_first = never(first), not_second = never(second);
      if (not_first == not_second) return;
      also(chooser, not_second);
      also(not_first ? second : first, holds);
    };
    switch (o.code) {
      case Opcode::Not: also(p_.operand(def, 0), !holds); break;
      case Opcode::And:
      case Opcode::Or:
        if (holds == (o.code == Opcode::And))
          also(p_.operand(def, 0), holds), also(p_.operand(def, 1), holds);
        break;
      case Opcode::Eq:
      case Opcode::Ne:
        if (p_.type(p_.operand(def, 0)) == Type::Bool) {
          for (uint32_t i = 0; i < 2; ++i) {
            const ValueRange& other = now_[p_.operand(def, 1 - i)];
            if (other.is_constant())
              also(p_.operand(def, i), bool(other.lo) == (holds == (o.code == Opcode::Eq)));
          }
          break;
        }
        [[fallthrough]];
      case Opcode::Lt:
      case Opcode::Le:
      case Opcode::Gt:
      case Opcode::Ge:
        assume_comparison(holds ? o.code : opposite(o.code), p_.operand(def, 0),
                          p_.operand(def, 1));
        break;
      case Opcode::Cast: {
        const ValueId from = p_.operand(def, 0);
        if (!is_integer(p_.type(from))) break;
        if (!holds) narrow(from, 0, 0);
        if (holds && now_[from].low() == 0) narrow(from, 1, greatest(p_.type(from)));
        break;
      }
      case Opcode::Select:
        choice(p_.operand(def, 0), p_.operand(def, 1), p_.operand(def, 2));
        break;
      case Opcode::If: {
        const auto yielded = [&](uint32_t arm) {
          const OpId end = p_.blocks[o.first_block + arm].last;
          return p_.op(end).code == Opcode::Yield ? p_.operand(end, p_.values[c].index) : none;
        };
        choice(p_.operand(def, 0), yielded(0), yielded(1));
        break;
      }
      case Opcode::Region: {
        const OpId end = p_.blocks[o.first_block].last;
        if (p_.op(end).code == Opcode::Yield) also(p_.operand(end, p_.values[c].index), holds);
        break;
      }
      default: break;
    }
  }
  // narrow() adds to the list while it is worked on.
  for (size_t i = 0; i < narrowed_now_.size() && i < most_steps; ++i)
    narrow_operands(narrowed_now_[i]);
}

}  // namespace vyre::opt
