#pragma once

// Scratch reuse: buffers of a graph that are not needed at the same time share memory.
//
// Arms are the calls of the graph, in order; loops and which calls may run at the same time are
// counted in. Two buffers share bytes only if no arm needs one while the other's contents are still
// needed.
//
// Live ranges. An arm needs the contents of a buffer if it reads it, or writes some of it and
// leaves the rest. Contents are live from the arm that overwrites the buffer to the last one that
// needs them, around loops if the next iteration needs them, and past loops that may not run. A
// buffer whose contents are live when the graph begins holds zeros then: the plan clears it, once,
// before its first arm (before the outermost loop around that). A buffer with several live ranges
// is free between them, but keeps its place.
//
// plan_reuse() makes a plan, check_reuse() (check_reuse.h) checks it and shares no code with this.
// Tests replay the accesses of real runs (tests/plan/memory/reuse_replay_util.h).

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph_launch.h"
#include "ir/module.h"

namespace vyre::plan {

/// One use of a buffer by an arm.
struct ArmUse {
  GraphBufferId buffer{0};
  // All false: the buffer is bound, so it must have its bytes, but the arm does not access it.
  bool reads = false;
  bool writes = false;
  bool atomics = false;
  /// Contents before do not matter: every element is written before it is read, or the executor
  /// clears it (an `out` argument is zeros when its call starts).
  bool overwrites = false;
};

struct Arm {
  uint32_t id = 0;  // unique; names are labels only
  std::string name;
  std::vector<ArmUse> uses;
};

/// Memory of intermediates is allocated in multiples of this many bytes, and buffers that share it
/// lie at multiples of it: enough for any device.
inline constexpr uint64_t memory_alignment = 256;
constexpr uint64_t allocated_bytes(uint64_t bytes) {
  return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

struct ReuseBuffer {
  uint64_t bytes = 0;
  bool host = false;      // passed by or returned to the host: never recycled
  bool indirect = false;  // a loop or a grid depends on its contents
};

/// Input of the planner. Made from a graph by reuse_input(), or by hand (tests, megakernels).
struct ReuseInput {
  PublicIdMap<GraphBufferId, ReuseBuffer> buffers;
  std::vector<Arm> arms;  // in order of execution
  /// Arms [first, last] that run repeatedly. Loops are nested or disjoint.
  struct Loop {
    uint32_t first = 0, last = 0;
    bool runs = false;  // at least once; else it may be skipped
  };
  std::vector<Loop> loops;
  /// Pairs of arms (indices) that may run at the same time.
  std::vector<std::pair<uint32_t, uint32_t>> concurrent;
  uint64_t alignment = memory_alignment;
};

/// Returns the calls of a graph, by index among its calls; ids are their nodes. Scratch parameters
/// of kernels are not buffers of the graph: each launch has its own.
ReuseInput reuse_input(const Module& module, const Graph& graph, const GraphShape& shape);

// ---- Queries.

/// Returns the buffers that may be recycled: no host, atomic, indirect launch or later arm can see
/// their contents change after their last use.
IdMap<GraphBufferId, bool> non_escaping(const ReuseInput& input);

/// A pair (id of an arm, buffer): when this arm and those that run with it are done, the contents
/// of the buffer are not needed. For an arm that ends a loop: when the loop is done, for buffers
/// that are live through it. In order of the arms.
struct Recyclable {
  uint32_t arm = 0;
  GraphBufferId buffer{0};
  bool operator==(const Recyclable&) const = default;
};
std::vector<Recyclable> recyclable(const ReuseInput& input);
/// Returns the buffers of one arm. An unknown arm has none.
std::vector<GraphBufferId> recyclable_after(const ReuseInput& input, uint32_t arm_id);
/// True if any arm may recycle the buffer.
bool is_recyclable(const ReuseInput& input, GraphBufferId buffer);
/// Number of (arm, buffer) pairs.
uint64_t recyclable_pairs(const ReuseInput& input);

// ---- The plan.

struct Placement {
  static constexpr uint32_t own = ~0u;
  uint32_t slot = own;  // own: separate memory, as if there were no plan
  uint64_t offset = 0;
  bool operator==(const Placement&) const = default;
};

/// All sums are of bytes rounded up to the alignment, as allocations are.
struct ReusePlan {
  PublicIdMap<GraphBufferId, Placement> placement;
  std::vector<uint64_t> slot_bytes;
  /// Buffers that must be cleared, because they start as zeros and the memory may have been used:
  /// (index of the arm, buffer). Once a run, when the run first comes to the arm; if the arm is the
  /// first of a loop, before the loop, whether that runs or not. Never an arm inside a loop
  /// otherwise. Ascending.
  std::vector<std::pair<uint32_t, GraphBufferId>> clears;
  uint64_t before = 0;    // of all buffers in slots, each in its own memory
  uint64_t after = 0;     // of the slots
  uint64_t live_sum = 0;  // the largest sum that is needed at once: no plan has less
};

/// Plans scratch reuse. Buffers that are not placed: escaping ones, those without bytes, those that
/// no arm uses. For an input that makes no sense (check_reuse() says why), the plan places nothing.
/// Time grows with the pairs of buffers that are live at the same time.
ReusePlan plan_reuse(const ReuseInput& input);

}  // namespace vyre::plan
