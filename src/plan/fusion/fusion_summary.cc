#include "plan/fusion/fusion_summary.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "check/check.h"
#include "plan/fusion/lane_slopes.h"
#include "transform/coarsen.h"

namespace vyre::plan {
namespace {

using Wide = __int128;

Wide least(Type t) { return is_signed(t) ? -(Wide(1) << (width_of(t) - 1)) : 0; }
Wide greatest(Type t) {
  return is_signed(t) ? (Wide(1) << (width_of(t) - 1)) - 1 : (Wide(1) << width_of(t)) - 1;
}

/// Numbers stay below this, so that sums of a few products fit into 64 bits.
constexpr Wide most = Wide(1) << 62;

struct Form {
  IdFactors factors = {};
  Wide low = 0, high = 0;
  bool is_number() const {
    return low == high &&
           std::all_of(factors.begin(), factors.end(), [](int64_t f) { return f == 0; });
  }
  bool has_ids() const {
    return std::any_of(factors.begin(), factors.end(), [](int64_t f) { return f != 0; });
  }
};

/// global id d is in [low, high].
struct Guard {
  int d = 0;
  int64_t low = 0, high = 0;
};
struct Condition {
  std::vector<Guard> if_true, if_false;
};

class Summarizer {
 public:
  explicit Summarizer(const FusionCall& call)
      : call_(call),
        p_(*call.kernel),
        forms_(p_.values.size()),
        conditions_(p_.values.size(), none),
        use_of_(p_.buffers.size(), none),
        slopes_(p_, [this](const Op& op) { return launch_number(op); }) {}

  CallSummary run() {
    for (int d = 0; d < 3; ++d)
      global_[d] = {0, std::max<int64_t>(0, int64_t(call_.invocations(d)) - 1)};
    for (const BufferId i : p_.buffers.ids()) add_buffer(i);
    block(body_block, 1);
    s_.coarsens = coarsening(p_) > 1;
    find_uniform_needs();
    return std::move(s_);
  }

 private:
  void add_buffer(BufferId i) {
    const Buffer& b = p_.buffers[i];
    const uint64_t bytes = call_.shape.counts[i] * size_of(b.element);
    if (b.role == Role::Shared) s_.shared_bytes += bytes;
    if (b.role == Role::Table) s_.table_bytes += bytes;
    if (!is_parameter(b.role) || b.role == Role::Scratch) {
      ++s_.own_buffers;
      s_.work.straight = false;
    }
    if (b.role == Role::Shared || b.role == Role::Scratch || b.role == Role::Private)
      s_.pure = false;  // its arrays are zeroed once, not each time it is computed
    if (call_.memory[i] == none || b.role == Role::Scalar) return;
    use_of_[i] = uint32_t(s_.uses.size());
    BufferUse use;
    use.buffer = i;
    s_.uses.push_back(use);
  }

  // ---- The walk. Blocks nest at most a thousand deep.

  void block(BlockId id, uint64_t times) {
    const auto before = global_;
    const double serial = s_.work.serial_loads;
    bool loads = false;
    for (OpId op = p_.blocks[id].first; op != none; op = p_.op(op).next) {
      ++s_.ops;
      add_work(op, double(times));
      loads |= is_load(op);
      visit(op, times);
    }
    // Loads of one block overlap; those of nested blocks come one after the other.
    if (loads && s_.work.serial_loads == serial) s_.work.serial_loads += double(times);
    global_ = before;
  }

  bool is_load(OpId op) const {
    return info(p_.op(op).code).effect == Effect::Read && use_of_[p_.memory(op).buffer] != none;
  }

