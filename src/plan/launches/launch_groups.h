#pragma once

// Launch groups: which stages share one launch, as a pure function of their sizes and layouts.
//
//   LaunchGroupStorage storage;                       // kept, and used again for the next plan
//   Result<LaunchPlan> plan = plan_launch_groups(stages, budget, storage);
//
// A stage alone needs its input, its output and its scratch bytes. It joins the group before it if
// it does not need the host before it, has the group's layout hash, and the group with its scratch
// and its output stays within the budget: its input is the output before it, which is charged
// already, and which need not go through memory then. The plan says which stages would fit and pay;
// fuse_graph.h decides whether two kernels may be fused at all.

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "diagnostics/result.h"
#include "ir/graph_launch.h"
#include "ir/module.h"

namespace vyre::plan {

struct LaunchStage {
  uint64_t id = 0;  // unique among the stages of a plan
  uint64_t layout_hash = 0;
  uint64_t input = 0, output = 0, scratch = 0;  // bytes
  bool needs_host = false;                      // before it begins
  bool operator==(const LaunchStage&) const = default;
};

/// Stages first … first + count - 1 of the list.
struct LaunchGroup {
  uint32_t first = 0, count = 0;
  uint64_t layout_hash = 0;
  uint64_t required_bytes = 0;
  uint64_t avoided_bytes = 0;  // outputs that the next stage of the group takes over
  bool operator==(const LaunchGroup&) const = default;

  std::span<const LaunchStage> stages(std::span<const LaunchStage> all) const {
    return all.subspan(first, count);
  }
};

struct LaunchPlan {
  std::span<const LaunchGroup> groups;  // in order; in the storage until it is used again
  uint64_t launches = 0;
  uint64_t avoided_launches = 0;
  uint64_t avoided_bytes = 0;
};

/// Working memory of the planner, from an allocator that the caller chooses. After the first plan
/// of some size, others of at most that size allocate nothing.
class LaunchGroupStorage {
 public:
  explicit LaunchGroupStorage(std::pmr::memory_resource* memory = std::pmr::get_default_resource());

 private:
  friend class GroupPlanner;
  friend class BestGroups;

  struct Named {
    uint64_t id;
    uint32_t stage;
  };
  /// The best way to put the stages before this one into groups.
  struct Best {
    uint32_t launches = 0;
    uint32_t from = 0;  // where the last group begins
    unsigned __int128 avoided = 0;
    __int128 standing = 0;          // avoided - outputs of all stages before
    unsigned __int128 outputs = 0;  // of all stages before
    unsigned __int128 added = 0;    // scratch + output of all stages before
  };
  std::pmr::vector<LaunchGroup> groups_;
  std::pmr::vector<Named> ids_;
  std::pmr::vector<Best> best_;
  std::pmr::vector<uint32_t> heap_;
};

/// Plans greedily, left to right. Errors, in this order: V0851 a budget of 0; of a single stage
/// V0852; V0853 a repeated id; then stage by stage V0854 a sum that overflows and V0852 the head of
/// a group that is over budget. V0855: the storage's memory failed. Runs in time O(n log n) for n
/// stages (the ids are sorted).
Result<LaunchPlan> plan_launch_groups(std::span<const LaunchStage> stages, uint64_t budget,
                                      LaunchGroupStorage& storage);

/// Plans optimally, with the same checks and conditions: among all divisions of the list, selects
/// those with the fewest launches, and of these the one that avoids the most bytes; where those are
/// equal, too, the first groups are long. Runs in time O(n log n). A group whose bytes overflow
/// does not fit.
Result<LaunchPlan> best_launch_groups(std::span<const LaunchStage> stages, uint64_t budget,
                                      LaunchGroupStorage& storage);

/// Hash of the binding layout (roles and element types of the parameters, in order), workgroup and
/// launch geometry. Programs with different ones are never taken for stages of one launch.
uint64_t layout_hash(const Program& program, const LaunchShape& shape);

/// Returns the calls of a graph as stages: the input is the bytes that a call only reads, the
/// output those that it writes, the scratch its scratch parameters and the shared memory of a
/// workgroup. The id is the node's index. A stage needs the host if its grid is in device memory or
/// if it follows the border of a loop. Errors are those of the call.
Result<std::vector<LaunchStage>> stages_of(const Module& module, const Graph& graph,
                                           const GraphShape& shape);

}  // namespace vyre::plan
