#pragma once

// The files of `--report`, `--trace` and `--profile-out`.

#include "diagnostics/result.h"
#include "opt/profile_file.h"
#include "report/run_report.h"
#include "tools/vyre/output_files.h"

namespace vyre::cli {

/// Paths that were opened; "" where no file is requested, or where it is wrong.
struct ReportFiles {
  std::string report;
  std::string trace;
  std::string profile;
};

/// Returns true if the report is a page for people.
bool is_page(const std::string& path);

/// Opens the requested files. Adds errors in the options to `mistakes`.
ReportFiles open_report_files(const ReportFiles& wanted, OutputFiles& outputs,
                              Diagnostics& mistakes);

/// Writes report and trace.
Diagnostics write_report_files(const ReportFiles& files, const report::RunReport& report,
                               OutputFiles& outputs);

Diagnostics write_profile_file(const ReportFiles& files, const opt::ProfileData& data,
                               OutputFiles& outputs);

}  // namespace vyre::cli