  void add_work(OpId op, double times) {
    const Op& o = p_.op(op);
    CallWork& work = s_.work;
    const OpInfo& row = info(o.code);
    work.straight &= !is_loop(o.code) && row.effect != Effect::Sync && row.effect != Effect::Atomic;
    if (row.attribute == AttrKind::Memory) {
      const bool stores = o.code == Opcode::Store || o.code == Opcode::StoreN;
      const BufferId buffer = p_.memory(op).buffer;
      const std::optional<double> slope = slopes_.of(p_.operand(op, 0));
      work.add_access({buffer, stores, slope, times});
      if (row.effect == Effect::Atomic && !slope && is_parameter(p_.buffers[buffer].role))
        work.contention += times / std::max<double>(1, double(call_.shape.counts[buffer]));
    } else if (o.code == Opcode::Barrier) {
      work.barriers += times;
    } else {
      const bool narrow = is_integer(o.type) && size_of(o.type) < 4;
      (narrow ? work.narrow_operations : work.operations) += times * operation_weight(p_, op);
    }
  }

  /// The number that the launch determines for an op without operands, for lane_slopes.h.
  std::optional<double> launch_number(const Op& op) const {
    switch (op.code) {
      case Opcode::Scalar:
        if (!is_integer(op.type)) return std::nullopt;
        return double(int64_t(value_of(op.type, call_.scalars[op.buffer()])));
      case Opcode::Len:
      case Opcode::Len64: return double(call_.shape.counts[op.buffer()]);
      case Opcode::NumWorkgroups: return double(call_.shape.num_workgroups[op.attr]);
      case Opcode::WorkgroupSize: return double(p_.workgroup[op.attr]);
      default: return std::nullopt;
    }
  }

  void visit(OpId op, uint64_t times) {
    const Op& o = p_.op(op);
    for (const ValueId v : p_.results(op)) forms_[v] = unknown(p_.type(v));
    switch (o.code) {
      case Opcode::If: return if_(op, times);
      case Opcode::For: return for_(op, times);
      case Opcode::While: return while_(op, times);
      case Opcode::Region: return block(o.first_block, times);
      default: break;
    }
    const OpInfo& row = info(o.code);
    if (row.attribute == AttrKind::Memory) access(op, times);
    switch (row.effect) {
      case Effect::Pure: pure(op); break;
      case Effect::Sync:
        s_.pure = false;
        s_.barrier = true;
        s_.grid_barrier |= o.code == Opcode::Barrier ? Scope(o.attr) == Scope::Grid
                                                     : p_.memory(op).scope == Scope::Grid;
        break;
      case Effect::Convergent:
        s_.pure = false;
        s_.subgroup = true;
        break;
      case Effect::Trap:
        s_.pure = false;
        s_.traps = true;
        break;
      case Effect::Atomic: s_.pure = false; break;
      default: break;
    }
    if (o.code == Opcode::Trap) {
      s_.pure = false;
      s_.traps = true;
    }
    if (o.code == Opcode::LaneId || o.code == Opcode::SubgroupSize) {
      s_.pure = false;
      s_.subgroup = true;
    }
  }

  void narrow(const std::vector<Guard>& guards) {
    for (const Guard& g : guards) {
      Interval& i = global_[g.d];
      i.low = std::max(i.low, g.low);
      i.high = std::min(i.high, g.high);
      if (i.low > i.high) i.high = i.low;  // never reached: anything holds
    }
  }

  bool leaves(BlockId b) const {
    const Opcode last = p_.op(p_.blocks[b].last).code;
    return last != Opcode::Yield;
  }

  void if_(OpId op, uint64_t times) {
    const Op& o = p_.op(op);
    const Condition c = condition(p_.operand(op, 0));
    const auto before = global_;
    narrow(c.if_true);
    const uint64_t some = times > 1 && is_for_some(p_.operand(op, 0)) ? (times + 3) / 4 : times;
    block(o.first_block, some);
    global_ = before;
    narrow(c.if_false);
    block(o.first_block + 1, times);
    global_ = before;
    if (leaves(o.first_block)) narrow(c.if_false);
    if (leaves(o.first_block + 1)) narrow(c.if_true);
    // `a && b` is an `if` that yields b or false, `a || b` one that yields true or b.
    if (o.results.count != 1 || p_.type(p_.result(op)) != Type::Bool) return;
    const OpId t = p_.blocks[o.first_block].last, e = p_.blocks[o.first_block + 1].last;
    if (p_.op(t).code != Opcode::Yield || p_.op(e).code != Opcode::Yield) return;
    const ValueId tv = p_.operand(t, 0), ev = p_.operand(e, 0);
    Condition both;
    if (is_constant(ev, 0)) both.if_true = sum(c.if_true, condition(tv).if_true);
    if (is_constant(tv, 1)) both.if_false = sum(c.if_false, condition(ev).if_false);
    keep(p_.result(op), std::move(both));
  }

