#include "tests/opt/analysis/facts_judge_util.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "check/uniformity.h"
#include "interp/interp.h"
#include "interp/interp_machine.h"
#include "interp/observer.h"
#include "opt/analysis/affine.h"
#include "opt/analysis/bounds.h"
#include "opt/analysis/effects.h"
#include "opt/analysis/escape.h"
#include "opt/analysis/liveness.h"
#include "opt/analysis/ranges.h"
#include "tests/opt/analysis/range_contains.h"

template <class Tag>
struct fmt::formatter<vyre::Id<Tag>> : fmt::formatter<uint32_t> {
  auto format(vyre::Id<Tag> id, format_context& context) const {
    return formatter<uint32_t>::format(id.value(), context);
  }
};

namespace vyre::opt {
namespace {

/// The value that a probe observes, at its definition or at a use.
struct Probe {
  ValueId value = none;
  OpId user = none;  // none: made here
};

/// A copy of the program with a probe after every definition and before every use. It keeps the ids
/// of the original.
class Instrumented {
 public:
  explicit Instrumented(const Program& original) : program(original) {
    Buffer b;
    b.name = "probe";
    b.role = Role::Private;
    b.element = Type::U8;
    b.count = program.formulas.constant(1);
    buffer_ = program.buffers.next_id();
    program.buffers.push_back(b);
    std::vector<OpId> order;
    walk(original, [&](OpId op) { order.push_back(op); });
    for (const OpId op : order) {
      for (const ValueId v : original.operands(op)) probe(op, {v, op});
      const OpId next = original.op(op).next;
      for (const ValueId v : original.results(op))
        if (next != none) results_.push_back({next, {v, none}});
    }
    for (const BlockId block : original.blocks.ids())
      for (const ValueId v : original.args(block))
        first_.push_back({original.blocks[block].first, {v, none}});
    // Probes of definitions precede probes of uses: they are inserted last, before the others.
    for (const auto& [where, p] : results_) probe_front(where, original, p);
    for (const auto& [where, p] : first_) probe_front(where, original, p);
  }

  const Probe* find(OpId op) const {
    return probes_.contains(op) && probes_[op].value != none ? &probes_[op] : nullptr;
  }

  Program program;

 private:
  void probe(OpId before, Probe p) {
    const Type t = program.type(p.value);
    ValueId index = p.value;
    if (t == Type::Void) return;
    if (t == Type::Bool) index = insert(before, Opcode::Cast, Type::U8, Type::U8, index);
    if (t == Type::F32) index = insert(before, Opcode::Bitcast, Type::U32, Type::U32, index);
    if (t == Type::F64) index = insert(before, Opcode::Bitcast, Type::U64, Type::U64, index);
    MemoryRef ref;
    ref.buffer = buffer_;
    insert(before, Opcode::Load, Type::U8, Type::U8, index, ref.pack());
    probes_.resize(program.ops.size());
    probes_.back() = p;
  }
  /// Inserts a probe before the probes that already precede an op of the original.
  void probe_front(OpId op, const Program& original, Probe p) {
    OpId at = op;
    while (program.op(at).prev != none && program.op(at).prev >= original.ops.next_id() &&
           !(find(program.op(at).prev) && find(program.op(at).prev)->user == none))
      at = program.op(at).prev;
    probe(at, p);
  }
  ValueId insert(OpId before, Opcode code, Type type, Type result, ValueId operand,
                 uint64_t attr = 0) {
    const Type results[] = {result};
    const ValueId operands[] = {operand};
    const OpId op = program.add_op(code, type, operands, results, attr, program.op(before).loc);
    program.insert_before(before, op);
    return program.result(op);
  }

  BufferId buffer_{0};
  IdMap<OpId, Probe> probes_;
  std::vector<std::pair<OpId, Probe>> results_, first_;
};

class Judge final : public interp::Observer {
 public:
  Judge(const Program& p, const Instrumented& with)
      : p_(p),
        with_(with),
        ranges_(p),
        affine_(p, ranges_),
        bounds_(p, ranges_),
        effects_(p),
        liveness_(p),
        uniformity_(analyze_uniformity(p)),
        in_loop_(p.values.size(), false),
        proved_(p.ops.size(), -1) {
    walk_blocks(p, body_block, [this, depth = 0](Visit what, OpId op, BlockId block) mutable {
      if (what == Visit::Op) {
        if (depth)
          for (const ValueId v : p_.results(op)) in_loop_[v] = true;
        return;
      }
      if (op == none || !is_loop(p_.op(op).code)) return;
      depth += what == Visit::EnterBlock ? 1 : -1;
      for (const ValueId v : p_.args(block)) in_loop_[v] = true;
    });
    for (const OpId b : liveness_.barriers()) {
      IdMap<ValueId, bool>& lives = lives_[b];
      lives.assign(p.values.size(), false);
      for (const ValueId v : liveness_.across(b)) lives[v] = true;
    }
    for (const ValueId v : p.values.ids())
      if (has_range(p.type(v))) {
        ++result.values;
        result.known += ranges_.of(v) != full_range(p.type(v));
      }
  }

