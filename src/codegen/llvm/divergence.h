#pragma once

// Finds the loops that lanes leave one by one, and the ops after which lanes may be missing.
//
// An exit (break, continue, return, trap) is plain if all lanes that entered its loop, or the body,
// take it together: then it is a branch. A loop with an exit that is not plain, or with a divergent
// number of trips, is masked: all of its exits then remove lanes from its masks. The body is masked
// by a return that is not plain, such as a divergent assert; then every return removes lanes, and
// every loop that contains a return is masked. Linear in the number of ops.

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

/// Fills masked, drops, masked_body and has_traps.
void find_divergence(Prepared& kernel);

}  // namespace vyre::emit_llvm
