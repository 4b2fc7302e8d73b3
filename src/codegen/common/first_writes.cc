#include "codegen/common/first_writes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/eval/eval.h"
#include "transform/structure_exits.h"

namespace vyre {
namespace {

constexpr uint64_t most_elements = 1 << 16;  // per array; larger ones are zeroed
constexpr uint64_t most_work = 1 << 20;      // lanes and elements that are touched in all
constexpr uint64_t most_trips = 64;          // of a loop that is walked trip by trip

// Values of Array::by besides the numbers of the invocations that wrote the element:
constexpr uint16_t others = 0xffff;           // the whole workgroup sees it
constexpr uint16_t some_invocation = 0xfffe;  // the whole workgroup sees it after the next barrier

using Lanes = std::vector<bool>;        // by invocation of the workgroup
using Numbers = std::vector<uint64_t>;  // … a value's bits; empty: not known

/// The elements of an array that have surely been written.
struct Array {
  bool is_private = false;
  /// By element: 0 if not written; one more than the number of the group of invocations in step
  /// that wrote it since the last barrier; or one of the above. Private arrays: `others` if every
  /// invocation wrote its own element.
  std::vector<uint16_t> by;
};

struct State {
  Lanes sure;   // invocations that surely reach this point, if any does
  Lanes maybe;  // invocations that may reach this point
  IdMap<BufferId, Array> arrays;
  bool dead = false;  // no invocation reaches this point
};

class Walk {
 public:
  explicit Walk(const ArrayUse& use) : k_(use), p_(use.program) {}

  IdMap<BufferId, bool> run() {
    find_arrays();
    if (arrays_ != 0) {
      State s;
      s.sure.assign(k_.workgroup, true);
      s.maybe = s.sure;
      s.arrays.resize(p_.buffers.size());
      for (const BufferId i : p_.buffers.ids()) {
        if (!is_asked(i)) continue;
        s.arrays[i].is_private = p_.buffers[i].role == Role::Private;
        s.arrays[i].by.assign(count_[i], 0);
      }
      numbers_.resize(p_.values.size());
      const ExactFloats exact;
      block(body_block, s);
      if (work_ > most_work)
        for (const BufferId i : needed_.ids()) needed_[i] = needed_[i] || is_asked(i);
    }
    return needed_;
  }

 private:
  bool is_asked(BufferId buffer) const { return arrays_ & bit_of(buffer); }

  void find_arrays() {
    needed_.assign(p_.buffers.size(), false);
    count_.assign(p_.buffers.size(), 0);
    uint64_t read = 0;
    walk(p_, [&](OpId op) {
      const Opcode code = p_.op(op).code;
      if (reads(code)) read |= bit_of(p_.memory(op).buffer);
      if (code == Opcode::Break || code == Opcode::Continue || code == Opcode::Return ||
          code == Opcode::Trap || code == Opcode::Assert)
        note_exit(op);
    });
    for (const BufferId i : p_.buffers.ids()) {
      const Role role = p_.buffers[i].role;
      if ((role != Role::Shared && role != Role::Private) || !(read & bit_of(i))) continue;
      p_.formulas.is_constant(p_.buffers[i].count, &count_[i]);
      if (count_[i] > most_elements)
        needed_[i] = true;
      else
        arrays_ |= bit_of(i);
    }
  }

  static bool reads(Opcode code) {
    switch (info(code).effect) {
      case Effect::Read: return true;
      case Effect::Atomic: return code != Opcode::AtomicStore;
      default: return code == Opcode::UniformLoad;
    }
  }

  // ---- Exits.

  /// True if the value is uniform over the workgroup.
  bool is_common(ValueId v) const { return k_.uniformity.value(v) >= Uniformity::Workgroup; }

  /// Marks the ops around an exit that not all invocations take together. Some of their invocations
  /// may be missing inside the op and, if the exit leaves it, after it.
  void note_exit(OpId op) {
    if (parts_.empty()) parts_.assign(p_.ops.size(), {});
    const Opcode code = p_.op(op).code;
    const bool from_loop = code == Opcode::Break || code == Opcode::Continue;
    bool together = code != Opcode::Assert || is_common(p_.operand(op, 0));
    if (code == Opcode::Assert) parts_[op] = {!together, !together, !together, true};
    for (OpId at = p_.blocks[p_.op(op).parent].parent; at != none;
         at = p_.blocks[p_.op(at).parent].parent) {
      const Op& o = p_.op(at);
      Parts& parts = parts_[at];
      if (!together && (parts.far || (from_loop && parts.behind))) return;  // as are all around
      parts.exits = true;
      together = together && (o.code != Opcode::If || is_common(p_.operand(at, 0)));
      if (is_loop(o.code)) {
        together = together && has_common_trips(at);
        if (from_loop) {  // an invocation that leaves this loop is present again after it
          parts.inside = parts.inside || !together;
          return;
        }
      }
      if (!together) parts.inside = parts.behind = true, parts.far = parts.far || !from_loop;
    }
  }

