#include "opt/passes/loop_version_plan.h"

#include <algorithm>

namespace vyre::opt {
namespace {

constexpr uint32_t most_ops = 96;      // of a loop that is copied
constexpr size_t most_loops = 16;      // of a program, in one run
constexpr size_t most_tests = 8;       // before one loop
constexpr size_t most_terms = 4;       // of an index
constexpr Wide fewest_iterations = 8;  // of a loop whose number of iterations is known
constexpr int most_depth = 8;          // of an index' computation
// Numbers below 2^44 times factors below 2^14, a few of them: sums stay far inside 64 bits.
constexpr Wide most_number = Wide{1} << 44;
constexpr int64_t most_factor = 1 << 14;
constexpr int64_t most_offset = int64_t{1} << 44;

/// offset + Σ factor · value + per_count · counter, modulo 2^width of the index's type.
struct Form {
  std::vector<LoopTerm> terms;
  int64_t per_count = 0;
  int64_t offset = 0;
};

class Planner {
 public:
  Planner(const Program& p, PassContext& context)
      : p_(p),
        context_(context),
        ranges_(context.facts.ranges()),
        effects_(context.facts.effects()),
        inside_(p.values.size(), none) {}

  std::vector<LoopPlan> run() {
    std::vector<OpId> loops;
    IdMap<OpId, bool> has_loop(p_.ops.size(), false);
    walk(p_, [&](OpId op) {
      if (!is_loop(p_.op(op).code)) return;
      loops.push_back(op);
      const OpId around = loop_around(op);
      if (around != none) has_loop[around] = true;
    });
    for (const OpId loop : loops)
      if (!has_loop[loop] && p_.op(loop).code == Opcode::For && plans_.size() < most_loops)
        consider(loop);
    return std::move(plans_);
  }

 private:
  OpId loop_around(OpId op) const {
    for (OpId at = p_.blocks[p_.op(op).parent].parent; at != none;
         at = p_.blocks[p_.op(at).parent].parent)
      if (is_loop(p_.op(at).code)) return at;
    return none;
  }

  bool consider(OpId loop) {
    // Skip loops that are too large or have nothing to prove.
    uint32_t ops = 0;
    bool wanted = false;
    const BlockId body = p_.op(loop).first_block;
    for (const ValueId v : p_.args(body)) inside_[v] = loop;
    walk(p_, body, [&](OpId op) {
      ++ops;
      for (const ValueId v : p_.results(op)) inside_[v] = loop;
      for (uint32_t b = 0; b < p_.op(op).n_blocks; ++b)
        for (const ValueId v : p_.args(p_.op(op).first_block + b)) inside_[v] = loop;
      wanted |= is_candidate(op);
    });
    if (!wanted || is_checked_copy(loop)) return false;
    const EffectSummary& e = effects_.of(loop);
    if (ops > most_ops) return refuse(loop, "the loop is too large to copy");
    if (e.barriers || e.subgroup || e.leaves)
      return refuse(loop, "the loop holds a barrier, a subgroup operation or a return");
    if (runs_short(loop)) return refuse(loop, "the loop runs a few iterations only");
    for (const uint32_t i : {0u, 1u})
      if (!is_moderate(p_.operand(loop, i), loop))
        return refuse(loop, "the loop's bounds may be too large to compute with");

    LoopPlan plan{loop, {}, {}};
    walk(p_, body, [&](OpId op) {
      if (is_candidate(op)) add(plan, op);
    });
    if (plan.accesses.empty())
      return refuse(loop, "no index in it is a sum of multiples of invariants and the counter");
    if (!keeps_uniformity(plan)) return refuse(loop, "the test would differ between lanes");
    plans_.push_back(std::move(plan));
    return true;
  }

  bool refuse(OpId op, std::string_view why) {
    context_.refuse(op, why);
    return false;
  }

  bool is_candidate(OpId op) const {
    const Opcode code = p_.op(op).code;
    return info(code).attribute == AttrKind::Memory && code != Opcode::UniformLoad &&
           code != Opcode::LoadAs && !p_.memory(op).in_bounds;
  }

  /// The original loop, beside a copy with the same bounds under the test of both.
  bool is_checked_copy(OpId loop) const {
    const BlockId block = p_.op(loop).parent;
    const OpId owner = p_.blocks[block].parent;
    if (owner == none || p_.op(owner).code != Opcode::If || block != p_.op(owner).first_block + 1)
      return false;
    for (OpId op = p_.blocks[p_.op(owner).first_block].first; op != none; op = p_.op(op).next)
      if (p_.op(op).code == Opcode::For) {
        bool same = true;
        for (const uint32_t i : {0u, 1u, 2u}) same &= p_.operand(op, i) == p_.operand(loop, i);
        if (same || (p_.op(op).loc != none && p_.op(op).loc == p_.op(loop).loc)) return true;
      }
    return false;
  }

  bool runs_short(OpId loop) const {
    const auto at = [&](uint32_t i) { return ranges_.at(p_.operand(loop, i), loop); };
    if (at(2).low() <= 0) return at(2).high() <= 0;
    return (at(1).high() - at(0).low() + at(2).low() - 1) / at(2).low() < fewest_iterations;
  }

  bool is_moderate(ValueId v, OpId loop) const {
    if (!is_integer(p_.type(v))) return false;
    const ValueRange r = ranges_.at(v, loop);
    return r.low() > -most_number && r.high() < most_number;
  }

