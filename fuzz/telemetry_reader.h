#pragma once

// What must hold for any bytes given as a telemetry file (`--profile-in`): an error with a code and
// a fix, or data that is written and read again without a change.

#include <string>
#include <string_view>

#include "check_errors.h"
#include "opt/profile_file.h"

namespace vyre {

/// "" or what is wrong.
inline std::string check_telemetry_reader(std::string_view text) {
  opt::ProfileData data;
  const Result<> read = opt::read_profile(text, "profile.json", data);
  if (!read) return check_errors(read.errors());
  const std::string written = opt::write_profile(data);
  opt::ProfileData again;
  if (!opt::read_profile(written, "again.json", again)) return "what was written is not read again";
  return opt::write_profile(again) == written ? "" : "reading changes the data";
}

}  // namespace vyre
