// Reasons: the chain of causes from a node back to its source, and its description.

#include <fmt/format.h>

#include "check/uniformity.h"

namespace vyre {

using Step = UniformityStep;

namespace {

// The condition of an `if`; none for other ops.
ValueId branch_value(const Program& p, OpId op) {
  return p.ops[op].code == Opcode::If ? p.operand(op, 0) : none;
}

// Returns whether the value determines the number of iterations of the loop.
bool decides_trips(const Program& p, OpId loop, ValueId value) {
  if (p.ops[loop].code == Opcode::While)
    return value == p.operand(p.blocks[p.ops[loop].first_block].last, 0);
  return value == p.operand(loop, 0) || value == p.operand(loop, 1) || value == p.operand(loop, 2);
}

}  // namespace

// A cause was processed before the nodes that it lowers, so the chain ends, at a value that is a
// source. Only the steps that are visible in the source are kept.
void UniformityInfo::trace(const Program& p, uint32_t node, std::vector<Step>& steps) const {
  constexpr int most = 1000;  // nodes visited; the source is known anyway
  const uint32_t source = source_[node];
  for (int n = 0; node != source && n < most; ++n, node = cause_[node]) {
    const uint32_t cause = cause_[node];
    if (is_flow(node)) {
      const FlowNode& f = flow_node(node);
      const bool by_value = !is_flow(cause);
      if (f.kind == FlowNode::Kind::Exit) steps.push_back({Step::Kind::Exit, f.op});
      if (by_value && (f.kind == FlowNode::Kind::Arm || f.kind == FlowNode::Kind::Loop)) {
        const bool is_if = p.ops[f.op].code == Opcode::If;
        steps.push_back({is_if ? Step::Kind::Condition : Step::Kind::Trips, f.op, ValueId(cause)});
      }
      continue;
    }
    const Value& v = p.values[ValueId(node)];
    if (v.def == none || !is_control(p.ops[v.def].code)) continue;
    if (is_flow(cause) || ValueId(cause) == branch_value(p, v.def))
      steps.push_back({Step::Kind::Merge, v.def});
    else if (is_loop(p.ops[v.def].code) && decides_trips(p, v.def, ValueId(cause)))
      steps.push_back({Step::Kind::Trips, v.def, ValueId(cause)});
  }
  steps.push_back({Step::Kind::Source, p.values[ValueId(source)].def});
}

std::vector<Step> UniformityInfo::why_flow(const Program& p, OpId op, Uniformity needed) const {
  std::vector<Step> steps;
  for (uint32_t node = flow_of_op_[op]; node != none; node = flow_node(node).outer) {
    if (level_[node] >= needed) continue;
    trace(p, node, steps);
    break;
  }
  return steps;
}

std::vector<Step> UniformityInfo::why_value(const Program& p, ValueId v, Uniformity needed) const {
  std::vector<Step> steps;
  if (value(v) < needed) trace(p, v.value(), steps);
  return steps;
}

std::string describe_source(const Program& p, OpId op) {
  const Op& o = p.ops[op];
  const OpInfo& row = info(o.code);
  switch (row.attribute) {
    case AttrKind::Dim: return fmt::format("`{}.{}`", row.mnemonic, "xyz"[o.attr]);
    case AttrKind::Memory:
      if (row.effect == Effect::Read)
        return fmt::format("a load from `{}` ({})", p.buffer_of(op).name,
                           name(p.buffer_of(op).role));
      return fmt::format("`{}` on `{}`", row.mnemonic, p.buffer_of(op).name);
    default: return fmt::format("`{}`", row.mnemonic);
  }
}

}  // namespace vyre