  /// True if the condition compares an id with a bound that changes: `if local_id.x < stride` in a
  /// tree reduction.
  bool is_for_some(ValueId condition) const {
    const OpId def = p_.values[condition].def;
    if (def == none || p_.op(def).operands.count != 2) return false;
    const ValueId a = p_.operand(def, 0), b = p_.operand(def, 1);
    const auto advances = [&](ValueId v) { return slopes_.of(v).value_or(0) != 0; };
    const auto changes = [&](ValueId v) {
      return slopes_.of(v) == 0.0 && !forms_[v].is_number() && is_integer(p_.type(v));
    };
    return (advances(a) && changes(b)) || (advances(b) && changes(a));
  }

  void for_(OpId op, uint64_t times) {
    const Op& o = p_.op(op);
    const Form lo = forms_[p_.operand(op, 0)], hi = forms_[p_.operand(op, 1)];
    const Form& step = forms_[p_.operand(op, 2)];
    const auto args = p_.args(o.first_block);
    for (const ValueId v : args) forms_[v] = unknown(p_.type(v));
    if (const auto span = add(hi, lo, -1); span && !span->has_ids()) {
      Form i = lo;
      i.high += std::max<Wide>(span->high - 1, 0);
      if (fits(i, p_.type(args[0]))) forms_[args[0]] = i;
    }
    const uint64_t trips = iterations(p_.operand(op, 0), p_.operand(op, 1), step);
    block(o.first_block, std::min<uint64_t>(times * trips, uint64_t{1} << 40));
  }

  /// Estimated iterations of a loop from one value up to another, for the cost only.
  uint64_t iterations(ValueId lo, ValueId hi, const Form& step) const {
    constexpr uint64_t guess = 16;
    if (!step.is_number() || step.low <= 0) return guess;
    std::optional<Wide> span;
    for (const Form& last : bounds(hi))
      for (const Form& first : bounds(lo))
        if (const auto one = add(last, first, -1); one && !one->has_ids() && one->high < most)
          span = std::min(span.value_or(one->high), one->high);
    if (!span) return guess;
    return uint64_t(std::clamp<Wide>((*span + step.low - 1) / step.low, 1, 1 << 20));
  }

  /// Forms that a bound has in most invocations: its form if it is known, or those of the values
  /// that it is clamped from, as in `min(i + n, len(x))`.
  std::vector<Form> bounds(ValueId v) const {
    std::vector<Form> list;
    const auto add_known = [&](ValueId u) {
      if (forms_[u].high < std::min(greatest(p_.type(u)), most)) list.push_back(forms_[u]);
    };
    add_known(v);
    const OpId def = p_.values[v].def;
    if (def == none) return list;
    const auto operand = [&](uint32_t i) { return p_.operand(def, i); };
    switch (p_.op(def).code) {
      case Opcode::Min:
      case Opcode::Max:
        add_known(operand(0));
        add_known(operand(1));
        break;
      case Opcode::Clamp: add_known(operand(0)); break;
      case Opcode::SatAdd:
      case Opcode::SatSub:
        if (const auto f = add(forms_[operand(0)], forms_[operand(1)],
                               p_.op(def).code == Opcode::SatAdd ? 1 : -1))
          list.push_back(*f);
        break;
      default: break;
    }
    return list;
  }

