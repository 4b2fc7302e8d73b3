#pragma once

// Loop interchange: runs loops that stride over memory with the loop over subgroups inside.
//
// `for k in 0..64 { … x[first + k * 256] }` in a workgroup of 256 reads 64 KiB in order if all
// subgroups execute a trip before the next trip begins. Subgroup by subgroup it would read 64 lines
// far apart, once per subgroup: the prefetcher cannot help, and lines arrive late. A workgroup
// barrier at the start of the loop's body makes the emitter choose the former order (phases.h).

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

/// Adds barriers to loops that benefit and whose trips are uniform over the workgroup. The program
/// has no function ops; `kernel.lanes` is set, and uniformity is not needed yet.
void interchange_strided_loops(Prepared& kernel);

}  // namespace vyre::emit_llvm