  Judgement result;

  void begin_call(const Graph&, const GraphNode&, const Program&,
                  const IdMap<BufferId, GraphBufferId>&) override {}
  void begin_launch(const interp::Launched& launched) override {
    subgroup_ = launched.subgroup_size;
    group_ = launched.code.group_lanes;
    counts_ = launched.shape.counts;
    const BufferCounts& counts = ranges_.rules().counts();
    for (const BufferId a : p_.buffers.ids()) {
      const auto& n = counts.of(a);
      expect(Wide(counts_[a]) >= n.lo && Wide(counts_[a]) <= n.hi,
             [&] { return fmt::format("count of {}", p_.buffers[a].name); });
      for (const BufferId b : p_.buffers.ids())
        if (counts.count_is_at_most(a, 0, b))
          expect(counts_[a] <= counts_[b], [&] {
            return fmt::format("count of {} at most that of {}", p_.buffers[a].name,
                               p_.buffers[b].name);
          });
    }
  }
  void end_launch() override {}
  void begin_frame(interp::Frame& frame) override {
    State& s = states_[uint64_t(frame.first_group)];
    s = {};
    s.last.resize(p_.values.size());
    s.born.resize(p_.values.size());
  }
  interp::Next touch(const interp::Frame& frame, const interp::Instr& instr,
                     const interp::Touched& t) override {
    if (const Probe* probe = with_.find(instr.op))
      look(states_[uint64_t(frame.first_group)], *probe, t);
    else
      access(instr.op, t);
    return result.wrong.empty() ? interp::Next::GoOn : interp::Next::Stop;
  }
  void arrive(const interp::Frame& frame, const interp::Instr& instr, Scope scope,
              const uint8_t* active, const uint8_t*) override {
    if (scope == Scope::Subgroup) return;
    State& s = states_[uint64_t(frame.first_group)];
    for (uint32_t l = 0; l < s.lanes; ++l) {
      const uint32_t g = l / group_;
      if (!active[l]) continue;
      if (s.passed.size() <= g) s.passed.resize(g + 1);
      s.passed[g].push_back(instr.op);
      l = g * group_ + group_ - 1;  // once for the workgroup
    }
  }
  void pass_grid_barrier(const interp::Instr*) override {}
  const Diagnostic* failure() const override { return result.wrong.empty() ? nullptr : &failure_; }

 private:
  struct State {
    uint32_t lanes = 0;
    IdMap<ValueId, std::vector<uint64_t>>
        last;  // by value: bits of each lane, when it was last made
    IdMap<ValueId, std::vector<uint32_t>> born;  // barriers that its workgroup had passed then
    std::vector<std::vector<OpId>> passed;       // by workgroup of the frame
  };

  template <class Text>
  void expect(bool holds, Text&& text) {
    ++result.checks;
    if (!holds && result.wrong.empty()) result.wrong = text();
  }

  /// The interpreter widens indices: to 32 bits at least, to 64 for atomics.
  uint64_t bits_at(const void* index, Type t, uint32_t lane, bool atomic = false) const {
    uint64_t bits = 0;
    const uint32_t size = atomic ? 8 : std::max(4u, size_of(t));
    std::memcpy(&bits, static_cast<const std::byte*>(index) + uint64_t{lane} * size, size);
    return bits & low_mask(width_of(t));
  }

