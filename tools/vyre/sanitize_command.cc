#include "tools/vyre/sanitize_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sanitizer/sanitizer.h"
#include "tools/vyre/execute.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {

Diagnostics sanitize_target(const Target& target, const Launch& launch) {
  interp::Sanitized s;
  if (target.kernel) {
    s = interp::sanitize(*target.kernel, launch.inputs, launch.options);
  } else {
    const interp::GraphInputs inputs{launch.inputs.data, launch.inputs.lengths};
    s = interp::sanitize(*target.module, *target.graph, inputs, launch.options);
  }
  Diagnostics list = std::move(s.findings);
  list.insert(list.end(), std::make_move_iterator(s.errors.begin()),
              std::make_move_iterator(s.errors.end()));
  return list;
}

Diagnostics sanitize_module(const LoadedModule& loaded, const std::string& name,
                            const std::string& file, LaunchFlags flags) {
  auto target = choose_target(loaded, name, shown_name(file));
  if (!target) return std::move(target.errors());
  flags.stdin_is_program = file == "-";
  auto launch = bind_launch(flags, *target);
  if (!launch) return std::move(launch.errors());
  const double seconds = static_cast<double>(loaded.parse_ns + loaded.check_ns) / 1e9;
  if (auto left = reduce_limits(*launch, {seconds, 0}); !left) return std::move(left.errors());
  Progress progress(fmt::format("sanitizing {}", target->name()));
  launch->options.progress = [&](double fraction) { progress.update(fraction); };
  return sanitize_target(*target, *launch);
}

}  // namespace vyre::cli
