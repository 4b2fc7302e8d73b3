#pragma once

// A run report as one page for people, which needs nothing else: no network, no other file. It
// opens in any browser and is made of page/: report.html is the frame, report.css and *.js are put
// into it by to_html(), and so is the data. The files are embedded (support/embedded_files.h).
//
// The page holds two pieces of data as JSON: `vyre-report`, which is what `--report F.json` writes,
// and `vyre-listings`, what only people read: programs, code, source texts and the time line. The
// script makes a section for each piece that is there; what is not there has no section.

#include <string>

#include "report/run_report.h"

namespace vyre::report {

std::string to_html(const RunReport& report);

}  // namespace vyre::report