  void add(LoopPlan& plan, OpId op) {
    ValueId index = p_.operand(op, 0);
    // A sum holds modulo 2^width of its type. If it lies in the range of every type from there to
    // the index, and is not negative, it is the index itself.
    Wide most = greatest(p_.type(index));
    for (OpId def = p_.values[index].def;
         def != none && p_.op(def).code == Opcode::Cast && inside_[index] == plan.loop &&
         is_integer(p_.type(p_.operand(def, 0)));
         def = p_.values[index].def) {
      index = p_.operand(def, 0);
      most = std::min(most, greatest(p_.type(index)));
    }
    Form form;
    if (!decompose(index, 1, plan.loop, form, most_depth, false)) return;
    int64_t more = 0;
    if (p_.op(op).code == Opcode::LoadN) more = p_.op(op).results.count - 1;
    if (p_.op(op).code == Opcode::StoreN) more = p_.op(op).operands.count - 2;
    std::sort(form.terms.begin(), form.terms.end());
    LoopTest key{p_.memory(op).buffer, form.per_count, most, std::move(form.terms)};
    const auto [it, is_new] =
        plan.tests.try_emplace(std::move(key), Offsets{form.offset, form.offset + more});
    if (is_new && plan.tests.size() > most_tests) {
      plan.tests.erase(it);
      return;
    }
    it->second.least = std::min(it->second.least, form.offset);
    it->second.greatest = std::max(it->second.greatest, form.offset + more);
    plan.accesses.push_back(op);
  }

  /// Adds factor · v to the form. `widened`: v is extended afterwards, so the form must equal its
  /// exact number, not a sum modulo 2^width.
  bool decompose(ValueId v, int64_t factor, OpId loop, Form& form, int depth, bool widened) const {
    const ValueRange& r = ranges_.of(v);
    if (!is_integer(p_.type(v))) return false;
    if (r.is_constant()) return add_number(form.offset, r.low(), factor, most_offset);
    if (v == p_.args(p_.op(loop).first_block)[0])
      return add_number(form.per_count, 1, factor, most_factor);
    if (inside_[v] != loop) return add_term(form, v, factor, loop);
    const OpId def = p_.values[v].def;
    if (def == none || depth == 0) return false;
    const Op& o = p_.op(def);
    const auto next = [&](uint32_t i, Wide times, bool wider) {
      times *= factor;
      if (times >= most_factor || times <= -most_factor) return false;
      return decompose(p_.operand(def, i), int64_t(times), loop, form, depth - 1, wider);
    };
    const bool is_sum = !widened || ranges_.no_wrap(v);
    switch (o.code) {
      case Opcode::Add: return is_sum && next(0, 1, widened) && next(1, 1, widened);
      case Opcode::Sub: return is_sum && next(0, 1, widened) && next(1, -1, widened);
      case Opcode::Mul:
        for (const uint32_t i : {1u, 0u})
          if (const ValueRange& k = ranges_.of(p_.operand(def, i)); k.is_constant())
            return is_sum && k.high() < most_factor && k.low() > -most_factor &&
                   next(1 - i, k.low(), widened);
        return false;
      case Opcode::Shl: {
        const ValueRange& k = ranges_.of(p_.operand(def, 1));
        if (!k.is_constant()) return false;
        const uint32_t by = uint32_t(k.ulo()) & (width_of(o.type) - 1);
        return is_sum && by < 14 && next(0, Wide{1} << by, widened);
      }
      case Opcode::Cast: {
        const Type from = p_.type(p_.operand(def, 0));
        return !widened && is_integer(from) && next(0, 1, width_of(o.type) > width_of(from));
      }
      default: return false;
    }
  }

  static bool add_number(int64_t& to, Wide number, int64_t factor, int64_t most) {
    const Wide sum = Wide(to) + number * factor;
    if (number >= most_number || number <= -most_number || sum >= most || sum <= -most)
      return false;
    to = int64_t(sum);
    return true;
  }

  bool add_term(Form& form, ValueId v, int64_t factor, OpId loop) const {
    if (!is_moderate(v, loop)) return false;
    for (LoopTerm& t : form.terms)
      if (t.value == v) {
        if (t.factor + factor >= most_factor || t.factor + factor <= -most_factor) return false;
        t.factor += factor;
        return true;
      }
    if (form.terms.size() == most_terms) return false;
    form.terms.push_back({v, factor});
    return true;
  }

  /// True if the test is the same for all lanes of a subgroup, and uniform for the scope in which
  /// the loop's results must be.
  bool keeps_uniformity(const LoopPlan& plan) {
    const UniformityInfo& u = context_.facts.uniformity();
    Uniformity level =
        std::min(u.value(p_.operand(plan.loop, 0)), u.value(p_.operand(plan.loop, 1)));
    for (const auto& [key, offsets] : plan.tests)
      for (const LoopTerm& t : key.terms) level = std::min(level, u.value(t.value));
    if (level == Uniformity::Varying) return false;
    for (const ValueId v : p_.results(plan.loop))
      if (u.value(v) > level) return false;
    return true;
  }

  const Program& p_;
  PassContext& context_;
  const Ranges& ranges_;
  const Effects& effects_;
  IdMap<ValueId, OpId> inside_;  // by value: the loop that it was last seen in
  std::vector<LoopPlan> plans_;
};

}  // namespace

std::vector<LoopPlan> plan_loop_versions(const Program& program, PassContext& context) {
  return Planner(program, context).run();
}

}  // namespace vyre::opt
