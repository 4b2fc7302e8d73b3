#pragma once

// Code for `vyre emit`: the output of the driver's own compilations, as text or as an object file.

#include "codegen/llvm/llvm_emit.h"
#include "runtime/cpu_component.h"

namespace vyre::driver {

/// A CpuEmitRequest after its words were parsed.
struct EmitRequest {
  CpuEmitRequest::Form form = CpuEmitRequest::Form::LlvmIr;
  bool listing =
      false;  // assembly, each instruction with its source location; `form` and the rest are unused
  bool optimize = true;
  emit_llvm::EmitOptions options;
  std::string symbol;
};

/// Parses a request. V0607 if the instruction set is unknown.
Result<EmitRequest> understand(const CpuEmitRequest& request, const Program& program);

/// Emits the program in this process. The request is not for a listing.
Result<std::string> emit_here(const Program& program, const EmitRequest& request);

}  // namespace vyre::driver
