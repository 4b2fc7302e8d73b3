// What libvyre_cpu.so exports.

#include <fmt/format.h>

#include "driver/cpu/compile_service.h"
#include "driver/cpu/cpu_backend.h"
#include "driver/cpu_component.h"
#include "emit/llvm/emit.h"
#include "emit/llvm/object_symbols.h"
#include "vyre/interface_id.h"

namespace vyre::driver {

namespace {

Result<emit_llvm::EmitOptions> options_of(const CpuEmitRequest& request) {
  emit_llvm::EmitOptions options;
  options.isa = emit_llvm::host_isa();
  options.subgroup_size = request.subgroup_size;
  if (!request.arch.empty()) {
    const auto isa = emit_llvm::parse_isa(request.arch);
    if (!isa)
      return diagnose(Code::BadOptionValue, {},
                      fmt::format("there is no architecture `{}`", request.arch))
          .with_fix("use x86-64-v2, x86-64-v3, x86-64-v4 or aarch64");
    options.isa = *isa;
  }
  return options;
}

Result<Listing> list_program(const Program& program, const CpuEmitRequest& request) {
  const Result<emit_llvm::EmitOptions> options = options_of(request);
  if (!options) return options.errors();
  return emit_llvm::list_code(program, *options);
}

Result<std::string> emit_program(const Program& program, const CpuEmitRequest& request) {
  const Result<emit_llvm::EmitOptions> options = options_of(request);
  if (!options) return options.errors();
  Result<emit_llvm::Module> module = emit_llvm::emit(program, *options);
  if (!module) return module.errors();
  if (request.optimize) emit_llvm::optimize(*module);
  switch (request.form) {
    case CpuEmitRequest::Form::LlvmIr: return emit_llvm::to_text(*module);
    case CpuEmitRequest::Form::Assembly: return emit_llvm::to_assembly(*module);
    case CpuEmitRequest::Form::Object: break;
  }
  emit_llvm::set_object_symbols(
      *module, request.symbol.empty() ? "vyre_kernel_" + program.name : request.symbol);
  const Result<std::vector<std::byte>> object = emit_llvm::to_object(*module);
  if (!object) return object.errors();
  return std::string(reinterpret_cast<const char*>(object->data()), object->size());
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* vyre_cpu_interface_id() {
  return VYRE_INTERFACE_ID;
}

__attribute__((visibility("default"))) const CpuComponent* vyre_cpu_component() {
  static const CpuComponent component = {cpu_backend(), &emit_program, &list_program};
  return &component;
}

/// For vyre_cpu_compiler.
__attribute__((visibility("default"))) int vyre_cpu_serve(int socket) {
  return serve_compilations(socket);
}

}  // extern "C"

}  // namespace vyre::driver
