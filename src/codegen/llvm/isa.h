#pragma once

// The LLVM settings for each Isa of llvm_emit.h.

#include "codegen/llvm/llvm_emit.h"

namespace vyre::emit_llvm {

std::string_view triple(Isa isa);
std::string_view cpu(Isa isa);
std::string_view features(Isa isa);
/// For which CPU instructions are ordered and chosen, among those that the Isa allows: the host's
/// if it runs the Isa, else cpu(). Changes no result.
std::string tune_cpu(Isa isa);

/// Bytes of a vector register.
unsigned vector_bytes(Isa isa);

}  // namespace vyre::emit_llvm
