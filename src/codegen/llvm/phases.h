#pragma once

// Which ops run together between two workgroup barriers, and which values outlive such a stretch.
//
// Ops that hold a barrier are the workgroup's own: they are executed once, with scalar control.
// What stands between is a stretch: a loop over the subgroups. Ops of a workgroup's own block that
// are pure and the same for the whole workgroup, and need nothing of the stretch that is being
// collected, are executed once too, before it. A kernel without barriers is one stretch.
//
// A value of one stretch that another one, or the workgroup's own code, uses has a home in memory:
// a scalar if the workgroup agrees on it, else a place in the arena for each subgroup. What needs
// no operands is made again instead, and so are short sums of ids and what the workgroup agrees on:
// indices, most of all, which are then known to run over neighbours.

#include <vector>

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

struct Home {
  enum class Kind : uint8_t { Nowhere, Scalar, Arena, Again } kind = Kind::Nowhere;
  uint64_t offset = 0;  // Arena: of subgroup 0
  uint32_t bytes = 0;   // Arena: of one subgroup
};

/// Numbers from 1; 0 is the workgroup's own code.
struct Stretches {
  explicit Stretches(const Prepared& kernel);

  IdMap<OpId, uint32_t> of_op;
  IdMap<ValueId, Home> home;  // by value
  uint64_t arena_bytes = 0;
};

/// No operands: made where it is needed.
bool is_on_demand(Opcode code);

}  // namespace vyre::emit_llvm
