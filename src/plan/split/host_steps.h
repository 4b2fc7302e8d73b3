#pragma once

// Writes the steps of a plan: launches, the loops and ifs around them, and the values that the host
// must compute for those.

#include <vector>

#include "plan/split/live_values.h"
#include "plan/split/split_facts.h"
#include "plan/split/split_grid.h"

namespace vyre::plan {

/// A branch of an `if` whose condition the host knows.
struct HostArm {
  OpId op = none;
  uint32_t arm = 0;
  bool operator==(const HostArm&) const = default;
};

class HostSteps {
 public:
  HostSteps(const SplitFacts& facts, const LiveValues& live, SplitPlan& plan);

  /// The next piece of the plan, with values that the host computes for it.
  void launch(std::span<const ValueId> parameters, std::span<const HostArm> arms);
  void barrier(std::span<const HostArm> arms);
  /// `word`: of a device loop.
  void begin_loop(OpId loop, std::span<const HostArm> arms, uint32_t word);
  void end_loop(OpId loop);
  void finish() { stand_in({}); }

 private:
  void mark_variables(const LiveValues& live);
  void stand_in(std::span<const HostArm> arms);
  uint32_t node(ValueId v);
  std::vector<ValueId> sources(ValueId v) const;
  HostNode make_node(ValueId v);
  void assign(OpId loop, std::span<const ValueId> values);

  const SplitFacts& f_;
  const Program& p_;
  SplitPlan& plan_;
  IdMap<ValueId, uint32_t> nodes_;      // by value
  IdMap<ValueId, uint32_t> variables_;  // by argument of a host loop; none: it has no uses
  std::vector<HostArm> arms_;           // open ifs
  std::vector<uint32_t> begins_;        // their steps, and those of open loops
  std::vector<uint32_t> loops_;
};

}  // namespace vyre::plan
