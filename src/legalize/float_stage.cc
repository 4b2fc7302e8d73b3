#include "ir/eval/reduction_step.h"
#include "legalize/floats.h"
#include "legalize/legalize_subgroup.h"
#include "legalize/remake.h"
#include "legalize/stages.h"

namespace vyre::emit_exact {
namespace {

bool is_wide(Type t) { return t == Type::I64 || t == Type::U64 || t == Type::F64; }

/// True if the reduction is made of shuffles. Reductions of floats always are: the order counts,
/// and so does each step.
bool by_shuffles(const Op& o, const Profile& p) {
  return is_reduction(o.code) &&
         (is_float(o.type) || (is_wide(o.type) && (!p.subgroup_extended_types || !p.int64)));
}
/// Without 64-bit integers the next stage does it.
bool by_halves(const Op& o, const Profile& p) {
  return is_shuffle(o.code) && is_wide(o.type) && p.int64 && !p.subgroup_extended_types;
}

/// The values that control flow depends on, or that must be uniform for another reason. All values
/// that pass through blocks count as one.
IdMap<ValueId, bool> find_deciding(const Program& p) {
  IdMap<ValueId, bool> deciding(p.values.size(), false);
  std::vector<ValueId> work;
  const auto add = [&](ValueId v) {
    if (!deciding[v]) work.push_back(v);
    deciding[v] = true;
  };
  std::vector<ValueId> carried;
  walk(p, [&](OpId id) {
    const Op& o = p.op(id);
    const auto operands = p.operands(id);
    const bool broadcast = o.code == Opcode::SubgroupBroadcast;
    const size_t first = o.code == Opcode::For                            ? 3
                         : o.code == Opcode::If || o.code == Opcode::Test ? 1
                                                                          : 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i < first || o.code == Opcode::UniformLoad || (broadcast && i == 1))
        add(operands[i]);
      else if (is_control(o.code) || is_exit(o.code))
        carried.push_back(operands[i]);
    }
  });
  bool all_carried = false;
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    const OpId def = p.values[v].def;
    if (def != none && !is_control(p.op(def).code)) {
      for (const ValueId x : p.operands(def)) add(x);
    } else if (!all_carried) {
      all_carried = true;
      for (const ValueId x : carried) add(x);
    }
  }
  return deciding;
}

/// The comparisons that do nothing but end loops, alone or together with others: nothing can be
/// chosen by them.
IdMap<ValueId, bool> find_loop_tests(const Program& p) {
  std::vector<OpId> order;
  walk(p, [&](OpId id) { order.push_back(id); });
  IdMap<ValueId, bool> ends(p.values.size(), true);
  for (size_t k = order.size(); k-- > 0;) {  // uses before definitions
    const Op& o = p.op(order[k]);
    const bool joins = (o.code == Opcode::And || o.code == Opcode::Or) && o.type == Type::Bool;
    const bool passes = o.code == Opcode::Test || (joins && ends[p.result(order[k])]);
    if (passes) continue;
    for (const ValueId v : p.operands(order[k])) ends[v] = false;
  }
  return ends;
}

/// True if this stage leaves the op as it is.
bool stays(const Program& p, OpId id, const Profile& profile,
           const IdMap<ValueId, bool>& ends_loops) {
  const Op& o = p.op(id);
  if (!is_pure(o.code)) return true;
  const Type source = o.operands.count ? p.type(p.operand(id, 0)) : Type::Void;
  if (!profile.choose32 && compares32(o.code, o.type, source) && !ends_loops[p.result(id)])
    return false;
  return is_native(profile, o.code, o.type, source);
}

class FloatStage : public Remake {
 public:
  FloatStage(const Program& program, const Profile& profile, bool functions)
      : Remake(program),
        profile_(profile),
        floats_(c, profile, functions),
        deciding_(find_deciding(program)),
        ends_loops_(find_loop_tests(program)) {}

 private:
  void visit(OpId id) override {
    const Op& o = from.op(id);
    if (by_shuffles(o, profile_)) return give(id, reduce(id));
    if (by_halves(o, profile_)) return give(id, shuffle(o.code, operand(id, 0), operand(id, 1)));
    if (stays(from, id, profile_, ends_loops_)) return copy(id);
    Term operands[4];
    for (uint32_t i = 0; i < o.operands.count; ++i) operands[i] = operand(id, i);
    give(id, floats_.expand(o.code, o.type, {operands, o.operands.count}));
  }

  Term shuffle(Opcode code, const Term& value, const Term& lane) {
    return shuffle_by_halves(c, code, value, lane);
  }

  Term reduce(OpId id) {
    const Op& o = from.op(id);
    const Opcode code = reduction_step(o.code);
    const Step step = [&](const Term& a, const Term& b) {
      const Term operands[] = {a, b};
      return floats_.is_native(code, o.type, o.type) ? c.op(code, o.type, operands)
                                                     : floats_.expand(code, o.type, operands);
    };
    const uint32_t size = from.subgroup ? from.subgroup : profile_.subgroup_size;
    const bool halves = profile_.int64 && !profile_.subgroup_extended_types && is_wide(o.type);
    const Term value = reduce_by_shuffles(c, o.code, operand(id, 0), size, halves, step);
    if (o.code == Opcode::SubgroupScanAdd || !deciding_[from.result(id)]) return value;
    // All lanes have the same value. Where uniformity matters, a broadcast makes it explicit.
    const Term first = c.constant(Type::U32, 0);
    return halves ? shuffle(Opcode::SubgroupBroadcast, value, first)
                  : c.op(Opcode::SubgroupBroadcast, o.type, {value, first});
  }

  const Profile& profile_;
  Floats floats_;
  const IdMap<ValueId, bool> deciding_, ends_loops_;
};

}  // namespace

bool needs_float_stage(const Program& program, const Profile& profile) {
  const IdMap<ValueId, bool> ends_loops = find_loop_tests(program);
  bool found = false;
  walk(program, [&](OpId id) {
    const Op& o = program.op(id);
    found = found || by_shuffles(o, profile) || by_halves(o, profile) ||
            !stays(program, id, profile, ends_loops);
  });
  return found;
}

Program expand_floats(const Program& program, const Profile& profile, bool functions) {
  return FloatStage(program, profile, functions).run();
}

Program float_form(Opcode code, Type type, const Profile& profile) {
  TermBuilder c{Program{}};
  std::vector<Term> operands;
  for (uint32_t i = 0; i < info(code).operands.size(); ++i)
    operands.push_back(c.term(c.program.add_argument(body_block, type)));
  const ValueId result[] = {c.value(Floats(c, profile, false).long_form(code, operands))};
  c.add(Opcode::Yield, Type::Void, result, {});
  return c.finish();
}

}  // namespace vyre::emit_exact
