#pragma once

// Generates SPIR-V 1.5 for Vulkan 1.2 from a checked program: invocations map 1:1 to SPIR-V
// invocations, control flow is structured, and there is one entry `vyre_kernel` (spirv_abi.h).
// README.md describes the design. It makes no device calls.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/spirv/spirv_abi.h"
#include "codegen/spirv/spirv_workarounds.h"
#include "diagnostics/result.h"
#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_spirv {

struct EmitOptions {
  emit_exact::Profile profile;  // of the device; emit() passes it to expand()
  uint32_t subgroup_size = 0;   // of programs that do not fix one; 0: the profile's
  bool stoppable = true;        // poll the stop flag
  bool debug = false;           // names and lines
  bool linear_grid = false;     // spirv_abi.h
  bool unroll = true;           // request unrolling of short loops; compilers for CPUs take long
  bool functions = true;        // long exact forms are functions, not written at each use
  Workarounds workarounds;      // disabled only by tests
};

struct Kernel {
  std::vector<uint32_t> words;
  KernelInfo info;
};

/// The program has passed the checker. Returns an error for grid barriers (split them first) and
/// for operations that the device cannot do (V0734). Linear in the program's size.
Result<Kernel> emit(const Program& program, const EmitOptions& options);

/// Readable text: one instruction per line, ids with their names where the module has them.
Result<std::string> disassemble(std::span<const uint32_t> words);

}  // namespace vyre::emit_spirv
