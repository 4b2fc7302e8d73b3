// vyre check: checks whether a program is legal, and with --sanitize whether a run of it shows
// races. Also converts text to IR form and wire form.

#include <fmt/format.h>

#include <algorithm>

#include "support/file.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/program_file.h"
#include "tools/vyre/sanitize_command.h"
#include "wire/wire.h"

namespace vyre::cli {
namespace {

std::string counted(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string ok_line(const LoadedModule& loaded, const std::string& sanitized) {
  std::string line = "ok: " + counted(loaded.own_kernels, "kernel");
  if (loaded.own_graphs != 0) line += ", " + counted(loaded.own_graphs, "graph");
  if (!sanitized.empty()) line += fmt::format("; {} has no races in this run", sanitized);
  return line + "\n";
}

/// Returns the first flag of a launch that was given although nothing is launched; "" if there is
/// none.
std::string idle_flag(const LaunchFlags& f) {
  if (!f.in.empty()) return "--in";
  if (!f.set.empty()) return "--set";
  if (!f.len.empty()) return "--len";
  const std::pair<const char*, const std::string&> words[] = {{"--grid", f.grid},
                                                              {"--subgroup-size", f.subgroup_size},
                                                              {"--schedule", f.schedule},
                                                              {"--output-limit", f.output_limit}};
  for (const auto& [flag, word] : words)
    if (!word.empty()) return flag;
  return "";
}

std::string name_of_target(const LoadedModule& loaded, const FileAndName& file) {
  const auto target = choose_target(loaded, file.name, shown_name(file.file));
  return target ? target->name() : "";
}

}  // namespace

int check(const CheckCommand& command) {
  if (const std::string flag = idle_flag(command.launch); !flag.empty() && !command.sanitize)
    return report({diagnose(Code::OptionMisuse, {},
                            fmt::format("`check`: `{}` means nothing without `--sanitize`", flag))
                       .with_fix("add `--sanitize`, or drop it")},
                  {}, command.json);
  const auto options = load_options(command.launch);
  if (!options) return report(options.errors(), {}, command.json);
  if (const auto limits = parse_limits(command.launch); !limits)
    return report(limits.errors(), {}, command.json);
  const FileAndName file =
      command.sanitize ? split_file_and_name(command.file) : FileAndName{command.file, ""};
  LoadedModule loaded = load_module(file.file, *options);
  if (!loaded.module) return report(loaded.diagnostics, loaded.sources, command.json);

  if (!command.emit_wire.empty())
    if (const auto error = write_file(command.emit_wire, encode(*loaded.module)))
      return report({diagnose(Code::CannotWrite, {},
                              fmt::format("cannot write the wire form: {}", error->what))
                         .with_fix("name a file in a folder that can be written to")},
                    {}, command.json);

  Diagnostics& list = loaded.diagnostics;
  std::string sanitized;
  if (command.sanitize) {
    const Diagnostics found = sanitize_module(loaded, file.name, file.file, command.launch);
    list.insert(list.end(), found.begin(), found.end());
    if (!has_errors(found)) sanitized = name_of_target(loaded, file);
  }

  const bool warned = std::any_of(list.begin(), list.end(), [](const Diagnostic& d) {
    return d.severity == Severity::Warning;
  });
  const bool ok = !has_errors(list) && !(command.strict && warned);
  if (command.json) {
    write_out(check_json(*loaded.module, loaded.own_kernels, loaded.own_graphs, ok, list));
  } else {
    show(list, loaded.sources);
    if (command.print_ir)
      write_out(print(*loaded.module));
    else if (ok)
      write_out(ok_line(loaded, sanitized));
  }
  if (has_errors(list)) return exit_code(list);
  return ok ? exit_done : exit_program_failed;
}

}  // namespace vyre::cli