  /// True if all invocations take the same number of trips, exits aside.
  bool has_common_trips(OpId loop) const {
    const Op& o = p_.op(loop);
    if (o.code == Opcode::For) {
      for (uint32_t i = 0; i < 3; ++i)
        if (!is_common(p_.operand(loop, i))) return false;
      return true;
    }
    const OpId test = p_.blocks[o.first_block].last;
    return p_.op(test).code != Opcode::Test || is_common(p_.operand(test, 0));
  }

  bool has_exit(OpId op) const { return !parts_.empty() && parts_[op].exits; }
  bool parts_inside(OpId op) const { return !parts_.empty() && parts_[op].inside; }
  bool parts_behind(OpId op) const { return !parts_.empty() && parts_[op].behind; }

  // ---- Values.

  bool spend(uint64_t work) {
    work_ += work;
    return work_ <= most_work;
  }

  /// By invocation; null if the value does not follow from the invocation's position in the
  /// workgroup.
  const Numbers* numbers(ValueId v, int depth = 0) {
    std::optional<Numbers>& made = numbers_[v];
    if (!made) {
      made.emplace();
      known_.push_back(v);
      if (depth < 64 && spend(k_.workgroup)) compute(v, *made, depth);
    }
    return made->empty() ? nullptr : &*made;
  }

  void compute(ValueId v, Numbers& to, int depth) {
    const OpId def = p_.values[v].def;
    if (def == none) return;
    const Op& o = p_.op(def);
    const uint32_t x = p_.workgroup[0], y = p_.workgroup[1];
    const auto each = [&](auto&& of) {
      to.resize(k_.workgroup);
      for (uint32_t i = 0; i < k_.workgroup; ++i) to[i] = of(i);
    };
    switch (o.code) {
      case Opcode::Const: return each([&](uint32_t) { return o.attr; });
      case Opcode::WorkgroupSize: return each([&](uint32_t) { return p_.workgroup[o.attr]; });
      case Opcode::SubgroupSize: return each([&](uint32_t) { return k_.lanes; });
      case Opcode::LaneId: return each([&](uint32_t i) { return i % k_.lanes; });
      case Opcode::LocalId:
        return each([&](uint32_t i) {
          return o.attr == 0 ? i % x : o.attr == 1 ? i / x % y : i / x / y;
        });
      default: break;
    }
    if (info(o.code).effect != Effect::Pure || o.operands.count == 0 || o.operands.count > 4)
      return;
    const Numbers* in[4];
    for (uint32_t k = 0; k < o.operands.count; ++k)
      if (!(in[k] = numbers(p_.operand(def, k), depth + 1))) return;
    const Type source = p_.type(p_.operand(def, 0));
    if (!find_eval(o.code, o.type, source)) return;
    each([&](uint32_t i) {
      uint64_t bits[4] = {};
      for (uint32_t k = 0; k < o.operands.count; ++k) bits[k] = (*in[k])[i];
      return eval_bits(o.code, o.type, source, bits, o.operands.count);
    });
  }

  /// The element at `index` and `more`, as numbers; one that is below 0 or too large is far outside
  /// of every array.
  static uint64_t element(Type t, uint64_t index, uint64_t more) {
    const unsigned width = width_of(t);
    if (is_signed(t) && (index >> (width - 1) & 1)) return (index | ~low_mask(width)) + more;
    return index > ~more ? ~uint64_t{0} : index + more;
  }

  // ---- Memory.

  bool reads_ready(const Array& a, uint64_t element, uint32_t lane) const {
    const uint16_t by = a.by[element];
    return by == others || (!a.is_private && by == lane / k_.in_step + 1);
  }

