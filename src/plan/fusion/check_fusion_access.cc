#include "plan/fusion/check_fusion_access.h"

#include <algorithm>
#include <optional>

namespace vyre::plan {
namespace {

using Number = __int128;
constexpr Number huge = Number(1) << 100;
constexpr uint32_t most_depth = 400;
constexpr uint32_t most_steps = 100'000;  // of one access

struct Box {
  std::array<Number, 3> first = {}, last = {};
};

struct Seen {
  bool known = false;                 // false: anything of its type
  std::array<Number, 9> factor = {};  // of global, local and workgroup ids
  Number low = 0, high = 0;
};

class Backwards {
 public:
  Backwards(const Program& p, const LaunchShape& shape, const IdMap<BufferId, uint64_t>& scalars)
      : p_(p), shape_(shape), scalars_(scalars) {}

  SeenAccess see(OpId op) {
    steps_ = 0;
    for (int d = 0; d < 3; ++d)
      box_.first[d] = 0, box_.last[d] = Number(shape_.num_workgroups[d]) * p_.workgroup[d] - 1;
    climb(op);
    SeenAccess a;
    a.op = op;
    const Opcode code = p_.op(op).code;
    a.buffer = p_.memory(op).buffer;
    a.atomic = is_atomic(code);
    a.plain = code == Opcode::Load || code == Opcode::Store;
    a.writes = a.atomic || code == Opcode::Store || code == Opcode::StoreN;
    a.reads = a.atomic || !a.writes;
    a.first = box_.first;
    a.last = box_.last;
    const Seen index = value(p_.operand(op, 0), 0);
    if (!index.known || code == Opcode::LoadAs) {
      a.low = -huge;
      a.high = huge;
      return a;
    }
    a.factor = index.factor;
    a.low = index.low;
    a.high = index.high;
    if (code == Opcode::LoadN) a.high += p_.op(op).results.count - 1;
    if (code == Opcode::StoreN) a.high += p_.op(op).operands.count - 2;
    return a;
  }

 private:
  // ---- Conditions that must hold to reach an op.

  void climb(OpId op) {
    struct Fact {
      ValueId condition;
      bool holds;
    };
    std::vector<Fact> facts;
    for (OpId at = op; at != none; at = p_.blocks[p_.op(at).parent].parent) {
      for (OpId before = p_.op(at).prev; before != none; before = p_.op(before).prev) {
        if (p_.op(before).code != Opcode::If) continue;
        for (uint32_t arm = 0; arm < 2; ++arm)
          if (p_.op(p_.blocks[p_.block(before, arm)].last).code != Opcode::Yield)
            facts.push_back({p_.operand(before, 0), arm == 1});
      }
      const OpId owner = p_.blocks[p_.op(at).parent].parent;
      if (owner != none && p_.op(owner).code == Opcode::If)
        facts.push_back({p_.operand(owner, 0), p_.op(at).parent == p_.block(owner, 0)});
    }
    // The outermost first: it helps to analyze the next.
    for (size_t i = facts.size(); i-- > 0;) assume(facts[i].condition, facts[i].holds, 0);
  }

  bool is_bool(ValueId v, bool wanted) const {
    const OpId def = p_.values[v].def;
    return def != none && p_.op(def).code == Opcode::Const && (p_.op(def).attr != 0) == wanted;
  }

