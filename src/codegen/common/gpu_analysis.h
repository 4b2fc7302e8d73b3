#pragma once

// Analysis of a lowered program for GPU emitters, done before they write code: which buffers are
// written, which invocations may trap, where arrays lie.

#include <vector>

#include "ir/program.h"

namespace vyre {

struct BufferAnalysis {
  bool loaded = false;       // by loads, atomics with a result or uniform_load
  bool written = false;      // by stores or atomics
  bool needs_zeros = false;  // an array of which an element may be read before it is written
  BufferId length_of{0};     // the first buffer that always has as many elements
  // These fields hold, in the entry of that first buffer, for all buffers with its length:
  uint32_t tests = 0;    // accesses in the text; those in loops count several times
  bool has_len = false;  // `len` is used: the launch has checked that it is below 2^32
  uint64_t count = 0;    // of arrays and tables
  uint64_t offset = 0;   // of arrays, in shared or local memory
};

struct GpuAnalysis {
  IdMap<BufferId, BufferAnalysis> buffers;
  IdMap<ValueId, uint32_t> uses;  // of values
  uint32_t depth = 0;             // of nesting
  bool has_traps = false;
  bool has_subgroup_ops = false;  // that exchange values or wait
  bool waits_for_grid = false;
  bool loads_uniformly = false;  // `uniform_load` at workgroup scope

  uint32_t invocations = 1;  // of a workgroup
  uint32_t lanes = 32;       // of a subgroup
  uint64_t shared_bytes = 0;
  uint64_t private_bytes = 0;
};

/// `program` has no function ops. `subgroup_size` is that of programs that do not fix one.
GpuAnalysis analyze_for_gpu(const Program& program, uint32_t subgroup_size);

}  // namespace vyre
