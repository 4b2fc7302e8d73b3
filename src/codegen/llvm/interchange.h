#pragma once

// Loops that stride over memory are run with the subgroups inside.
//
// `for k in 0..64 { … x[first + k * 256] }` in a workgroup of 256 reads 64 KiB in order if all
// subgroups take a trip before anyone takes the next. Subgroup by subgroup it would be 64 lines far
// apart, and the same again for each subgroup: the prefetcher sees nothing, and lines come late. A
// workgroup barrier at the start of the loop's body makes the emitter do the former (phases.h).

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

/// Puts barriers into loops that gain by it and whose trips the whole workgroup takes together. The
/// program has no function ops; `kernel` knows the lanes, uniformity is not needed yet.
void interchange_strided_loops(Prepared& kernel);

}  // namespace vyre::emit_llvm