  /// The same of a `while` whose test compares a carried value, to which the body adds a number.
  uint64_t iterations_of_while(OpId op) const {
    constexpr uint64_t guess = 16;
    const Op& o = p_.op(op);
    const OpId test = p_.blocks[o.first_block].last, yield = p_.blocks[o.first_block + 1].last;
    const OpId compare = p_.values[p_.operand(test, 0)].def;
    if (compare == none || p_.op(yield).code != Opcode::Yield) return guess;
    const auto args = p_.args(o.first_block);
    for (uint32_t side = 0; side < p_.op(compare).operands.count && side < 2; ++side) {
      const ValueId counter = p_.operand(compare, side);
      const auto at = std::find(args.begin(), args.end(), counter);
      if (at == args.end()) continue;
      const uint32_t i = uint32_t(at - args.begin());
      const ValueId first = p_.operand(op, i);
      const OpId next = p_.values[p_.operand(yield, i)].def;
      if (next == none) continue;
      const Opcode code = p_.op(next).code;
      if (code == Opcode::Shr || code == Opcode::Div)  // by halves
        return uint64_t(
            std::bit_width(uint64_t(std::clamp<Wide>(range(forms_[first]).second, 0, 1 << 20))));
      if (code != Opcode::Add) continue;
      const bool is_left = p_.operand(next, 0) == counter;
      if (!is_left && p_.operand(next, 1) != counter) continue;
      const OpId by = p_.values[p_.operand(next, is_left ? 1 : 0)].def;
      if (by == none || p_.op(by).code != Opcode::Const) continue;
      const Form step = number(value_of(p_.op(by).type, p_.op(by).attr));
      return iterations(first, p_.operand(compare, 1 - side), step);
    }
    return guess;
  }

  void while_(OpId op, uint64_t times) {
    const Op& o = p_.op(op);
    s_.endless = true;
    for (const ValueId v : p_.args(o.first_block)) forms_[v] = unknown(p_.type(v));
    const bool outer = std::exchange(in_test_, true);
    const uint64_t all = std::min<uint64_t>(times * iterations_of_while(op), uint64_t{1} << 40);
    block(o.first_block, all);
    in_test_ = outer;
    block(o.first_block + 1, all);
  }

  // ---- Numbers.

  static Form unknown(Type t) {
    Form f;
    if (is_integer(t)) {
      f.low = std::max(least(t), -most);
      f.high = std::min(greatest(t), most);
    }
    return f;
  }
  static Form number(Wide n) {
    Form f;
    f.low = f.high = n;
    return f;
  }

  /// All values that the form can have here. A global id is one with its local and workgroup's:
  /// where these are in the form, too, it is taken as their sum.
  std::pair<Wide, Wide> range(const Form& f) const {
    Wide low = f.low, high = f.high;
    const auto add = [&](Wide factor, Wide first, Wide last) {
      low += std::min(factor * first, factor * last);
      high += std::max(factor * first, factor * last);
    };
    for (int d = 0; d < 3; ++d) {
      const Wide g = f.factors[d], l = f.factors[3 + d], w = f.factors[6 + d];
      if (l == 0 && w == 0) {
        add(g, global_[d].low, global_[d].high);
      } else {
        add(g + l, 0, Wide(p_.workgroup[d]) - 1);
        add(g * p_.workgroup[d] + w, 0, std::max<Wide>(1, call_.shape.num_workgroups[d]) - 1);
      }
    }
    return {low, high};
  }
  bool fits(const Form& f, Type t) const {
    const auto [low, high] = range(f);
    return low >= least(t) && high <= greatest(t) && low > -most && high < most;
  }

  static std::optional<Form> add(const Form& a, const Form& b, Wide factor) {
    Form r;
    for (int i = 0; i < 9; ++i) {
      const Wide f = a.factors[i] + b.factors[i] * factor;
      if (f >= most || f <= -most) return std::nullopt;
      r.factors[i] = int64_t(f);
    }
    const Wide x = b.low * factor, y = b.high * factor;
    r.low = a.low + std::min(x, y);
    r.high = a.high + std::max(x, y);
    if (r.low <= -2 * most || r.high >= 2 * most) return std::nullopt;
    return r;
  }

  /// Multiples of the workgroup's size times its id are a global id less a local one.
  void normalize(Form& f) const {
    for (int d = 0; d < 3; ++d) {
      const int64_t w = p_.workgroup[d];
      const int64_t k = f.factors[6 + d] / w;
      if (f.factors[6 + d] % w != 0 || k == 0) continue;
      f.factors[6 + d] = 0;
      f.factors[d] += k;
      f.factors[3 + d] -= k;
    }
  }

