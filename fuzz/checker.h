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

/// "" or what is wrong.
inline std::string check_checker(std::span<const std::byte> bytes) {
  const Result<Program> program = decode_program(bytes, {});
  if (!program) return "";
  const Diagnostics found = check(*program);
  for (const Diagnostic& d : found)
    if (d.severity == Severity::Error && d.fix.empty())
      return "an error without a fix: " + d.message;
  if (has_errors(found)) return "";
  if (stats(*program).ops != program->ops.size())
    return "a legal program has ops that a walk does not meet";
  Program copy = *program;
  compact(copy);
  if (print(copy) != print(*program)) return "compacting a legal program changes it";
  return "";
}

}  // namespace vyre
