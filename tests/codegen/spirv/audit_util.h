// Reads the words of a module and reports instructions with inexact or unordered results, and
// accesses that may be out of bounds.
#pragma once

#include <string>
#include <vector>

#include "codegen/spirv/spirv_emit.h"

namespace vyre::emit_spirv {

/// Returns the mistakes in the words of a kernel for a device.
std::vector<std::string> mistakes(const std::vector<uint32_t>& words, const Program& given,
                                  const emit_exact::Profile& profile);

/// The same of its memory: accesses that no test keeps inside. Of programs without proofs, emitted
/// with names, and with all parameters in the push constants.
std::vector<std::string> unguarded(const std::vector<uint32_t>& words, const Program& given);

}  // namespace vyre::emit_spirv
