#pragma once

// The files of `--report`, `--trace` and `--profile-out`. They are tried before the run, so that a
// misspelt folder does not cost an hour of computing, and written after it, whole or not at all.

#include "opt/profile_file.h"
#include "report/run_report.h"
#include "support/result.h"

namespace vyre::cli {

/// Paths that can be written to; "" where nothing is wanted, or where it is wrong.
struct ReportFiles {
  std::string report;
  std::string trace;
  std::string profile;
};

/// Is the report to be a page for people?
bool is_page(const std::string& path);

/// What is wrong with the options is added to `mistakes`. `outputs`: paths that other options
/// write.
ReportFiles try_report_files(const ReportFiles& wanted, const std::vector<std::string>& outputs,
                             Diagnostics& mistakes);

/// Report and trace.
Diagnostics write_report_files(const ReportFiles& files, const report::RunReport& report);

Diagnostics write_profile_file(const ReportFiles& files, const opt::ProfileData& data);

}  // namespace vyre::cli