  void assume(ValueId v, bool holds, uint32_t depth) {
    const OpId def = p_.values[v].def;
    if (def == none || depth > most_depth || ++steps_ > most_steps) return;
    const Op& o = p_.op(def);
    switch (o.code) {
      case Opcode::Not: return assume(p_.operand(def, 0), !holds, depth + 1);
      case Opcode::And:
      case Opcode::Or:
        if (holds != (o.code == Opcode::And)) return;
        assume(p_.operand(def, 0), holds, depth + 1);
        return assume(p_.operand(def, 1), holds, depth + 1);
      case Opcode::If: {
        if (o.results.count != 1) return;
        const OpId yes = p_.blocks[p_.block(def, 0)].last, no = p_.blocks[p_.block(def, 1)].last;
        if (p_.op(yes).code != Opcode::Yield || p_.op(no).code != Opcode::Yield) return;
        // The condition held, and one branch yields the opposite: the other branch was taken.
        if (is_bool(p_.operand(no, 0), !holds)) {
          assume(p_.operand(def, 0), true, depth + 1);
          assume(p_.operand(yes, 0), holds, depth + 1);
        } else if (is_bool(p_.operand(yes, 0), !holds)) {
          assume(p_.operand(def, 0), false, depth + 1);
          assume(p_.operand(no, 0), holds, depth + 1);
        }
        return;
      }
      case Opcode::Lt: return less(def, 0, 1, holds, holds ? 1 : 0);
      case Opcode::Le: return less(def, 0, 1, holds, holds ? 0 : 1);
      case Opcode::Gt: return less(def, 1, 0, holds, holds ? 1 : 0);
      case Opcode::Ge: return less(def, 1, 0, holds, holds ? 0 : 1);
      default: return;
    }
  }

  /// operand x + gap <= operand y, or where it does not hold: operand y + gap <= operand x.
  void less(OpId op, uint32_t x, uint32_t y, bool holds, int gap) {
    if (!is_integer(p_.op(op).type)) return;
    if (!holds) std::swap(x, y);
    const Seen small = value(p_.operand(op, x), 0), large = value(p_.operand(op, y), 0);
    if (!small.known || !large.known) return;
    int which = -1;
    for (int i = 0; i < 9; ++i)
      if (small.factor[i] != large.factor[i]) which = which == -1 ? i : 9;
    if (which < 0 || which > 2) return;
    const Number factor = small.factor[which] - large.factor[which];
    const Number room = large.high - small.low - gap;  // factor · id <= room
    if (factor == 1)
      box_.last[which] = std::max(box_.first[which], std::min(box_.last[which], room));
    if (factor == -1)
      box_.first[which] = std::min(box_.last[which], std::max(box_.first[which], -room));
  }

  // ---- Values.

  static Number limit(Type t, bool top) {
    if (!is_signed(t)) return top ? (Number(1) << width_of(t)) - 1 : 0;
    const Number half = Number(1) << (width_of(t) - 1);
    return top ? half - 1 : -half;
  }

  /// Returns the bounds over all invocations that reach the access. With local or workgroup ids in
  /// it: over all of the launch.
  std::pair<Number, Number> extremes(const Seen& s) const {
    Number low = s.low, high = s.high;
    const auto digit = [&](Number worth, Number from, Number to) {
      low += worth < 0 ? worth * to : worth * from;
      high += worth < 0 ? worth * from : worth * to;
    };
    for (int d = 0; d < 3; ++d) {
      if (s.factor[3 + d] == 0 && s.factor[6 + d] == 0) {
        digit(s.factor[d], box_.first[d], box_.last[d]);
        continue;
      }
      const Number size = p_.workgroup[d];
      digit(s.factor[d] + s.factor[3 + d], 0, size - 1);
      digit(s.factor[d] * size + s.factor[6 + d], 0, Number(shape_.num_workgroups[d]) - 1);
    }
    return {low, high};
  }

  static Seen exactly(Number n) { return between(n, n); }
  static Seen between(Number low, Number high) {
    Seen s;
    s.known = true;
    s.low = low;
    s.high = high;
    return s;
  }
  static Seen whole(Type t) { return between(limit(t, false), limit(t, true)); }