  void pure(OpId op) {
    const ValueId v = p_.result(op);
    const Type t = p_.type(v);
    if (t == Type::Bool) return logic(op);
    if (!is_integer(t)) return;
    std::optional<Form> f = form(op, t);
    if (!f) return;
    normalize(*f);
    if (fits(*f, t)) forms_[v] = *f;
  }

  Form id(int i) const {
    Form f;
    f.factors[i] = 1;
    return f;
  }

  static Wide value_of(Type t, uint64_t bits) {
    if (!is_signed(t)) return bits;
    const uint32_t unused = 64 - width_of(t);
    return int64_t(bits << unused) >> unused;
  }

  std::optional<Form> form(OpId op, Type t) const {
    const Op& o = p_.op(op);
    const auto operand = [&](uint32_t i) -> const Form& { return forms_[p_.operand(op, i)]; };
    switch (o.code) {
      case Opcode::Const: return number(value_of(t, o.attr));
      case Opcode::GlobalId: return id(int(o.attr));
      case Opcode::LocalId: return id(3 + int(o.attr));
      case Opcode::WorkgroupId: return id(6 + int(o.attr));
      case Opcode::NumWorkgroups: return number(call_.shape.num_workgroups[o.attr]);
      case Opcode::WorkgroupSize: return number(p_.workgroup[o.attr]);
      case Opcode::Len:
      case Opcode::Len64: return number(call_.shape.counts[o.buffer()]);
      case Opcode::Scalar: return number(value_of(t, call_.scalars[o.buffer()]));
      case Opcode::Cast:
        if (!is_integer(p_.type(p_.operand(op, 0)))) return std::nullopt;
        return operand(0);
      case Opcode::Add: return add(operand(0), operand(1), 1);
      case Opcode::Sub: return add(operand(0), operand(1), -1);
      case Opcode::Mul:
        if (operand(1).is_number()) return add({}, operand(0), operand(1).low);
        if (operand(0).is_number()) return add({}, operand(1), operand(0).low);
        return std::nullopt;
      case Opcode::Shl:
        if (!operand(1).is_number()) return std::nullopt;
        return add({}, operand(0), Wide(1) << (uint64_t(operand(1).low) % width_of(t)));
      case Opcode::Div:
      case Opcode::CeilDiv:
      case Opcode::Rem:
      case Opcode::Min:
      case Opcode::Max: return of_ranges(o.code, operand(0), operand(1));
      case Opcode::And: {
        const auto [al, ah] = range(operand(0));
        const auto [bl, bh] = range(operand(1));
        if (al < 0 || bl < 0) return std::nullopt;
        Form f;
        f.high = std::min(ah, bh);
        return f;
      }
      case Opcode::Select: {
        const auto [al, ah] = range(operand(1));
        const auto [bl, bh] = range(operand(2));
        Form f;
        f.low = std::min(al, bl);
        f.high = std::max(ah, bh);
        return f;
      }
      default: return std::nullopt;
    }
  }

  /// Ops that grow with their first operand, which loses its ids.
  std::optional<Form> of_ranges(Opcode code, const Form& a, const Form& b) const {
    const auto [al, ah] = range(a);
    const auto [bl, bh] = range(b);
    Form f;
    if (code == Opcode::Min || code == Opcode::Max) {
      f.low = code == Opcode::Min ? std::min(al, bl) : std::max(al, bl);
      f.high = code == Opcode::Min ? std::min(ah, bh) : std::max(ah, bh);
      return f;
    }
    if (al < 0 || bl <= 0 || ah >= most || bh >= most) return std::nullopt;
    if (code == Opcode::Rem) {
      if (ah < bl) return a;
      f.high = std::min(ah, bh - 1);
      return f;
    }
    const Wide up = code == Opcode::CeilDiv ? 1 : 0;
    f.low = al / bh;
    f.high = (ah + up * (bl - 1)) / bl;
    return f;
  }