  void look(State& s, const Probe& probe, const interp::Touched& t) {
    const ValueId v = probe.value;
    const Type type = p_.type(v);
    s.lanes = t.lanes;
    if (probe.user == none) {
      if (s.last[v].empty()) s.last[v].assign(t.lanes, 0), s.born[v].assign(t.lanes, 0);
      for (uint32_t l = 0; l < t.lanes; ++l)
        if (t.all || t.active[l]) {
          s.last[v][l] = bits_at(t.index, type, l);
          s.born[v][l] = passed(s, l);
        }
    }
    const ValueRange r = probe.user == none ? ranges_.of(v) : ranges_.at(v, probe.user);
    const bool narrowed = probe.user != none && r != ranges_.of(v);
    std::vector<Ranges::Below> below;
    const Ranges::Shifted split = ranges_.split(v);
    if (probe.user != none && is_integer(type)) ranges_.below(split.base, probe.user, below);
    for (uint32_t l = 0; l < t.lanes; ++l) {
      if (!t.all && !t.active[l]) continue;
      const uint64_t bits = bits_at(t.index, type, l);
      result.narrowed += narrowed;
      if (has_range(type) && (probe.user == none || narrowed))
        expect(contains(r, type, bits), [&] {
          return fmt::format(
              "%{} = {:#x} in lane {} is not in [{}, {}] zeros {:#x} ones {:#x} at op {}", v, bits,
              l, r.lo, r.hi, r.zeros, r.ones, probe.user == none ? p_.values[v].def : probe.user);
        });
      if (probe.user == none)
        made(s, v, l, bits, split);
      else
        used(s, v, probe.user, l);
      for (const Ranges::Below& b : below) {
        ++result.relations;
        const Wide left = last(s, split.base, l) + b.offset, right = last(s, b.above, l);
        expect(b.strict ? left < right : left <= right, [&] {
          return fmt::format("%{} + {} is not below %{} in lane {} at op {}", split.base,
                             int64_t(b.offset), b.above, l, probe.user);
        });
      }
    }
    if (probe.user == none) same_lanes(s, v, t);
  }

  Wide last(const State& s, ValueId v, uint32_t lane) const {
    return s.last[v].empty() ? Wide{0} : number(p_.type(v), s.last[v][lane]);
  }
  uint32_t passed(const State& s, uint32_t lane) const {
    const uint32_t g = lane / group_;
    return g < s.passed.size() ? uint32_t(s.passed[g].size()) : 0;
  }

  void made(const State& s, ValueId v, uint32_t l, uint64_t bits, const Ranges::Shifted& split) {
    const Type type = p_.type(v);
    if (!is_integer(type)) return;
    const AffineForm& f = affine_.of(v);
    unsigned __int128 sum = static_cast<unsigned __int128>(Wide(f.offset));
    for (const AffineTerm& term : f.terms)
      sum += static_cast<unsigned __int128>(last(s, term.symbol, l) * Wide(term.factor));
    const Wide value = number(type, bits);
    const bool trivial = f.terms.size() == 1 && f.terms[0].symbol == v;
    result.affine += !trivial;
    result.exact += !trivial && f.exact;
    expect(f.exact ? Wide(sum) == value : bits_of(type, Wide(sum)) == bits, [&] {
      std::string sum = fmt::format("{}", f.offset);
      for (const AffineTerm& term : f.terms)
        sum += fmt::format(" + {} * %{} ({:#x})", term.factor, term.symbol, s.last[term.symbol][l]);
      return fmt::format("%{} = {:#x} in lane {} is not its {} sum {}", v, bits, l,
                         f.exact ? "exact" : "modular", sum);
    });
    expect(last(s, split.base, l) + split.offset == value,
           [&] { return fmt::format("%{} is not %{} shifted", v, split.base); });
    if (!ranges_.no_wrap(v)) return;
    const OpId def = p_.values[v].def;
    const auto in = [&](uint32_t i) { return last(s, p_.operand(def, i), l); };
    Wide exact = value;
    switch (p_.op(def).code) {
      case Opcode::Add: exact = in(0) + in(1); break;
      case Opcode::Sub: exact = in(0) - in(1); break;
      case Opcode::Mul: exact = in(0) * in(1); break;
      case Opcode::Neg: exact = -in(0); break;
      default: break;
    }
    expect(exact == value, [&] { return fmt::format("%{} wraps in lane {}", v, l); });
  }

  void used(const State& s, ValueId v, OpId user, uint32_t l) {
    const OpId def = p_.values[v].def;
    if ((def != none && p_.op(def).code == Opcode::Const) || s.born[v].empty()) return;
    const uint32_t g = l / group_;
    if (g >= s.passed.size()) return;
    const auto& list = s.passed[g];
    const size_t most = std::min<size_t>(list.size(), s.born[v][l] + 16u);
    for (size_t i = s.born[v][l]; i < most; ++i) {
      ++result.lived;
      expect(lives_[list[i]].size() && lives_[list[i]][v], [&] {
        return fmt::format("%{} lives across op {} to op {}, which liveness does not know", v,
                           list[i], user);
      });
    }
  }