  void load(OpId id, const State& s) {
    const BufferId buffer = p_.memory(id).buffer;
    if (!is_asked(buffer) || needed_[buffer]) return;
    const Array& a = s.arrays[buffer];
    const ValueId index = p_.operand(id, 0);
    const Numbers* at = p_.op(id).code == Opcode::LoadAs ? nullptr : numbers(index);
    bool ready = true;
    if (at) {
      const uint32_t n = info(p_.op(id).code).effect == Effect::Read ? p_.op(id).results.count : 1;
      spend(uint64_t{n} * k_.workgroup);
      for (uint32_t lane = 0; lane < k_.workgroup && ready; ++lane) {
        if (!s.maybe[lane]) continue;
        for (uint32_t k = 0; k < n; ++k) {
          const uint64_t e = element(p_.type(index), (*at)[lane], k);
          if (e < a.by.size()) ready = ready && reads_ready(a, e, lane);
        }
      }
    } else {
      spend(a.by.size());
      ready = std::all_of(a.by.begin(), a.by.end(), [](uint16_t by) { return by == others; });
    }
    if (!ready) needed_[buffer] = true;
  }

  void store(OpId id, State& s) {
    const BufferId buffer = p_.memory(id).buffer;
    if (!is_asked(buffer) || needed_[buffer]) return;
    Array& a = s.arrays[buffer];
    const ValueId index = p_.operand(id, 0);
    const Numbers* at = numbers(index);
    if (!at) return;
    const uint32_t n = p_.op(id).operands.count - 1;
    spend(uint64_t{n} * k_.workgroup);
    if (a.is_private) {
      // Every invocation the same element; otherwise it is not counted.
      if (std::find(s.sure.begin(), s.sure.end(), false) != s.sure.end()) return;
      if (std::adjacent_find(at->begin(), at->end(), std::not_equal_to<>()) != at->end()) return;
    }
    for (uint32_t lane = 0; lane < k_.workgroup; ++lane) {
      if (!s.sure[lane]) continue;
      for (uint32_t k = 0; k < n; ++k) {
        const uint64_t e = element(p_.type(index), (*at)[lane], k);
        if (e >= a.by.size()) continue;
        uint16_t& by = a.by[e];
        if (a.is_private || k_.in_step >= k_.workgroup)
          by = others;
        else if (by == 0)
          by = static_cast<uint16_t>(lane / k_.in_step + 1);
      }
    }
  }

  /// A barrier: the whole workgroup has executed the ops before it.
  void wait(State& s) {
    for (Array& a : s.arrays) {
      spend(a.by.size());
      for (uint16_t& by : a.by)
        if (by != 0) by = others;
    }
  }

  // ---- Flow.

  bool holds_barrier(OpId op) const { return !k_.holds_barrier.empty() && k_.holds_barrier[op]; }

  State copy(const State& s) {
    for (const Array& a : s.arrays) spend(a.by.size());
    spend(2 * k_.workgroup);
    return s;
  }

  void block(BlockId b, State& s) {
    for (OpId at = p_.blocks[b].first; at != none && !s.dead && work_ <= most_work;
         at = p_.op(at).next)
      op(at, s);
  }

  void op(OpId id, State& s) {
    const Op& o = p_.op(id);
    const bool waits =
        (k_.waits_around && holds_barrier(id)) || plan::is_sync(p_, id, Scope::Workgroup);
    if (waits) wait(s);
    switch (info(o.code).effect) {
      case Effect::Read: load(id, s); break;
      case Effect::Write: store(id, s); break;
      case Effect::Atomic:
        if (reads(o.code)) load(id, s);
        break;
      case Effect::Sync:
        if (o.code == Opcode::UniformLoad) load(id, s);
        break;
      case Effect::Control:
        if (o.code == Opcode::If)
          if_op(id, s);
        else if (o.code == Opcode::Region)
          block(o.first_block, s);
        else
          loop(id, s);
        break;
      case Effect::Exit: s.dead = o.code != Opcode::Yield && o.code != Opcode::Test; break;
      default: break;
    }
    if (waits) wait(s);
    if (parts_behind(id)) std::fill(s.sure.begin(), s.sure.end(), false);
  }

  void if_op(OpId id, State& s) {
    const Op& o = p_.op(id);
    const ValueId condition = p_.operand(id, 0);
    const Numbers* known = numbers(condition);
    State arms[2] = {copy(s), copy(s)};
    for (uint32_t arm = 0; arm < 2; ++arm) {
      State& a = arms[arm];
      for (uint32_t lane = 0; lane < k_.workgroup; ++lane) {
        const bool takes = !known || ((*known)[lane] != 0) == (arm == 0);
        a.sure[lane] = a.sure[lane] && takes && (known || is_common(condition));
        a.maybe[lane] = a.maybe[lane] && takes;
      }
      block(o.first_block + arm, a);
    }
    if (known || !is_common(condition)) {
      // Each invocation takes one of the branches. In shared memory a write of either one counts.
      for (const BufferId i : s.arrays.ids())
        for (size_t e = 0; e < s.arrays[i].by.size(); ++e) {
          const uint16_t a = arms[0].arrays[i].by[e], b = arms[1].arrays[i].by[e];
          s.arrays[i].by[e] = s.arrays[i].is_private ? std::min(a, b) : std::max(a, b);
        }
      return;
    }
    if (arms[0].dead != arms[1].dead) {
      s.arrays = std::move(arms[arms[0].dead ? 1 : 0].arrays);
      return;
    }
    s.dead = arms[0].dead;
    for (const BufferId i : s.arrays.ids())
      for (size_t e = 0; e < s.arrays[i].by.size(); ++e)
        s.arrays[i].by[e] = both(arms[0].arrays[i].by[e], arms[1].arrays[i].by[e]);
  }

