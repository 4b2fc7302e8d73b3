#pragma once

// The end of every command: diagnostics for people on standard error or as data on standard output,
// and the corresponding exit code.

#include <string_view>

#include "diagnostics/diagnostic.h"

namespace vyre::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_program_failed = 1;  // a trap, a limit reached, results that differ
inline constexpr int exit_bad_input = 2;       // the program, the launch or the command is wrong
inline constexpr int exit_system_failed = 3;   // no memory, no room for the output

/// The exit code of the first error; exit_done if there is none.
int exit_code(const Diagnostics& list);

/// "2 errors, 1 warning"; "" for an empty list. Notes are not counted.
std::string count_line(const Diagnostics& list);

/// Shows the list and gives its exit code. As JSON: {"ok": …, "diagnostics": […]} on standard
/// output.
int report(const Diagnostics& list, const Sources& sources, bool json);

/// Diagnostics for people on standard error, followed by their count. Nothing for an empty list.
void show(const Diagnostics& list, const Sources& sources);

/// Writes to standard output; `output_failed` reports lost output.
void write_out(std::string_view text);

/// Flushes standard output. True if any of it was lost (a full disk, a closed pipe).
bool output_failed();

}  // namespace vyre::cli
