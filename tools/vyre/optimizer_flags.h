#pragma once

// The flags that select passes: from words of a command line to options of the driver and of the
// optimizer. run, emit, opt and bisect share them.

#include <memory>
#include <string>

#include "diagnostics/result.h"
#include "runtime/backend.h"

namespace vyre::opt {
struct OptimizeOptions;  // opt/pipeline.h, which half of the commands do not need
struct ProfileData;
}  // namespace vyre::opt

namespace vyre::cli {

/// Words as they were given; "" is not given.
struct OptimizerFlags {
  std::string passes;      // --passes a,b|none
  std::string profile;     // --opt none|debug|release|size
  std::string profile_in;  // a file of --profile-out
};

/// Binds the flags. Reports all errors at once: unknown passes, an unknown profile, a file that
/// cannot be read as one.
Result<driver::Optimization> bind_optimizer(const OptimizerFlags& flags);

/// For commands that show or search passes: as for a device that optimizes, VYRE_PASSES included.
/// The target is unknown (optimizer_launch.h). `wanted` must live as long as the result.
Result<opt::OptimizeOptions> optimize_options(const driver::Optimization& wanted);

/// The file as data; nothing for "".
Result<> read_profile_file(const std::string& path, opt::ProfileData& data);

}  // namespace vyre::cli
