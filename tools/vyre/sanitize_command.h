#pragma once

// `vyre check --sanitize`: a run on the interpreter that detects races.

#include "tools/vyre/emit_target.h"
#include "tools/vyre/launch_flags.h"

namespace vyre::cli {

/// Returns all findings, then all errors: findings made before an error are included.
Diagnostics sanitize_target(const Target& target, const Launch& launch);

/// Chooses the target by name ("": the only one), reads the flags, and sanitizes, with a progress
/// line. `file` is the source of the program; - is standard input.
Diagnostics sanitize_module(const LoadedModule& loaded, const std::string& name,
                            const std::string& file, LaunchFlags flags);

}  // namespace vyre::cli
