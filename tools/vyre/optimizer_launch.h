#pragma once

// The device and the launch for which a command optimizes that runs nothing (`vyre opt`, `vyre
// emit`). With the flags of a `vyre run` it selects the passes of that run.

#include <functional>
#include <string>

#include "diagnostics/result.h"
#include "opt/pass.h"
#include "runtime/backend.h"
#include "runtime/compile/compile_limits.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {

/// The device that `vyre run --backend NAME` uses, by a probe: no device is opened.
Result<driver::DeviceInfo> find_device(const std::string& backend);

/// Returns true if `--in`, `--set`, `--len` or `--grid` describe a launch.
bool describes_launch(const LaunchFlags& flags);

/// What the optimizer is told of `kernel`. `device`: null if it is unknown. `inputs`: null if no
/// launch is described; the sizes are then known only if the program fixes all of them. Any buffer
/// takes a length. An error names what the launch lacks.
Result<opt::Target> optimizer_target(const driver::DeviceInfo* device, const Program& kernel,
                                     const LaunchInputs* inputs);

/// What reading and checking left of the limits; the time goes on now. V0502 if nothing is left.
Result<driver::CompileLimits> limits_after(const LoadedModule& loaded, const LaunchFlags& flags);

/// Runs `work`, which makes a text of `kernel`, until the deadline. V0502 if it passed.
Result<std::string> make_within(const driver::CompileLimits& limits, const Program& kernel,
                                const std::function<Result<std::string>()>& work);

}  // namespace vyre::cli
