#pragma once

// Which loops do lanes leave one by one, and after which ops may lanes be missing?
//
// An exit (break, continue, return, trap) is plain if all lanes that entered its loop, or the body,
// take it together: then it is a branch. A loop with one exit that is not plain, or with a number
// of trips that lanes disagree on, is masked: all of its exits then take lanes out of its masks.
// The body is masked by a return that is not plain, such as an assert that lanes disagree on; then
// every return takes lanes out, and every loop with a return in it is masked. Linear.

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

/// Fills masked, drops, masked_body and has_traps.
void find_divergence(Prepared& kernel);

}  // namespace vyre::emit_llvm
