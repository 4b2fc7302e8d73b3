#pragma once

// Scratch reuse: buffers of a graph that are not needed at the same time share memory.
//
// Arms are the calls of the graph, by node, in order; loops and which calls may run at the same
// time are counted in. Two buffers share bytes only if no arm needs one while the other's contents
// are still needed.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph_launch.h"
#include "ir/module.h"

namespace vyre::plan {

/// One use of a buffer by an arm.
struct ArmUse {
  uint32_t buffer = 0;
  bool reads = false;
  bool writes = false;
  bool atomics = false;
  /// Contents before do not matter: every element is written before it is read, or the executor
  /// clears it (an `out` argument is zeros when its call starts).
  bool overwrites = false;
};

struct Arm {
  uint32_t id = 0;   // unique; names are labels only
  std::string name;
  std::vector<ArmUse> uses;
};

struct ReuseBuffer {
  uint64_t bytes = 0;
  bool host = false;      // given by or given back to the host: never recycled
  bool indirect = false;  // a loop or a grid depends on its contents
};

/// What the planner works on. Made from a graph by reuse_input(), or by hand (tests, megakernels).
struct ReuseInput {
  std::vector<ReuseBuffer> buffers;
  std::vector<Arm> arms;  // in order of execution
  /// Arms [first, last] that run again and again, outer loops before inner ones.
  struct Loop {
    uint32_t first = 0, last = 0;
  };
  std::vector<Loop> loops;
  /// Pairs of arms (indices) that may run at the same time.
  std::vector<std::pair<uint32_t, uint32_t>> concurrent;
  uint64_t alignment = 256;
};

ReuseInput reuse_input(const Module& module, const Graph& graph, const GraphShape& shape);

// ---- Queries.

/// Buffers whose contents no host, no atomic, no indirect launch and no later arm can see being
/// changed after their last use: what may be recycled at all.
std::vector<bool> non_escaping(const ReuseInput& input);
/// Buffers that nobody needs after this arm, of those that it uses. An unknown arm has none.
std::vector<uint32_t> recyclable_after(const ReuseInput& input, uint32_t arm_id);
bool is_recyclable(const ReuseInput& input, uint32_t buffer);
/// Number of (arm, buffer) pairs of recyclable_after().
uint64_t recyclable_pairs(const ReuseInput& input);

// ---- The plan.

struct Placement {
  static constexpr uint32_t own = ~0u;
  uint32_t slot = own;  // own: memory of its own, as if there were no plan
  uint64_t offset = 0;
  bool operator==(const Placement&) const = default;
};

struct ReusePlan {
  std::vector<Placement> placement;  // by buffer
  std::vector<uint64_t> slot_bytes;
  /// Buffers that must be cleared when an arm begins, because they start as zeros and the memory
  /// may have been used: (index of the arm, buffer).
  std::vector<std::pair<uint32_t, uint32_t>> clears;
  uint64_t before = 0;    // bytes of all buffers that could be recycled, each in its own memory
  uint64_t after = 0;     // bytes of the slots
  uint64_t live_sum = 0;  // the largest sum of bytes that are needed at once: no plan has less
};

ReusePlan plan_reuse(const ReuseInput& input);

}  // namespace vyre::plan
