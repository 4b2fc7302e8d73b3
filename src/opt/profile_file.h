#pragma once

// What a run teaches the next compile, as a file: the launch times that were measured on each
// device, and the optimizer's reports by program. `vyre run --profile-out p.json`, then
// `--profile-in p.json`.

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

/// JSON.
std::string write_profile(const ProfileData& data);
/// Adds what the text holds to `data`. `file` is for messages. On an error `data` is as it was.
Result<> read_profile(std::string_view text, const std::string& file, ProfileData& data);

/// One report as JSON, as profile files and run reports have it.
std::string to_json(const RunReport& report);

}  // namespace vyre::opt
