#pragma once

// Effects of an op, with everything in its blocks, on memory and on other invocations. Runs in time
// linear in the number of ops.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"
#include "opt/pass.h"

namespace vyre::opt {

/// Buffers by bit (a program has at most 64).
struct EffectSummary {
  uint64_t reads = 0;  // loads; atomics count as reads and writes too
  uint64_t writes = 0;
  uint64_t atomics = 0;
  uint8_t barriers = 0;   // scopes, by bit; uniform_load has a barrier at its scope
  bool acquires = false;  // an acq_rel atomic: other memory may have changed after it
  bool subgroup = false;  // needs its subgroup together
  bool traps = false;     // trap or assert
  bool leaves = false;    // break, continue or return out of the op itself

  void add(const EffectSummary& o) {
    reads |= o.reads;
    writes |= o.writes;
    atomics |= o.atomics;
    barriers |= o.barriers;
    acquires |= o.acquires;
    subgroup |= o.subgroup;
    traps |= o.traps;
    leaves |= o.leaves;
  }
  bool operator==(const EffectSummary&) const = default;
};

class Effects {
 public:
  explicit Effects(const Program& program);
  /// Effects of the op and of all ops in it. `leaves` does not count exits that stay inside the op.
  const EffectSummary& of(OpId op) const { return by_op_[op]; }
  const EffectSummary& of_program() const { return all_; }
  /// True if the op may change the result of a load from the buffer: by writes and atomics on it of
  /// this lane; and if other invocations may write the buffer, by barriers and acquires.
  bool may_change(OpId op, BufferId buffer) const;

 private:
  IdMap<OpId, EffectSummary> by_op_;
  EffectSummary all_;
  uint64_t seen_by_others_ = 0;  // buffers that another invocation could write
};

/// "reads x", "writes y", "atomics z", "barrier workgroup", "traps", "subgroup".
std::vector<std::string> describe(const Program& program, const EffectSummary& effects);
/// Returns the kinds that `after` has and `before` lacks.
EffectKinds added_kinds(const EffectSummary& before, const EffectSummary& after);

}  // namespace vyre::opt
