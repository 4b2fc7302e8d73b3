#pragma once

// From a checked program to SPIR-V 1.5 words for Vulkan 1.2: one invocation an invocation,
// structured flow, one entry `vyre_kernel` (spirv_abi.h). README.md says how. No device calls.

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
  emit_exact::Profile profile;  // of the device; expand() has been asked already, by emit() itself
  uint32_t subgroup_size = 0;   // of programs that do not fix one; 0: the profile's
  bool stoppable = true;        // poll the stop word
  bool debug = false;           // names and lines
  bool linear_grid = false;     // spirv_abi.h
  bool unroll = true;           // ask for short loops to be written out; CPUs' compilers take long
  bool functions = true;        // long exact forms are functions, not written at each use
  Workarounds workarounds;      // switched off by tests only
};

struct Kernel {
  std::vector<uint32_t> words;
  KernelInfo info;
};

/// The program has passed the checker. An error for grid barriers (split them first) and for what
/// the device cannot do (V0734). Linear in the program's size.
Result<Kernel> emit(const Program& program, const EmitOptions& options);

/// To read: one instruction a line, ids with their names where the module has them.
Result<std::string> disassemble(std::span<const uint32_t> words);

}  // namespace vyre::emit_spirv
