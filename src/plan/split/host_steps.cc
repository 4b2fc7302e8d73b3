#include "plan/split/host_steps.h"

#include <algorithm>

namespace vyre::plan {

HostSteps::HostSteps(const SplitFacts& facts, const LiveValues& live, SplitPlan& plan)
    : f_(facts),
      p_(facts.p),
      plan_(plan),
      nodes_(p_.values.size(), none),
      variables_(p_.values.size(), none) {
  mark_variables(live);
}

/// The values from which the host computes a value; none for a variable of a loop.
std::vector<ValueId> HostSteps::sources(ValueId v) const {
  const Value& value = p_.values[v];
  if (f_.is_carried(v)) return {};
  const Op& o = p_.op(value.def);
  std::vector<ValueId> list(p_.operands(value.def).begin(), p_.operands(value.def).end());
  if (is_control(o.code))
    for (uint32_t b = 0; b < o.n_blocks; ++b)
      if (f_.yields(value.def, b)) list.push_back(p_.operand(f_.end_of(value.def, b), value.index));
  return list;
}

/// The arguments of loops that some test or parameter depends on.
void HostSteps::mark_variables(const LiveValues& live) {
  std::vector<ValueId> queue;
  IdMap<ValueId, bool> seen(p_.values.size(), false);
  const auto need = [&](ValueId v) {
    if (!seen[v]) queue.push_back(v);
    seen[v] = true;
  };
  for (const SegmentNeeds& needs : live.segments)
    for (const ValueId v : needs.parameters) need(v);
  walk(p_, [&](OpId op) {
    if (!f_.splits[op]) return;
    if (p_.op(op).code == Opcode::While && f_.is_host_loop(op)) need(f_.test_of(op));
    if (p_.op(op).code == Opcode::If && f_.host[p_.operand(op, 0)]) need(p_.operand(op, 0));
  });
  while (!queue.empty()) {
    const ValueId v = queue.back();
    queue.pop_back();
    if (!f_.is_carried(v)) {
      for (const ValueId source : sources(v)) need(source);
      continue;
    }
    const ValueId arg = f_.home(v);
    if (variables_[arg] != none) continue;
    variables_[arg] = plan_.host_variables++;
    const OpId loop = p_.blocks[p_.values[arg].block].parent;
    need(p_.operand(loop, p_.values[arg].index));
    if (f_.yields(loop, 1)) need(p_.operand(f_.end_of(loop, 1), p_.values[arg].index));
  }
}

HostNode HostSteps::make_node(ValueId v) {
  HostNode n;
  const Value& value = p_.values[v];
  if (f_.is_carried(v)) {
    n.is_variable = true;
    n.type = value.type;
    n.attr = variables_[f_.home(v)];
    return n;
  }
  const Op& o = p_.op(value.def);
  for (const ValueId source : sources(v)) n.operands.push_back(nodes_[source]);
  if (o.code == Opcode::If && n.operands.size() == 3) {
    n.code = Opcode::Select;
    n.type = value.type;
    n.source = Type::Bool;
  } else if (is_control(o.code)) {  // a region, or an `if` with a branch that traps
    return plan_.host[n.operands.back()];
  } else {
    n.code = o.code;
    n.type = o.type;
    n.attr = o.attr;
    if (o.operands.count != 0) n.source = p_.type(p_.operand(value.def, 0));
  }
  return n;
}

uint32_t HostSteps::node(ValueId wanted) {
  std::vector<ValueId> stack = {wanted};
  while (!stack.empty()) {
    const ValueId v = stack.back();
    if (nodes_[v] != none) {
      stack.pop_back();
      continue;
    }
    const size_t before = stack.size();
    for (const ValueId source : sources(v))
      if (nodes_[source] == none) stack.push_back(source);
    if (stack.size() != before) continue;
    stack.pop_back();
    HostNode made = make_node(v);
    nodes_[v] = static_cast<uint32_t>(plan_.host.size());
    plan_.host.push_back(std::move(made));
  }
  return nodes_[wanted];
}

/// Closes and opens ifs.
void HostSteps::stand_in(std::span<const HostArm> arms) {
  size_t same = 0;
  while (same < arms.size() && same < arms_.size() && arms[same] == arms_[same]) ++same;
  while (arms_.size() > same) {
    Step step;
    step.kind = Step::Kind::IfEnd;
    step.match = begins_.back();
    plan_.steps[step.match].match = static_cast<uint32_t>(plan_.steps.size());
    plan_.steps.push_back(std::move(step));
    begins_.pop_back();
    arms_.pop_back();
  }
  for (; arms_.size() < arms.size();) {
    const HostArm& arm = arms[arms_.size()];
    Step step;
    step.kind = Step::Kind::IfBegin;
    step.test = node(p_.operand(arm.op, 0));
    step.wanted = arm.arm == 0;
    begins_.push_back(static_cast<uint32_t>(plan_.steps.size()));
    plan_.steps.push_back(std::move(step));
    arms_.push_back(arm);
  }
}

void HostSteps::launch(std::span<const ValueId> parameters, std::span<const HostArm> arms) {
  stand_in(arms);
  Step step;
  step.piece = static_cast<uint32_t>(plan_.pieces.size());
  plan_.steps.push_back(std::move(step));
  Piece& piece = plan_.pieces.emplace_back();
  for (const ValueId v : parameters) piece.parameters.push_back({node(v), p_.type(v)});
}

void HostSteps::barrier(std::span<const HostArm> arms) {
  stand_in(arms);
  Step step;
  step.kind = Step::Kind::Barrier;
  plan_.steps.push_back(std::move(step));
}

void HostSteps::assign(OpId loop, std::span<const ValueId> values) {
  Step step;
  step.kind = Step::Kind::Set;
  const auto args = p_.args(p_.op(loop).first_block);
  for (size_t i = 0; i < args.size(); ++i)
    if (variables_[args[i]] != none) step.set.push_back({variables_[args[i]], node(values[i])});
  if (!step.set.empty()) plan_.steps.push_back(std::move(step));
}

void HostSteps::begin_loop(OpId loop, std::span<const HostArm> arms, uint32_t word) {
  stand_in(arms);
  Step step;
  step.kind = Step::Kind::LoopBegin;
  if (f_.is_host_loop(loop)) {
    assign(loop, p_.operands(loop));
    step.test = node(f_.test_of(loop));
  } else {
    step.word = word;
  }
  loops_.push_back(static_cast<uint32_t>(plan_.steps.size()));
  plan_.steps.push_back(std::move(step));
}

void HostSteps::end_loop(OpId loop) {
  // Ifs that were opened inside end before the loop does.
  size_t outside = 0;
  while (outside < begins_.size() && begins_[outside] < loops_.back()) ++outside;
  const std::vector<HostArm> arms(arms_.begin(), arms_.begin() + static_cast<ptrdiff_t>(outside));
  stand_in(arms);
  if (f_.is_host_loop(loop) && f_.yields(loop, 1)) assign(loop, p_.operands(f_.end_of(loop, 1)));
  Step step;
  step.kind = Step::Kind::LoopEnd;
  step.match = loops_.back();
  plan_.steps[step.match].match = static_cast<uint32_t>(plan_.steps.size());
  plan_.steps.push_back(std::move(step));
  loops_.pop_back();
}

}  // namespace vyre::plan
