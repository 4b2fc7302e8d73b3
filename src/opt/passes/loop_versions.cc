#include "opt/passes/loop_versions.h"

#include <algorithm>
#include <unordered_map>

#include "opt/passes/loop_version_plan.h"

namespace vyre::opt {
namespace {

class Maker {
 public:
  Maker(Program& p, const std::vector<Wide>& most) : p_(p), most_(most) {}

  void run(const std::vector<LoopPlan>& plans) {
    struct Arm {
      BlockId block;
      OpId loop;
    };
    std::vector<Arm> arms;
    std::vector<std::pair<ValueId, ValueId>> replaced;
    for (const LoopPlan& plan : plans) {
      const ValueId test = make_test(plan);
      std::vector<Type> types;
      for (const ValueId v : p_.results(plan.loop)) types.push_back(p_.type(v));
      const ValueId condition[] = {test};
      const OpId choice =
          p_.add_op(Opcode::If, Type::Void, condition, types, 0, p_.op(plan.loop).loc);
      p_.insert_before(plan.loop, choice);
      const BlockId first = p_.add_block(choice);
      const BlockId second = p_.add_block(choice);
      p_.op(choice).first_block = first;
      p_.op(choice).n_blocks = 2;
      copies_.clear();
      const OpId fast = copy(plan.loop, plan.accesses);
      p_.append(first, fast);
      p_.unlink(plan.loop);
      p_.append(second, plan.loop);
      arms.push_back({first, fast});
      arms.push_back({second, plan.loop});
      for (uint32_t i = 0; i < types.size(); ++i)
        replaced.emplace_back(p_.result(plan.loop, i), p_.result(choice, i));
    }
    IdMap<ValueId, ValueId> map(p_.values.size());
    for (const auto v : map.ids()) map[v] = v;
    for (const auto& [from, to] : replaced) map[from] = to;
    replace_values(p_, map);
    for (const Arm& arm : arms) {
      const std::vector<ValueId> results(p_.results(arm.loop).begin(), p_.results(arm.loop).end());
      p_.append(arm.block,
                p_.add_op(Opcode::Yield, Type::Void, results, {}, 0, p_.op(arm.loop).loc));
    }
    compact(p_);
  }

 private:
  ValueId make(Opcode code, Type type, std::initializer_list<ValueId> operands, Type result,
               uint64_t attr = 0) {
    const std::vector<ValueId> list(operands);
    const Type results[] = {result};
    const OpId op = p_.add_op(code, type, list, results, attr, p_.op(before_).loc);
    p_.insert_before(before_, op);
    return p_.result(op);
  }
  ValueId number(int64_t n) { return make(Opcode::Const, Type::I64, {}, Type::I64, uint64_t(n)); }
  ValueId wide(ValueId v) {
    return p_.type(v) == Type::I64 ? v : make(Opcode::Cast, Type::I64, {v}, Type::I64);
  }
  ValueId times(ValueId v, int64_t factor) {
    return factor == 1 ? v : make(Opcode::Mul, Type::I64, {v, number(factor)}, Type::I64);
  }
  ValueId sum(ValueId a, ValueId b) { return make(Opcode::Add, Type::I64, {a, b}, Type::I64); }
  ValueId both(ValueId a, ValueId b) {
    return a == none ? b : make(Opcode::And, Type::Bool, {a, b}, Type::Bool);
  }

  ValueId make_test(const LoopPlan& plan) {
    before_ = plan.loop;
    const ValueId first = wide(p_.operand(plan.loop, 0));
    // Named in order: the evaluation order of arguments is unspecified.
    const ValueId minus_one = number(-1);
    const ValueId last = sum(wide(p_.operand(plan.loop, 1)), minus_one);
    ValueId all = none;
    for (const auto& [key, offsets] : plan.tests) {
      ValueId least = number(offsets.least), greatest = number(offsets.greatest);
      for (const LoopTerm& t : key.terms) {
        const ValueId part = times(wide(t.value), t.factor);
        least = sum(least, part);
        greatest = sum(greatest, part);
      }
      if (key.per_count != 0) {
        const bool up = key.per_count > 0;
        least = sum(least, times(up ? first : last, key.per_count));
        greatest = sum(greatest, times(up ? last : first, key.per_count));
      }
      const ValueId length = wide(make(Opcode::Len64, Type::Void, {}, Type::U64, key.buffer));
      all = both(all, make(Opcode::Ge, Type::I64, {least, number(0)}, Type::Bool));
      all = both(all, make(Opcode::Lt, Type::I64, {greatest, length}, Type::Bool));
      // No more elements than the index can count: then it does not wrap on the way.
      if (most_[key.buffer] > key.most_count)
        all = both(all, make(Opcode::Le, Type::I64, {length, number(int64_t(key.most_count))},
                             Type::Bool));
    }
    return all;
  }

  /// A copy of the op with all that is in it, in no block yet.
  OpId copy(OpId from, const std::vector<OpId>& proved) {
    const Op o = p_.op(from);
    std::vector<ValueId> operands;
    for (const ValueId v : p_.operands(from)) operands.push_back(copy_of(v));
    std::vector<Type> types;
    for (const ValueId v : p_.results(from)) types.push_back(p_.type(v));
    uint64_t attr = o.attr;
    if (std::find(proved.begin(), proved.end(), from) != proved.end()) {
      MemoryRef m = p_.memory(from);
      m.in_bounds = true;
      attr = m.pack();
    }
    const OpId to = p_.add_op(o.code, o.type, operands, types, attr, o.loc);
    for (uint32_t i = 0; i < types.size(); ++i) copies_[p_.result(from, i)] = p_.result(to, i);
    if (o.n_blocks == 0) return to;
    const BlockId first = BlockId(p_.blocks.size());
    for (uint32_t b = 0; b < o.n_blocks; ++b) p_.add_block(to);
    p_.op(to).first_block = first;
    p_.op(to).n_blocks = o.n_blocks;
    for (uint32_t b = 0; b < o.n_blocks; ++b) {
      const std::vector<ValueId> args(p_.args(o.first_block + b).begin(),
                                      p_.args(o.first_block + b).end());
      for (const ValueId v : args) copies_[v] = p_.add_argument(first + b, p_.type(v));
      for (OpId op = p_.blocks[o.first_block + b].first; op != none; op = p_.op(op).next)
        p_.append(first + b, copy(op, proved));
    }
    return to;
  }
  ValueId copy_of(ValueId v) const {
    const auto it = copies_.find(v);
    return it == copies_.end() ? v : it->second;
  }

  Program& p_;
  const std::vector<Wide>& most_;
  OpId before_ = none;
  std::unordered_map<ValueId, ValueId> copies_;
};

}  // namespace

bool version_loops(Program& program, PassContext& context, const std::vector<Wide>& most) {
  const std::vector<LoopPlan> plans = plan_loop_versions(program, context);
  if (plans.empty()) return false;
  Maker(program, most).run(plans);
  return true;
}

}  // namespace vyre::opt
