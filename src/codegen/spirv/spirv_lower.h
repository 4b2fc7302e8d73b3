#pragma once

#include "codegen/common/lowered_program.h"
#include "codegen/spirv/spirv_emit.h"

namespace vyre::emit_spirv {

/// Runs every transformation between the optimized program and the one that is emitted. Returns an
/// error (V0734) for operations that the device cannot do.
Result<LoweredProgram> lower(const Program& program, const EmitOptions& options);

/// True for a `for` from a negative constant, if the workaround hide_negative_starts is on.
bool hides_start(const Program& program, OpId loop, const EmitOptions& options);

}  // namespace vyre::emit_spirv
