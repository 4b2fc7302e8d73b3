#pragma once

#include "codegen/common/lowered_program.h"
#include "codegen/ptx/ptx_emit.h"

namespace vyre::emit_ptx {

/// Runs every transformation between the optimized program and the one that is emitted.
LoweredProgram lower(const Program& program, const EmitOptions& options);

}  // namespace vyre::emit_ptx
