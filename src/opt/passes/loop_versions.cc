#include "opt/passes/loop_versions.h"

#include <algorithm>

#include "ir/cloner.h"
#include "opt/passes/loop_version_plan.h"

namespace vyre::opt {
namespace {

/// Copies loops without bounds checks, in the then block of an `if` that tests all indices.
class LoopCloner : Cloner {
 public:
  LoopCloner(Program& p, IrBuilder& builder, const IdMap<BufferId, Wide>& most)
      : Cloner(p, builder), p_(p), most_(most) {}

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
      const OpId choice = b_.open(Opcode::If, {&test, 1}, 2);
      b_.set_results(choice, types);
      const BlockId first = p_.block(choice, 0), second = p_.block(choice, 1);
      proved_ = plan.accesses;
      const OpId fast = b_.in(first, [&] { return copy(plan.loop); });
      forget_copies(plan.loop);
      p_.unlink(plan.loop);
      p_.append(second, plan.loop);
      arms.push_back({first, fast});
      arms.push_back({second, plan.loop});
      for (uint32_t i = 0; i < types.size(); ++i)
        replaced.emplace_back(p_.result(plan.loop, i), p_.result(choice, i));
    }
    IdMap<ValueId, ValueId> new_values = identity(p_.values);
    for (const auto& [from, to] : replaced) new_values[from] = to;
    replace_values(p_, new_values);
    for (const Arm& arm : arms) {
      b_.loc = p_.op(arm.loop).loc;
      b_.at_end(arm.block);
      b_.exit(Opcode::Yield, p_.results(arm.loop));
    }
    compact(p_);
  }

 private:
  /// The values of a loop stand for themselves again.
  void forget_copies(OpId loop) {
    const auto forget = [&](std::span<const ValueId> values) {
      for (const ValueId v : values) map[v] = v;
    };
    forget(p_.results(loop));
    for (uint32_t i = 0; i < p_.op(loop).n_blocks; ++i)
      walk_blocks(p_, p_.block(loop, i), [&](Visit what, OpId op, BlockId block) {
        if (what == Visit::EnterBlock) forget(p_.args(block));
        if (what == Visit::Op) forget(p_.results(op));
      });
  }

  /// In a copied loop, the accesses that the test proves.
  uint64_t attribute(OpId op) override {
    if (std::find(proved_.begin(), proved_.end(), op) == proved_.end()) return p_.op(op).attr;
    MemoryRef m = p_.memory(op);
    m.in_bounds = true;
    return m.pack();
  }

  ValueId number(int64_t n) { return b_.constant(Type::I64, uint64_t(n)); }
  ValueId wide(ValueId v) {
    return p_.type(v) == Type::I64 ? v : b_.op(Opcode::Cast, Type::I64, {v});
  }
  ValueId times(ValueId v, int64_t factor) {
    return factor == 1 ? v : b_.op(Opcode::Mul, Type::I64, {v, number(factor)});
  }
  ValueId sum(ValueId a, ValueId b) { return b_.op(Opcode::Add, Type::I64, {a, b}); }
  ValueId both(ValueId a, ValueId b) {
    return a == none ? b : b_.op(Opcode::And, Type::Bool, {a, b});
  }

  ValueId make_test(const LoopPlan& plan) {
    b_.before(plan.loop);
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
      const ValueId length = wide(b_.op(Opcode::Len64, Type::Void, {}, key.buffer.value()));
      all = both(all, b_.op(Opcode::Ge, Type::I64, {least, number(0)}));
      all = both(all, b_.op(Opcode::Lt, Type::I64, {greatest, length}));
      // No more elements than the index can count: then it does not wrap on the way.
      if (most_[key.buffer] > key.most_count)
        all = both(all, b_.op(Opcode::Le, Type::I64, {length, number(int64_t(key.most_count))}));
    }
    return all;
  }

  Program& p_;
  const IdMap<BufferId, Wide>& most_;
  std::vector<OpId> proved_;
};

}  // namespace

bool version_loops(Program& program, PassContext& context, const IdMap<BufferId, Wide>& most) {
  const std::vector<LoopPlan> plans = plan_loop_versions(program, context);
  if (plans.empty()) return false;
  IrBuilder builder(program);
  LoopCloner(program, builder, most).run(plans);
  return true;
}

}  // namespace vyre::opt