  static Seen sum(const Seen& a, const Seen& b, Number times) {
    Seen s = a;
    for (int i = 0; i < 9; ++i) s.factor[i] += b.factor[i] * times;
    s.low += std::min(b.low * times, b.high * times);
    s.high += std::max(b.low * times, b.high * times);
    return s;
  }
  static bool single(const Seen& s) {
    return s.known && s.low == s.high &&
           std::all_of(s.factor.begin(), s.factor.end(), [](Number f) { return f == 0; });
  }
  static bool is_small(const Seen& s) {
    const auto small = [](Number n) { return n > -(Number(1) << 70) && n < (Number(1) << 70); };
    return small(s.low) && small(s.high) && std::all_of(s.factor.begin(), s.factor.end(), small);
  }

  Seen value(ValueId v, uint32_t depth) {
    const Type t = p_.type(v);
    if (!is_integer(t) || depth > most_depth || ++steps_ > most_steps) return {};
    Seen s = p_.values[v].def == none ? argument(v, depth) : result(p_.values[v].def, t, depth);
    if (!s.known || !is_small(s)) return whole(t);
    see_through_workgroups(s);
    const auto [low, high] = extremes(s);
    return low >= limit(t, false) && high <= limit(t, true) ? s : whole(t);
  }

  /// The counter of a `for`; carried values are not followed.
  Seen argument(ValueId v, uint32_t depth) {
    const OpId loop = p_.blocks[p_.values[v].block].parent;
    if (loop == none || p_.op(loop).code != Opcode::For || p_.values[v].index != 0) return {};
    Seen from = value(p_.operand(loop, 0), depth + 1);
    const Seen to = value(p_.operand(loop, 1), depth + 1);
    if (!from.known || !to.known || from.factor != to.factor) return {};
    from.high = std::max(from.high, from.high + to.high - from.low - 1);
    return from;
  }

  Seen result(OpId op, Type t, uint32_t depth) {
    const Op& o = p_.op(op);
    if (!is_pure(o.code)) return {};
    const auto in = [&](uint32_t i) { return value(p_.operand(op, i), depth + 1); };
    Seen id;
    id.known = true;
    switch (o.code) {
      case Opcode::Const: return exactly(number(t, o.attr));
      case Opcode::Scalar: return exactly(number(t, scalars_[o.buffer()]));
      case Opcode::Len:
      case Opcode::Len64: return exactly(shape_.counts[o.buffer()]);
      case Opcode::NumWorkgroups: return exactly(shape_.num_workgroups[o.attr]);
      case Opcode::WorkgroupSize: return exactly(p_.workgroup[o.attr]);
      case Opcode::GlobalId: id.factor[o.attr] = 1; return id;
      case Opcode::LocalId: id.factor[3 + o.attr] = 1; return id;
      case Opcode::WorkgroupId: id.factor[6 + o.attr] = 1; return id;
      case Opcode::Cast: return is_integer(p_.type(p_.operand(op, 0))) ? in(0) : Seen{};
      case Opcode::Add: return sum(in(0), in(1), 1);
      case Opcode::Sub: return sum(in(0), in(1), -1);
      case Opcode::Mul:
      case Opcode::Shl: return product(op, in(0), in(1), t);
      default: return bounded(o.code, op, in);
    }
  }

  Seen product(OpId op, const Seen& a, const Seen& b, Type t) {
    if (single(b)) {
      const Number times =
          p_.op(op).code == Opcode::Shl ? Number(1) << (uint64_t(b.low) % width_of(t)) : b.low;
      return sum(exactly(0), a, times);
    }
    if (p_.op(op).code == Opcode::Shl || !single(a)) return {};
    return sum(exactly(0), b, a.low);
  }

  /// workgroup_id · (k · size) is k · (global_id - local_id).
  void see_through_workgroups(Seen& s) const {
    for (int d = 0; d < 3; ++d) {
      if (s.factor[6 + d] % p_.workgroup[d] != 0) continue;
      const Number k = s.factor[6 + d] / p_.workgroup[d];
      s.factor[d] += k;
      s.factor[3 + d] -= k;
      s.factor[6 + d] = 0;
    }
  }

