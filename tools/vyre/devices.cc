// vyre devices: what programs can run on.

#include <fmt/format.h>

#include "tools/vyre/backends.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/json.h"
#include "tools/vyre/report.h"

namespace vyre::cli {

int devices(const DevicesCommand& command) {
  if (command.json) {
    write_out(backends_json(backends()));
    return exit_done;
  }
  for (const BackendInfo& b : backends()) {
    write_out(b.available ? fmt::format("{:<8}{}\n", b.name, b.summary)
                          : fmt::format("{:<8}not in this build, because {}\n", b.name, b.why));
    if (command.verbose)
      for (const BackendProperty& p : b.properties)
        write_out(fmt::format("        {:<18}{}\n", p.name, p.value));
  }
  return exit_done;
}

}  // namespace vyre::cli
