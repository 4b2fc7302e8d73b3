#pragma once

// The CPU component: the LLVM emitter and the CPU backend in the shared library libvyre_cpu.so,
// which is opened when somebody asks for it and not before (loading LLVM takes tens of
// milliseconds).
//
// It is looked for at $VYRE_CPU_LIBRARY; else beside the program, in ../lib from there, and where
// the system's loader looks (programs that use the installed package have its folder in their run
// path).

#include <string>

#include "runtime/backend.h"
#include "runtime/compile/compile_limits.h"

namespace vyre::driver {

struct CpuEmitRequest {
  enum class Form : uint8_t { LlvmIr, Assembly, Object } form = Form::LlvmIr;
  std::string arch;            // "x86-64-v3"; empty: this machine's
  uint32_t subgroup_size = 0;  // 0: chosen for the program and the target
  bool optimize = true;
  std::string symbol;    // Object: of the function; empty: vyre_kernel_NAME (vyre/object.h)
  CompileLimits limits;  // with any of them LLVM runs in the compiler process
};

/// What the library offers. The program of emit() is checked and has no grid barrier.
struct CpuComponent {
  Backend* backend = nullptr;
  Result<std::string> (*emit)(const Program& program, const CpuEmitRequest& request) = nullptr;
  /// The assembly of a request, each instruction with its place.
  Result<Listing> (*list)(const Program& program, const CpuEmitRequest& request) = nullptr;
};

/// Opens the library at the first call. Null: it is not there or not ours, and `why` says so, to
/// follow "because".
const CpuComponent* cpu_component(std::string* why);

/// The component from a certain file; not kept. For cpu_component() and tests.
const CpuComponent* open_cpu_component(const std::string& path, std::string* why);

/// Backend of the component, or null and why.
Backend* cpu_component_backend(std::string* why);

// What the library exports.
extern "C" {
using VyreCpuInterfaceId = const char* (*)();
using VyreCpuComponent = const CpuComponent* (*)();
}
inline constexpr const char* cpu_interface_id_symbol = "vyre_cpu_interface_id";
inline constexpr const char* cpu_component_symbol = "vyre_cpu_component";

}  // namespace vyre::driver