  template <class In>
  Seen bounded(Opcode code, OpId op, In&& in) {
    if (p_.op(op).operands.count < 2) return {};
    if (code == Opcode::Select) {
      const auto [al, ah] = extremes(in(1));
      const auto [bl, bh] = extremes(in(2));
      return between(std::min(al, bl), std::max(ah, bh));
    }
    const Seen a = in(0), b = in(1);
    if (!a.known || !b.known) return {};
    const auto [al, ah] = extremes(a);
    const auto [bl, bh] = extremes(b);
    switch (code) {
      case Opcode::Min: return between(std::min(al, bl), std::min(ah, bh));
      case Opcode::Max: return between(std::max(al, bl), std::max(ah, bh));
      case Opcode::And: return al < 0 || bl < 0 ? Seen{} : between(0, std::min(ah, bh));
      case Opcode::Rem:
        if (al < 0 || bl <= 0) return {};
        return ah < bl ? a : between(0, std::min(ah, bh - 1));
      case Opcode::Div: return al < 0 || bl <= 0 ? Seen{} : between(al / bh, ah / bl);
      case Opcode::CeilDiv:
        return al < 0 || bl <= 0 ? Seen{} : between(al / bh, (ah + bl - 1) / bl);
      default: return {};
    }
  }

  static Number number(Type t, uint64_t bits) {
    const Number n = bits & low_mask(width_of(t));
    return is_signed(t) && n > limit(t, true) ? n - (Number(1) << width_of(t)) : n;
  }

  const Program& p_;
  const LaunchShape& shape_;
  const IdMap<BufferId, uint64_t>& scalars_;
  Box box_;
  uint32_t steps_ = 0;
};

}  // namespace

std::vector<SeenAccess> see_accesses(const Program& kernel, const LaunchShape& shape,
                                     const IdMap<BufferId, uint64_t>& scalars,
                                     const IdMap<BufferId, bool>& wanted) {
  std::vector<SeenAccess> list;
  Backwards backwards(kernel, shape, scalars);
  walk(kernel, [&](OpId op) {
    if (info(kernel.op(op).code).attribute != AttrKind::Memory) return;
    if (wanted[kernel.memory(op).buffer]) list.push_back(backwards.see(op));
  });
  return list;
}

bool meet_only_in_one_invocation(const SeenAccess& a, const SeenAccess& b, const Program& kernel,
                                 const LaunchShape& shape) {
  if (a.factor != b.factor) return false;
  // a's element for invocation p is b's for q: Σ factor · (p - q) is within [-apart, apart]. Shown
  // to be impossible for p != q: the ids are digits, each worth more than all below it.
  Number apart = std::max(a.high - b.low, b.high - a.low);
  apart = std::max(apart, -apart);
  struct Digit {
    Number worth, most;
  };
  std::vector<Digit> digits;
  const bool local =
      std::any_of(a.factor.begin() + 3, a.factor.end(), [](Number f) { return f != 0; });
  for (int d = 0; d < 3; ++d) {
    if (local) {
      digits.push_back({a.factor[d] + a.factor[3 + d], Number(kernel.workgroup[d]) - 1});
      digits.push_back({a.factor[d] * kernel.workgroup[d] + a.factor[6 + d],
                        Number(shape.num_workgroups[d]) - 1});
    } else {
      const Number last = std::max(a.last[d], b.last[d]), first = std::min(a.first[d], b.first[d]);
      digits.push_back({a.factor[d], last - first});
    }
  }
  for (Digit& d : digits) d.worth = std::max(d.worth, -d.worth);
  std::erase_if(digits, [](const Digit& d) { return d.most <= 0; });
  while (!digits.empty()) {
    const auto least =
        std::min_element(digits.begin(), digits.end(),
                         [](const Digit& x, const Digit& y) { return x.worth < y.worth; });
    if (least->worth <= apart) return false;
    apart += least->worth * least->most;
    digits.erase(least);
  }
  return true;
}

}  // namespace vyre::plan
