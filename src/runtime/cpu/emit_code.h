#pragma once

// Code to read or to keep, for `vyre emit`: what the driver's own compilations give, as text or as
// an object file.

#include "codegen/llvm/llvm_emit.h"
#include "runtime/cpu_component.h"

namespace vyre::driver {

/// A CpuEmitRequest whose words are understood.
struct EmitRequest {
  CpuEmitRequest::Form form = CpuEmitRequest::Form::LlvmIr;
  bool listing =
      false;  // assembly, each instruction with its place; `form` and the rest are unused
  bool optimize = true;
  emit_llvm::EmitOptions options;
  std::string symbol;
};

/// V0607 if the instruction set is unknown.
Result<EmitRequest> understand(const CpuEmitRequest& request, const Program& program);

/// Emits the program in this process. The request is not for a listing.
Result<std::string> emit_here(const Program& program, const EmitRequest& request);

}  // namespace vyre::driver
