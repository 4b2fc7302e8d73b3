// vyre check: is a program legal? Also the way from text to IR form and wire form.

#include <fmt/format.h>

#include <algorithm>

#include "support/file.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/json.h"
#include "tools/vyre/program_file.h"
#include "tools/vyre/report.h"
#include "wire/wire.h"

namespace vyre::cli {
namespace {

std::string counted(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string ok_line(const LoadedModule& loaded) {
  std::string line = "ok: " + counted(loaded.own_kernels, "kernel");
  if (loaded.own_graphs != 0) line += ", " + counted(loaded.own_graphs, "graph");
  return line + "\n";
}

}  // namespace

int check(const CheckCommand& command) {
  const auto constants = parse_constants(command.constants);
  if (!constants) return report(constants.errors(), {}, command.json);
  const LoadedModule loaded = load_module(command.file, {*constants, {.exact = command.exact}});
  if (!loaded.module) return report(loaded.diagnostics, loaded.sources, command.json);

  if (!command.emit_wire.empty())
    if (const auto error = write_file(command.emit_wire, encode(*loaded.module)))
      return report({diagnose(Code::CannotWrite, {},
                              fmt::format("cannot write the wire form: {}", error->what))
                         .with_fix("name a file in a folder that can be written to")},
                    {}, command.json);

  const bool warned =
      std::any_of(loaded.diagnostics.begin(), loaded.diagnostics.end(),
                  [](const Diagnostic& d) { return d.severity == Severity::Warning; });
  const bool ok = !(command.strict && warned);
  if (command.json) {
    write_out(
        check_json(*loaded.module, loaded.own_kernels, loaded.own_graphs, ok, loaded.diagnostics));
  } else {
    show(loaded.diagnostics, loaded.sources);
    if (command.print_ir)
      write_out(print(*loaded.module));
    else if (ok)
      write_out(ok_line(loaded));
  }
  return ok ? exit_done : exit_program_failed;
}

}  // namespace vyre::cli
