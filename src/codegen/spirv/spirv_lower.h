#pragma once

#include "codegen/common/lowered_program.h"
#include "codegen/spirv/spirv_emit.h"

namespace vyre::emit_spirv {

/// Runs every transformation between the optimized program and the one that is emitted. An error
/// (V0734) for what the device cannot do.
Result<LoweredProgram> lower(const Program& program, const EmitOptions& options);

/// A `for` from a negative constant. NVIDIA's compiler counts its trips wrong where it finds that
/// their number is constant: -5..1 of i64 had five.
bool begins_below_zero(const Program& program, OpId loop);

}  // namespace vyre::emit_spirv
