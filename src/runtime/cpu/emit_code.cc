#include "runtime/cpu/emit_code.h"

#include <fmt/format.h>

#include "codegen/llvm/object_symbols.h"

namespace vyre::driver {

Result<EmitRequest> understand(const CpuEmitRequest& request, const Program& program) {
  EmitRequest r;
  r.form = request.form;
  r.optimize = request.optimize;
  r.options.isa = emit_llvm::host_isa();
  r.options.subgroup_size = request.subgroup_size;
  r.symbol = request.symbol.empty() ? "vyre_kernel_" + program.name : request.symbol;
  if (request.arch.empty()) return r;
  const auto isa = emit_llvm::parse_isa(request.arch);
  if (!isa)
    return diagnose(Code::BadOptionValue, {},
                    fmt::format("unknown architecture `{}`", request.arch))
        .with_fix("use x86-64-v2, x86-64-v3, x86-64-v4 or aarch64");
  r.options.isa = *isa;
  return r;
}

Result<std::string> emit_here(const Program& program, const EmitRequest& request) {
  Result<emit_llvm::Module> module = emit_llvm::emit(program, request.options);
  if (!module) return module.errors();
  if (request.optimize) emit_llvm::optimize(*module);
  switch (request.form) {
    case CpuEmitRequest::Form::LlvmIr: return emit_llvm::to_text(*module);
    case CpuEmitRequest::Form::Assembly: return emit_llvm::to_assembly(*module);
    case CpuEmitRequest::Form::Object: break;
  }
  emit_llvm::set_object_symbols(*module, request.symbol);
  const Result<std::vector<std::byte>> object = emit_llvm::to_object(*module);
  if (!object) return object.errors();
  return std::string(reinterpret_cast<const char*>(object->data()), object->size());
}

}  // namespace vyre::driver
