#pragma once

// Chooses the subgroup size of a kernel whose program and options do not fix one.

#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

/// Two registers of 32-bit lanes hide each other's latency and share scalars. Narrow data use four,
/// unless `gathers`, and so do short loops on targets with 32 registers: each iteration waits for
/// the previous one. A subgroup that would span several rows of the workgroup uses fewer, so that
/// ids of rows stay uniform, unless its loops access no memory.
uint32_t choose_lanes(const Program& program, const EmitOptions& options, uint32_t workgroup,
                      bool gathers);

/// True if at least two fifths of the accesses are gathers. A gather costs time for all lanes,
/// active or not, however narrow the element is.
bool gathers_mostly(const Prepared& k);

}  // namespace vyre::emit_llvm
