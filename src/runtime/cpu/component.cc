// The functions that libvyre_cpu.so exports.

#include "runtime/cpu/compile_service.h"
#include "runtime/cpu/cpu_backend.h"
#include "runtime/cpu/emit_code.h"
#include "runtime/cpu/isolated_compile.h"
#include "runtime/cpu_component.h"
#include "vyre/interface_id.h"

namespace vyre::driver {

namespace {

Result<Listing> list_program(const Program& program, const CpuEmitRequest& request) {
  const Result<EmitRequest> wanted = understand(request, program);
  if (!wanted) return wanted.errors();
  return request.limits.any() ? list_isolated(program, *wanted, request.limits)
                              : emit_llvm::list_code(program, wanted->options);
}

Result<std::string> emit_program(const Program& program, const CpuEmitRequest& request) {
  const Result<EmitRequest> wanted = understand(request, program);
  if (!wanted) return wanted.errors();
  return request.limits.any() ? emit_isolated(program, *wanted, request.limits)
                              : emit_here(program, *wanted);
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
