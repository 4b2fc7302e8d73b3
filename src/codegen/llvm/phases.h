#pragma once

// Divides a kernel into parallel regions: ops that run together between two workgroup barriers.
// Finds the values that are live across regions.
//
// Ops that contain a barrier are executed once per workgroup, with scalar control flow. The ops
// between them are a parallel region: a loop over the subgroups. Workgroup-uniform pure ops beside
// them that do not depend on the region that is being collected are executed once, too, before it.
// A kernel without barriers is one region.
//
// A value that is used outside its region has a home in memory: a scalar if it is uniform over the
// workgroup, else space in the arena for each subgroup. Ops without operands are rematerialized
// instead, and so are short sums of ids and workgroup-uniform values. Most of these are indices,
// whose strides then stay known.

#include <vector>

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

struct Home {
  enum class Kind : uint8_t { Nowhere, Scalar, Arena, Again } kind = Kind::Nowhere;
  uint64_t offset = 0;  // Arena: of subgroup 0
  uint32_t bytes = 0;   // Arena: of one subgroup
};

/// The regions are numbered from 1; 0 is code that is executed once per workgroup.
struct Stretches {
  explicit Stretches(const Prepared& kernel);

  IdMap<OpId, uint32_t> of_op;
  IdMap<ValueId, Home> home;  // by value
  uint64_t arena_bytes = 0;
};

/// True for ops without operands: they are computed at each use.
bool is_on_demand(Opcode code);

}  // namespace vyre::emit_llvm