  // ---- Conditions.

  bool is_constant(ValueId v, uint64_t bits) const {
    const OpId def = p_.values[v].def;
    return def != none && p_.op(def).code == Opcode::Const && p_.op(def).attr == bits;
  }
  Condition condition(ValueId v) const {
    return conditions_[v] == none ? Condition{} : kept_[conditions_[v]];
  }
  void keep(ValueId v, Condition c) {
    if (c.if_true.empty() && c.if_false.empty()) return;
    conditions_[v] = uint32_t(kept_.size());
    kept_.push_back(std::move(c));
  }
  static std::vector<Guard> sum(std::vector<Guard> a, const std::vector<Guard>& b) {
    constexpr size_t most_guards = 8;
    for (const Guard& g : b)
      if (a.size() < most_guards) a.push_back(g);
    return a;
  }

  void logic(OpId op) {
    const Op& o = p_.op(op);
    const auto operand = [&](uint32_t i) { return condition(p_.operand(op, i)); };
    Condition c;
    switch (o.code) {
      case Opcode::And: c.if_true = sum(operand(0).if_true, operand(1).if_true); break;
      case Opcode::Or: c.if_false = sum(operand(0).if_false, operand(1).if_false); break;
      case Opcode::Not:
        c = operand(0);
        std::swap(c.if_true, c.if_false);
        break;
      case Opcode::Lt:
      case Opcode::Le:
      case Opcode::Gt:
      case Opcode::Ge: compare(op, c); break;
      default: return;
    }
    keep(p_.result(op), std::move(c));
  }

  /// a < b where the difference is one global id, or less one, and a number.
  void compare(OpId op, Condition& c) const {
    if (!is_integer(p_.op(op).type)) return;
    const Opcode code = p_.op(op).code;
    const Form &a = forms_[p_.operand(op, 0)], &b = forms_[p_.operand(op, 1)];
    const bool swap = code == Opcode::Gt || code == Opcode::Ge;
    const auto left = swap ? add(b, a, -1) : add(a, b, -1);  // < 0 or <= 0
    if (!left) return;
    const bool strict = code == Opcode::Lt || code == Opcode::Gt;
    int d = -1;
    for (int i = 0; i < 9; ++i) {
      if (left->factors[i] == 0) continue;
      if (d >= 0 || i > 2 || std::abs(left->factors[i]) != 1) return;
      d = i;
    }
    if (d < 0) return;
    constexpr int64_t far = std::numeric_limits<int64_t>::max() / 4;
    const auto clip = [&](Wide n) { return int64_t(std::clamp<Wide>(n, -far, far)); };
    // s·g + rest < 0: the lowest rest gives the bound that holds in every case.
    if (left->factors[d] == 1) {
      c.if_true.push_back({d, -far, clip(-left->low - strict)});
      c.if_false.push_back({d, clip(-left->high + !strict), far});
    } else {
      c.if_true.push_back({d, clip(left->low + strict), far});
      c.if_false.push_back({d, -far, clip(left->high - !strict)});
    }
  }

  // ---- Memory.

  void access(OpId op, uint64_t times) {
    const Op& o = p_.op(op);
    const BufferId buffer = p_.memory(op).buffer;
    const bool stores = o.code == Opcode::Store || o.code == Opcode::StoreN;
    const bool loads = !stores && !is_atomic(o.code);
    if (use_of_[buffer] == none) return;
    BufferUse& use = s_.uses[use_of_[buffer]];
    use.reads |= !stores;
    use.writes |= !loads;
    use.atomics |= is_atomic(o.code);
    use.only_plain &= o.code == Opcode::Load || o.code == Opcode::Store;
    use.store_in_test |= stores && in_test_;
    use.loads += loads;
    use.stores += stores;
    if (loads) use.loaded = std::min<uint64_t>(use.loaded + times, uint64_t{1} << 40);
    Form f = forms_[p_.operand(op, 0)];
    if (o.code == Opcode::LoadN) f.high += o.results.count - 1;
    if (o.code == Opcode::StoreN) f.high += o.operands.count - 2;
    if (o.code == Opcode::LoadAs) f = unknown(Type::U64);
    IndexForm form;
    form.factors = f.factors;
    form.rest = {int64_t(std::max(f.low, -most)), int64_t(std::min(f.high, most))};
    form.global = global_;
    if (!touched(use_of_[buffer]))
      use.form = form;
    else
      use.one_form &= merge(use.form, form);
  }