  /// Merges the writes on two paths that lead to the same point: both must write the element.
  static uint16_t both(uint16_t a, uint16_t b) {
    if (a == others) return b;
    if (b == others || a == b) return a;
    return a == 0 || b == 0 ? 0 : some_invocation;
  }

  void loop(OpId id, State& s) {
    const Op& o = p_.op(id);
    if (o.code == Opcode::For && trip_by_trip(id, s)) return;
    State body = copy(s);
    if (parts_inside(id) || !has_common_trips(id))
      std::fill(body.sure.begin(), body.sure.end(), false);
    for (uint32_t b = 0; b < o.n_blocks; ++b) block(o.first_block + b, body);
  }

  /// Walks a `for` whose bounds are known for each invocation. Returns false for any other loop.
  bool trip_by_trip(OpId id, State& s) {
    if (has_exit(id) || holds_barrier(id)) return false;
    const Op& o = p_.op(id);
    const ValueId counter = p_.args(o.first_block)[0];
    const Type t = p_.type(counter);
    const Numbers *lo = numbers(p_.operand(id, 0)), *hi = numbers(p_.operand(id, 1)),
                  *step = numbers(p_.operand(id, 2));
    if (!lo || !hi || !step) return false;
    const uint64_t largest = is_signed(t) ? low_mask(width_of(t) - 1) : low_mask(width_of(t));
    uint64_t trips = 0;
    for (uint32_t lane = 0; lane < k_.workgroup; ++lane) {
      if ((*lo)[lane] > largest || (*hi)[lane] > largest || (*step)[lane] > largest) return false;
      if ((*lo)[lane] >= (*hi)[lane] || (*step)[lane] == 0) continue;
      trips = std::max(trips, ((*hi)[lane] - (*lo)[lane] - 1) / (*step)[lane] + 1);
    }
    if (trips > most_trips) return false;
    const Numbers first = *lo, end = *hi, by = *step;
    const Lanes sure = s.sure, maybe = s.maybe;
    for (uint64_t n = 0; n < trips; ++n) {
      const size_t known = known_.size();
      Numbers at(k_.workgroup);
      for (uint32_t lane = 0; lane < k_.workgroup; ++lane) {
        at[lane] = first[lane] + n * by[lane];
        const bool in = by[lane] != 0 && first[lane] < end[lane] &&
                        n <= (end[lane] - 1 - first[lane]) / by[lane];
        s.sure[lane] = sure[lane] && in;
        s.maybe[lane] = maybe[lane] && in;
      }
      numbers_[counter] = std::move(at);
      block(o.first_block, s);
      // Values computed from this counter are wrong for the next one.
      numbers_[counter].reset();
      for (; known_.size() > known; known_.pop_back()) numbers_[known_.back()].reset();
      if (!spend(k_.workgroup)) return true;
    }
    s.sure = sure;
    s.maybe = maybe;
    return true;
  }

  /// Effects of the exits inside an op on its invocations.
  struct Parts {
    bool inside = false, behind = false;  // invocations may be missing inside it, or after it
    bool far = false;                     // … after all ops around it, too
    bool exits = false;                   // it has an exit inside
  };

  const ArrayUse& k_;
  const Program& p_;
  uint64_t arrays_ = 0;  // bits of buffers: arrays that are read
  IdMap<BufferId, bool> needed_;
  IdMap<BufferId, uint64_t> count_;
  IdMap<OpId, Parts> parts_;  // by op; empty if nothing ever leaves
  IdMap<ValueId, std::optional<Numbers>> numbers_;
  std::vector<ValueId> known_;  // the values in numbers_
  uint64_t work_ = 0;
};

}  // namespace

IdMap<BufferId, bool> find_needed_zeros(const ArrayUse& use) { return Walk(use).run(); }

}  // namespace vyre
