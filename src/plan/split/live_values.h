#pragma once

// Values that are live across split points, and their spill slots.

#include <vector>

#include "plan/split/split_facts.h"
#include "plan/split/split_grid.h"

namespace vyre::plan {

/// Words of the hidden u32 buffers that hold a value: one, or two for 64 bits.
struct Slot {
  HiddenBuffer::Rate rate = HiddenBuffer::Rate::PerInvocation;
  uint32_t first = none;  // none: not spilled
  uint32_t words = 1;
};

/// A shared or private array that is spilled: where in the hidden buffer with its rate and element.
struct KeptArray {
  BufferId array{0};
  uint64_t count = 0;   // elements
  uint32_t hidden = 0;  // index into LiveValues::hidden
  uint64_t offset = 0;
};

struct SegmentNeeds {
  std::vector<ValueId> imports;     // top values of other segments, in order of their first use
  std::vector<ValueId> parameters;  // values that the host computes: imports, or parts of them
  bool sync = false;                // it has ops that need uniform flow
  uint64_t reads = 0, writes = 0;
  uint32_t first_of_loop = none, last_of_loop = none;  // of the outermost loop around it
  uint64_t restore = 0, save = 0;                      // arrays, by bit
};

struct LiveValues {
  std::vector<SegmentNeeds> segments;
  IdMap<ValueId, Slot> slots;       // by value; of the home of a value
  IdMap<ValueId, ValueId> owner;    // by home: the value that stands for all that share its slot
  IdMap<OpId, uint32_t> live_slot;  // by op: of a device loop, the workgroup's word "it continues"
  IdMap<OpId, uint32_t> word;       // by op: of a device loop, the host's word
  std::vector<KeptArray> arrays;
  std::vector<HiddenBuffer> hidden;
  uint32_t by_invocation = none, by_workgroup = none, once = none;  // the u32 buffers of `hidden`
};

/// Finds grid uniform_loads that need no second barrier: no op up to the next split point writes
/// the buffer. Must run before everything else, because it decides where the split points are.
void merge_uniform_loads(SplitFacts& facts);

/// A variable that a loop carries has one slot with the values that are assigned to it, where no
/// other value is live there (plan/split/slot_sharing.h).
LiveValues find_live_values(const SplitFacts& facts);

}  // namespace vyre::plan
