#pragma once

// What the emitter asks about a program before it writes a line: which buffers are written, who may
// trap, which loops may run for long.

#include <vector>

#include "codegen/ptx/ptx_emit.h"
#include "ir/program.h"
#include "transform/long_loops.h"

namespace vyre::emit_ptx {

struct BufferFacts {
  bool loaded = false;       // by loads, atomics with a result or uniform_load
  bool written = false;      // by stores or atomics
  bool needs_zeros = false;  // an array of which something may be read that nobody wrote
  uint32_t length_of = 0;    // the first buffer that always has as many elements
  // Of that first buffer, for all of them:
  uint32_t tests = 0;    // accesses in the text; those in loops count several times
  bool has_len = false;  // `len` is used: the launch has checked that it is below 2^32
  uint64_t count = 0;    // of arrays and tables
  uint64_t offset = 0;   // of arrays, in shared or local memory
};

struct Facts {
  Program program;             // without function ops, long loops divided; locations are op ids of
                               // the one given
  IdMap<OpId, OpId> original;  // by op: the one of the program that was given
  std::vector<BufferFacts> buffers;
  IdMap<ValueId, uint32_t> uses;  // of values
  PollWeights polls;              // by op
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

/// `divides_whiles`: `while` loops that poll are divided into chunks, too (transform/long_loops.h).
Facts find_facts(Program program, const EmitOptions& options, bool divides_whiles = true);

}  // namespace vyre::emit_ptx
