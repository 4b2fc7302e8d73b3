// Programs to emit as SPIR-V, and SPIRV-Tools to validate the output.
#pragma once

#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/spirv/spirv_emit.h"
#include "tests/codegen/ptx/ptx_util.h"

namespace vyre::emit_spirv {

struct Case {
  std::string name;
  const Program* program = nullptr;
};

/// The kernels of every run-mode text test, example and program of the conformance suite, as they
/// are and optimized; those with grid barriers split.
const std::vector<Case>& all_cases();

/// Devices to emit for.
struct Device {
  std::string name;
  emit_exact::Profile profile;
};
Device device(std::string_view words);

/// Emits, or fails the test.
Kernel emit_or_fail(const Program& program, const EmitOptions& options, const std::string& name);

/// True if a validator is available.
bool can_validate();
/// Returns the message of SPIRV-Tools for the module, for Vulkan 1.2, or "".
std::string validate(const std::vector<uint32_t>& words);

/// One instruction of a module.
struct Instruction {
  spv::Op op;
  std::vector<uint32_t> operands;
};
std::vector<Instruction> instructions(const std::vector<uint32_t>& words);

}  // namespace vyre::emit_spirv
