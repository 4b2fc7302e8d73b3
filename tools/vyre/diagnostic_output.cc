#include "tools/vyre/diagnostic_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "diagnostics/failure.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {
namespace {

std::string counted(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

int exit_code(const Diagnostics& list) {
  for (const Diagnostic& d : list) {
    if (d.severity != Severity::Error) continue;
    // The ranges of cli in codes.def, which failure.h does not know.
    const auto number = static_cast<unsigned>(d.code);
    if (number >= 631 && number <= 639) return exit_program_failed;
    if (number >= 641 && number <= 649) return exit_system_failed;
    if (number >= 661 && number <= 669) return exit_program_failed;  // lab
    switch (classify(d.code)) {
      case Failure::BadInput: return exit_bad_input;
      case Failure::ProgramFailed: return exit_program_failed;
      case Failure::System: return exit_system_failed;
    }
  }
  return exit_done;
}

std::string count_line(const Diagnostics& list) {
  const auto count = [&](Severity s) {
    return static_cast<size_t>(std::count_if(list.begin(), list.end(),
                                             [&](const Diagnostic& d) { return d.severity == s; }));
  };
  const size_t errors = count(Severity::Error);
  const size_t warnings = count(Severity::Warning);
  std::string line;
  if (errors != 0) line = counted(errors, "error");
  if (warnings != 0) line += (line.empty() ? "" : ", ") + counted(warnings, "warning");
  return line;
}

void show(const Diagnostics& list, const Sources& sources) {
  if (list.empty()) return;
  std::fflush(stdout);  // so that a terminal shows both in the order in which they were written
  std::string text = render(list, sources, {.colour = wants_colour(STDERR_FILENO)});
  const std::string count = count_line(list);
  if (!count.empty()) text += "\n" + count + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int report(const Diagnostics& list, const Sources& sources, bool json) {
  if (json)
    write_out(report_json(list));
  else
    show(list, sources);
  return exit_code(list);
}

void write_out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool output_failed() { return std::fflush(stdout) != 0 || std::ferror(stdout) != 0; }

}  // namespace vyre::cli
