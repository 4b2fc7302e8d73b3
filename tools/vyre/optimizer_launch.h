#pragma once

// The device and the launch for which `vyre opt` and `vyre emit` optimize; they run nothing. With
// the flags of a `vyre run` they select the passes of that run.

#include <functional>
#include <string>

#include "diagnostics/result.h"
#include "opt/pass.h"
#include "runtime/backend.h"
#include "runtime/compile/compile_limits.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {

/// Returns the device that `vyre run --backend NAME` uses, by a probe: no device is opened.
Result<driver::DeviceInfo> find_device(const std::string& backend);

/// Returns true if `--in`, `--set`, `--len` or `--grid` describe a launch.
bool describes_launch(const LaunchFlags& flags);

/// Returns the optimizer's target for `kernel`. `device`: null if it is unknown. `inputs`: null if
/// no launch is described; the sizes are then known only if the program fixes all of them. Any
/// buffer takes a length. An error names the missing parts of the launch.
Result<opt::Target> optimizer_target(const driver::DeviceInfo* device, const Program& kernel,
                                     const LaunchInputs* inputs);

/// Returns the limits that reading and checking left; the time continues to count from now. V0502
/// if nothing is left.
Result<driver::CompileLimits> limits_after(const LoadedModule& loaded, const LaunchFlags& flags);

/// Runs `work`, which produces a text of `kernel`, until the deadline. V0502 if it passed.
Result<std::string> make_within(const driver::CompileLimits& limits, const Program& kernel,
                                const std::function<Result<std::string>()>& work);

}  // namespace vyre::cli
