#pragma once

// Profile files: the launch times that a run measured on each device, and the optimizer's reports
// by program, for the next compile. `vyre run --profile-out p.json`, then `--profile-in p.json`.

#include <map>
#include <string>
#include <string_view>

#include "diagnostics/result.h"
#include "opt/hot_paths.h"
#include "opt/opt_report.h"

namespace vyre::opt {

inline constexpr int profile_version = 1;

struct ProfileData {
  HotPathHints hints;
  std::map<std::string, RunReport> reports;  // by fingerprint of the program before optimization
};

/// Returns the data as JSON.
std::string write_profile(const ProfileData& data);
/// Adds the data of the text to `data`. `file` is for messages. On an error `data` is unchanged.
Result<> read_profile(std::string_view text, const std::string& file, ProfileData& data);

/// Returns one report as JSON, in the format of profile files and run reports.
std::string to_json(const RunReport& report);

}  // namespace vyre::opt
