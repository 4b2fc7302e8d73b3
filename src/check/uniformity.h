#pragma once

// The largest scope at which a value, or the flow of control, is the same for all invocations.
//
// A value is uniform at a scope if all invocations of one instance of the scope (one subgroup, one
// workgroup, the grid) that compute it, in the same iterations of the loops around it, get the same
// value. Flow is uniform at a scope if all of the scope's invocations, or none, get there together.
//
// The analysis is the specification's, "as in WGSL" for exits. It is a graph: a node for each value
// and for each piece of flow, an edge from each dependency of a node to the node, by data or
// control. Sources (ids, loads, atomics) have a level; every node has the lowest level that reaches
// it. Levels are spread from the lowest up, so each node is processed once: linear in ops and
// operands.
//
// Flow nodes are relative to the innermost loop, so that a loop inside divergent flow can still
// have uniform values; flow() returns the absolute answer. There is a new flow node
//   - in the branches of an `if`: depends on the condition;
//   - in a loop: depends on bounds or test and, because the next iteration can be reached after
//     them, on every break, continue and return inside;
//   - after an op that holds an exit which leaves it. `trap` is not such an exit.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace vyre {

/// The largest scope at which something is uniform; ordered.
enum class Uniformity : uint8_t { Varying, Subgroup, Workgroup, Grid };

constexpr Uniformity needed_for(Scope scope) {
  return static_cast<Uniformity>(static_cast<int>(scope) + 1);
}

/// The reason why a piece of flow or a value is not more uniform: one step of the chain from it to
/// the source.
struct UniformityStep {
  enum class Kind : uint8_t {
    Condition,  // op is an `if`: its condition
    Trips,      // op is a loop: its number of iterations
    Exit,       // op is a return, break or continue that not all invocations take
    Merge,      // op is an `if` or loop whose result depends on the path taken
    Source      // op is the origin of the difference
  };
  Kind kind;
  OpId op;
  ValueId value = none;  // Condition, Trips: the value that differs, if there is one
};

class UniformityInfo {
 public:
  Uniformity value(ValueId v) const { return level_[v.value()]; }
  /// Uniformity of the flow of the op. Grid for an op that is never reached.
  Uniformity flow(OpId op) const {
    return reachable(op) ? absolute_[flow_of_op_[op] - values_] : Uniformity::Grid;
  }
  /// False: no path of the program's structure reaches the op.
  bool reachable(OpId op) const { return flow_of_op_[op] != none; }

  /// The chain of reasons for flow(op) being below `needed`, nearest first; empty if it is not.
  std::vector<UniformityStep> why_flow(const Program& p, OpId op, Uniformity needed) const;
  /// The same for a value.
  std::vector<UniformityStep> why_value(const Program& p, ValueId v, Uniformity needed) const;

 private:
  friend class UniformityAnalysis;
  struct FlowNode {
    enum class Kind : uint8_t { Body, Arm, Loop, After, Exit } kind = Kind::Body;
    OpId op = none;
    uint32_t outer = none;  // the flow around the innermost enclosing loop
  };
  bool is_flow(uint32_t node) const { return node >= values_; }
  const FlowNode& flow_node(uint32_t node) const { return flows_[node - values_]; }
  void trace(const Program& p, uint32_t node, std::vector<UniformityStep>& steps) const;

  uint32_t values_ = 0;            // nodes below are values, the others flow
  std::vector<Uniformity> level_;  // of each node
  std::vector<uint32_t> cause_;    // the node that lowered it; none for a source
  std::vector<uint32_t> source_;   // the end of the chain of causes
  std::vector<FlowNode> flows_;
  std::vector<Uniformity> absolute_;  // of each flow node, the loops around it included
  IdMap<OpId, uint32_t> flow_of_op_;  // flow node of each op; none if it is not reached
};

/// Rules of an emitter beyond the specification: they make more values uniform over a subgroup, and
/// none over a larger scope.
struct UniformityRules {
  bool rows = false;      // y and z of ids are the same for a subgroup
  bool lockstep = false;  // a subgroup runs in lock step: a load from one address returns one value
};

/// Needs a program whose structure holds (types may be wrong).
UniformityInfo analyze_uniformity(const Program& program, const UniformityRules& rules = {});

/// "`local_id.x`", "a load from `flags`", … for messages.
std::string describe_source(const Program& program, OpId op);

}  // namespace vyre
