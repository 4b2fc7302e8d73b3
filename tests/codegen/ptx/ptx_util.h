// Programs to emit as PTX, and ptxas to assemble the output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/ptx/ptx_emit.h"
#include "ir/program.h"

namespace vyre::emit_ptx {

struct Case {
  std::string name;  // file:kernel, and what was done to it
  Program program;
  bool native_grid_barrier = false;
};

/// The kernels of every run-mode text test, example and program of the conformance suite, as they
/// are and optimized; those with grid barriers split, and with native barriers where they can be.
const std::vector<Case>& all_cases();

/// A program from text, which must be legal.
Program program_of(std::string_view text, bool trusted = false);

/// Emits, or fails the test.
Kernel emit_or_fail(const Program& program, const EmitOptions& options, const std::string& name);

/// Where ptxas is, or "".
std::string find_ptxas();

/// Assembles several kernels as one file; "" or what ptxas says. The kernels' names are made
/// different first.
std::string assemble(const std::string& ptxas, Arch arch, const std::vector<std::string>& texts);

}  // namespace vyre::emit_ptx
