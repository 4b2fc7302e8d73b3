#pragma once

// A run report as one self-contained page: no network, no other file. It opens in any browser and
// is made of page/: report.html is the frame; to_html() inserts report.css, *.js and the data. The
// files are embedded (support/embedded_files.h).
//
// The page holds two pieces of data as JSON: `vyre-report`, the output of `--report F.json`, and
// `vyre-listings`, the data for readers only: programs, code, source texts and the time line. The
// script makes a section for each piece that exists.

#include <string>

#include "report/run_report.h"

namespace vyre::report {

std::string to_html(const RunReport& report);

}  // namespace vyre::report