  bool touched(uint32_t use) {
    if (touched_.size() <= use) touched_.resize(use + 1, false);
    const bool was = touched_[use];
    touched_[use] = true;
    return was;
  }

  /// Finds buffers that must stay read-only: loads of a buffer that others write are varying, which
  /// may make a barrier illegal. Levels are the lowest that reaches a value, so buffers can be
  /// tried one by one.
  void find_uniform_needs() {
    if (!s_.barrier && !s_.subgroup) return;
    for (const BufferId i : p_.buffers.ids()) {
      const Role role = p_.buffers[i].role;
      if ((role != Role::In && role != Role::Uniform) || use_of_[i] == none) continue;
      if (!s_.uses[use_of_[i]].reads) continue;
      Program changed = p_;
      changed.buffers[i].role = Role::InOut;
      walk(changed, [&](OpId op) {
        if (info(changed.op(op).code).attribute != AttrKind::Memory) return;
        MemoryRef m = changed.memory(op);
        m.read_only = false;
        changed.op(op).attr = m.pack();
      });
      if (has_errors(check(changed))) s_.needs_uniform |= bit_of(i);
    }
  }

  const FusionCall& call_;
  const Program& p_;
  CallSummary s_;
  IdMap<ValueId, Form> forms_;
  IdMap<ValueId, uint32_t> conditions_;
  std::vector<Condition> kept_;
  IdMap<BufferId, uint32_t> use_of_;
  LaneSlopes slopes_;
  std::vector<bool> touched_;
  std::array<Interval, 3> global_ = {};
  bool in_test_ = false;
};

}  // namespace

CallSummary summarize(const FusionCall& call) { return Summarizer(call).run(); }

bool merge(IndexForm& form, const IndexForm& other) {
  form.rest.low = std::min(form.rest.low, other.rest.low);
  form.rest.high = std::max(form.rest.high, other.rest.high);
  for (int d = 0; d < 3; ++d) {
    form.global[d].low = std::min(form.global[d].low, other.global[d].low);
    form.global[d].high = std::max(form.global[d].high, other.global[d].high);
  }
  return form.factors == other.factors;
}

bool is_own_element(const IndexForm& form, const std::array<uint32_t, 3>& workgroup,
                    const std::array<uint64_t, 3>& num_workgroups) {
  struct Digit {
    Wide factor = 0, extent = 0;
  };
  std::array<Digit, 6> digits;
  size_t n = 0;
  const bool only_global =
      std::all_of(form.factors.begin() + 3, form.factors.end(), [](int64_t f) { return f == 0; });
  const auto add = [&](Wide factor, Wide extent) {
    if (extent > 0) digits[n++] = {factor < 0 ? -factor : factor, extent};
  };
  for (int d = 0; d < 3; ++d) {
    if (only_global) {
      add(form.factors[d], Wide(form.global[d].high) - form.global[d].low);
    } else {
      add(Wide(form.factors[d]) + form.factors[3 + d], Wide(workgroup[d]) - 1);
      add(Wide(form.factors[d]) * workgroup[d] + form.factors[6 + d], Wide(num_workgroups[d]) - 1);
    }
  }
  // A number system: a step of one digit is more than all smaller digits and the rest can make up.
  for (size_t i = 1; i < n; ++i)
    for (size_t k = i; k > 0 && digits[k].factor < digits[k - 1].factor; --k)
      std::swap(digits[k], digits[k - 1]);
  Wide below = Wide(form.rest.high) - form.rest.low;
  for (size_t i = 0; i < n; ++i) {
    if (digits[i].factor <= below) return false;
    below += digits[i].factor * digits[i].extent;
  }
  return true;
}

}  // namespace vyre::plan
