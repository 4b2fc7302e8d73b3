#include "plan/split/step_control.h"

#include <algorithm>

#include "ir/eval/eval.h"

namespace vyre::plan {

StepControl::StepControl(const SplitPlan& plan, const HostFacts& facts)
    : plan_(plan),
      facts_(facts),
      parameters_(plan.parameters.size(), 0),
      variables_(plan.host_variables, 0),
      values_(plan.host.size(), 0),
      computed_(plan.host.size(), 0) {}

uint64_t StepControl::compute(const HostNode& n) const {
  if (n.is_variable) return variables_[n.attr];
  switch (n.code) {
    case Opcode::Const: return n.attr;
    case Opcode::NumWorkgroups: return facts_.shape->num_workgroups[n.attr];
    case Opcode::WorkgroupSize: return facts_.program->workgroup[n.attr];
    case Opcode::SubgroupSize: return facts_.subgroup_size;
    case Opcode::Len: return static_cast<uint32_t>(facts_.shape->counts[n.attr]);
    case Opcode::Len64: return facts_.shape->counts[n.attr];
    case Opcode::Scalar: {
      const uint64_t bits = facts_.scalars[n.attr];
      return n.type == Type::Bool ? bits != 0 : bits;
    }
    default: break;
  }
  uint64_t in[4] = {};
  for (size_t i = 0; i < n.operands.size() && i < 4; ++i) in[i] = values_[n.operands[i]];
  return eval_bits(n.code, n.type, n.source, in, n.operands.size());
}

/// Each node once, until a variable changes.
uint64_t StepControl::evaluate(uint32_t wanted) {
  const ExactFloats exact;
  stack_.assign(1, wanted);
  while (!stack_.empty()) {
    const uint32_t id = stack_.back();
    if (computed_[id] == now_) {
      stack_.pop_back();
      continue;
    }
    const size_t before = stack_.size();
    for (const uint32_t operand : plan_.host[id].operands)
      if (computed_[operand] != now_) stack_.push_back(operand);
    if (stack_.size() != before) continue;
    stack_.pop_back();
    values_[id] = compute(plan_.host[id]);
    computed_[id] = now_;
  }
  return values_[wanted];
}

/// Adds a piece to the chain; false if it does not follow it in one launch.
bool StepControl::join(const Step& launch) {
  for (const uint32_t next : plan_.chains[chain_].next) {
    const Chain& longer = plan_.chains[next];
    if (longer.piece != launch.piece) continue;
    const Piece& piece = plan_.pieces[launch.piece];
    for (size_t i = 0; i < longer.slots.size(); ++i)
      parameters_[longer.slots[i]] = evaluate(piece.parameters[i].node);
    chain_ = next;
    return true;
  }
  return false;
}

StepControl::Action StepControl::launch_chain() {
  const uint32_t segment = plan_.chains[chain_].segment;
  chain_ = 0;
  return {Kind::Launch, segment, 0, parameters_};
}

StepControl::Action StepControl::next() {
  constexpr int most_steps = 4096;
  for (int n = 0; at_ < plan_.steps.size(); ++n) {
    if (n == most_steps) return {Kind::Pause};
    const Step& step = plan_.steps[at_];
    switch (step.kind) {
      case Step::Kind::Launch:
        if (!join(step)) return launch_chain();
        ++at_;
        break;
      case Step::Kind::Barrier:
        if (chain_ != 0) return launch_chain();
        ++at_;
        break;
      case Step::Kind::Set: {
        std::vector<uint64_t> next;
        for (const HostAssignment& a : step.set) next.push_back(evaluate(a.node));
        for (size_t i = 0; i < next.size(); ++i) variables_[step.set[i].variable] = next[i];
        ++now_;
        ++at_;
        break;
      }
      case Step::Kind::IfBegin:
        at_ = (evaluate(step.test) != 0) == step.wanted ? at_ + 1 : step.match + 1;
        break;
      case Step::Kind::IfEnd: ++at_; break;
      case Step::Kind::LoopBegin:
        if (step.test == none) {
          batches_.emplace_back();
          ++at_;
        } else {
          at_ = evaluate(step.test) != 0 ? at_ + 1 : step.match + 1;
        }
        break;
      case Step::Kind::LoopEnd: {
        const Step& begin = plan_.steps[step.match];
        if (begin.test != none) {
          at_ = step.match;
        } else if (batches_.back().left == 1) {
          if (chain_ != 0) return launch_chain();
          return {Kind::Poll, 0, begin.word};
        } else {
          --batches_.back().left;
          at_ = step.match + 1;
        }
        break;
      }
    }
  }
  if (chain_ != 0) return launch_chain();
  return {};
}

void StepControl::answer(bool goes_on) {
  Batch& batch = batches_.back();
  if (!goes_on) {
    batches_.pop_back();
    ++at_;
    return;
  }
  batch.size = std::min(batch.size * 2, largest_batch);
  batch.left = batch.size;
  at_ = plan_.steps[at_].match + 1;
}

}  // namespace vyre::plan