  /// All active lanes of a scope have the same value.
  void same_lanes(State& s, ValueId v, const interp::Touched& t) {
    const Uniformity level = uniformity_.value(v);
    if (level == Uniformity::Varying) return;
    const uint32_t per = level == Uniformity::Grid        ? t.lanes
                         : level == Uniformity::Workgroup ? group_
                                                          : 0;
    uint32_t first = none, instance = none;
    for (uint32_t l = 0; l < t.lanes; ++l) {
      if (!t.all && !t.active[l]) continue;
      // Subgroups are counted within their workgroup; the last one may be partial.
      const uint32_t subgroups = (group_ + subgroup_ - 1) / subgroup_;
      const uint32_t which = per ? l / per : l / group_ * subgroups + l % group_ / subgroup_;
      if (which != instance) first = l, instance = which;
      ++result.uniform;
      expect(s.last[v][l] == s.last[v][first], [&] {
        return fmt::format("%{} differs between lanes {} and {} though it is uniform", v, first, l);
      });
      if (level == Uniformity::Grid && !in_loop_[v] && l == first) {
        const auto [it, is_new] = grid_.emplace(v, s.last[v][l]);
        expect(it->second == s.last[v][l],
               [&] { return fmt::format("%{} differs between workgroups", v); });
      }
    }
  }

  void access(OpId op, const interp::Touched& t) {
    const BufferId buffer = p_.memory(op).buffer;
    const Effect e = info(p_.op(op).code).effect;
    for (OpId at = op; at != none; at = p_.blocks[p_.op(at).parent].parent) {
      const EffectSummary& known = effects_.of(at);
      const bool reads = known.reads & bit_of(buffer), writes = known.writes & bit_of(buffer);
      expect(e == Effect::Write    ? writes
             : e == Effect::Atomic ? reads || writes
                                   : reads,
             [&] {
               return fmt::format("effects of op {} miss an access of {} by op {}", at,
                                  p_.buffers[buffer].name, op);
             });
    }
    if (proved_[op] < 0) proved_[op] = bounds_.proves_access(op);
    if (!proved_[op]) return;
    const Op& o = p_.op(op);
    const Type type = p_.type(p_.operand(op, 0));
    Wide more = o.code == Opcode::LoadN    ? o.results.count - 1
                : o.code == Opcode::StoreN ? o.operands.count - 2
                                           : 0;
    if (o.code == Opcode::LoadAs) more = size_of(o.type) - 1;
    for (uint32_t l = 0; l < t.lanes; ++l) {
      if (!t.all && !t.active[l]) continue;
      const Wide index = number(type, bits_at(t.index, type, l, e == Effect::Atomic));
      ++result.bounds;
      expect(index >= 0 && index + more < Wide(counts_[buffer]), [&] {
        return fmt::format("op {} accesses {}[{}] of {} in lane {}, which was proved inside", op,
                           p_.buffers[buffer].name, int64_t(index), counts_[buffer], l);
      });
    }
  }

  const Program& p_;
  const Instrumented& with_;
  Ranges ranges_;
  AffineForms affine_;
  BoundsFacts bounds_;
  Effects effects_;
  Liveness liveness_;
  UniformityInfo uniformity_;
  IdMap<ValueId, bool> in_loop_;
  IdMap<OpId, int8_t> proved_;  // by op: -1 not asked yet
  std::map<OpId, IdMap<ValueId, bool>> lives_;
  std::map<ValueId, uint64_t> grid_;
  std::map<uint64_t, State> states_;  // by the first workgroup of a frame: frames may move
  IdMap<BufferId, uint64_t> counts_;
  uint32_t subgroup_ = 32, group_ = 1;
  Diagnostic failure_ = diagnose(Code::Trapped, {}, "a fact is wrong");
};

}  // namespace

Judgement judge_facts(const Program& program, const LaunchInputs& inputs) {
  const Instrumented with(program);
  Judge judge(program, with);
  interp::Options options;
  options.observer = &judge;
  (void)interp::run(with.program, inputs, options);  // a trap is as good as any other end
  return judge.result;
}

}  // namespace vyre::opt
