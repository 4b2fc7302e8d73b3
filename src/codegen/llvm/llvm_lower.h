#pragma once

// The program that the emitter walks, and the analyses that the emitter needs: the subgroup size,
// uniformity, divergence, and workgroup barriers.

#include <cstdint>
#include <vector>

#include "check/uniformity.h"
#include "codegen/common/first_writes.h"
#include "codegen/llvm/llvm_emit.h"
#include "ir/program.h"
#include "transform/long_loops.h"

namespace vyre::emit_llvm {

/// A program without function ops; if it is phased, its barriers are in the form of
/// transform/structure_exits.h.
struct Prepared {
  Program program;
  IdMap<OpId, OpId> original;  // by op: the one of the program that was given
  UniformityInfo uniformity;

  uint32_t lanes = 1;               // S, the subgroup size
  uint32_t workgroup = 1;           // invocations
  uint32_t subgroups = 1;           // of a workgroup
  bool rows = false;                // lanes of a subgroup are neighbours in x, with one y and z
  bool phased = false;              // there are workgroup barriers to wait at
  bool abreast = false;             // neighbouring workgroups take each subgroup in turn
  IdMap<OpId, bool> holds_barrier;  // by op, if phased: inside its blocks

  // Flow of lanes, by op.
  IdMap<OpId, bool> masked;     // a loop that lanes leave one by one
  IdMap<OpId, bool> continues;  // a loop with a `continue`
  IdMap<OpId, bool> drops;      // lanes may be missing after it
  PollWeights polls;            // of loops
  bool masked_body = false;     // returns take single lanes out
  bool has_traps = false;
  IdMap<ValueId, uint32_t> uses;  // of values

  bool uniform(ValueId v) const { return uniformity.value(v) >= Uniformity::Subgroup; }
};

/// Runs every transformation between the optimized program and the one that is emitted.
Prepared lower(const Program& program, const EmitOptions& options);

/// A parallel region runs subgroup by subgroup, and ends before and after ops that contain a
/// barrier.
inline ArrayUse array_use(const Prepared& k) {
  return {.program = k.program,
          .uniformity = k.uniformity,
          .holds_barrier = k.holds_barrier,
          .workgroup = k.workgroup,
          .lanes = k.lanes,
          .in_step = k.lanes,
          .waits_around = true};
}

}  // namespace vyre::emit_llvm
