#pragma once

// The CPU component: the LLVM emitter and the CPU backend in the shared library libvyre_cpu.so,
// which is opened at its first use (loading LLVM takes tens of milliseconds).
//
// Its path is $VYRE_CPU_LIBRARY; else it is searched beside the program, in ../lib from there, and
// in the folders of the system's loader (programs that use the installed package have its folder in
// their run path).

#include <string>

#include "runtime/backend.h"
#include "runtime/compile/compile_limits.h"

namespace vyre::driver {

struct CpuEmitRequest {
  enum class Form : uint8_t { LlvmIr, Assembly, Object } form = Form::LlvmIr;
  std::string arch;            // "x86-64-v3"; empty: this machine's
  uint32_t subgroup_size = 0;  // 0: chosen for the program and the target
  bool optimize = true;
  std::string symbol;    // object.h)/object.h)
  CompileLimits limits;  // with any of them LLVM runs in the compiler process
};

/// The functions of the library. The program of emit() is checked and has no grid barrier.
struct CpuComponent {
  Backend* backend = nullptr;
  Result<std::string> (*emit)(const Program& program, const CpuEmitRequest& request) = nullptr;
  /// Returns the assembly of a request, each instruction with its source location.
  Result<Listing> (*list)(const Program& program, const CpuEmitRequest& request) = nullptr;
};

/// Opens the library at the first call. Returns null if it is missing or not ours, and in `why` the
/// reason, to follow "because".
const CpuComponent* cpu_component(std::string* why);

/// Opens the component from a given file; not cached. For cpu_component() and tests.
const CpuComponent* open_cpu_component(const std::string& path, std::string* why);

/// Returns the backend of the component; or null, and in `why` the reason.
Backend* cpu_component_backend(std::string* why);

// The functions that the library exports.
extern "C" {
using VyreCpuInterfaceId = const char* (*)();
using VyreCpuComponent = const CpuComponent* (*)();
}
inline constexpr const char* cpu_interface_id_symbol = "vyre_cpu_interface_id";
inline constexpr const char* cpu_component_symbol = "vyre_cpu_component";

}  // namespace vyre::driver
