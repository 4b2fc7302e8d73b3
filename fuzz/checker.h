#pragma once

// What must hold for any program that the wire decoder lets through: the checker ends, and what it
// calls legal can be walked, counted, compacted and printed. libFuzzer calls it with what it finds.

#include <cstddef>
#include <span>
#include <string>

#include "check/check.h"
#include "ir/stats.h"
#include "text/print.h"
#include "wire/wire.h"

namespace vyre {

/// What is wrong with what the checker found, or with a program that it calls legal; "" if nothing.
inline std::string check_found(const Diagnostics& found, std::span<const Program> programs) {
  for (const Diagnostic& d : found)
    if (d.severity == Severity::Error && d.fix.empty())
      return "an error without a fix: " + d.message;
  if (has_errors(found)) return "";
  for (const Program& program : programs) {
    if (stats(program).ops != program.ops.size())
      return "a legal program has ops that a walk does not meet";
    Program copy = program;
    compact(copy);
    if (print(copy) != print(program)) return "compacting a legal program changes it";
  }
  return "";
}

/// "" or what is wrong. The bytes are a program or a module with graphs.
inline std::string check_checker(std::span<const std::byte> bytes) {
  if (wire_kind(bytes) == WireKind::Program) {
    const Result<Program> program = decode_program(bytes, {});
    return program ? check_found(check(*program), {&*program, 1}) : "";
  }
  const Result<Module> module = decode_module(bytes, {});
  if (!module) return "";
  const std::string problem = check_found(check(*module), module->kernels);
  if (!problem.empty() || has_errors(check(*module))) return problem;
  (void)print(*module);
  return "";
}

}  // namespace vyre
