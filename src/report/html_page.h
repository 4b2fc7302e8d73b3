#pragma once

// A run report as one page for people, which needs nothing else: no network, no other file. It
// opens in any browser and is made of page/: report.html is the frame, report.css and *.js are put
// into it by the build (cmake/embed_page.cmake), and the data by to_html().
//
// The page holds two pieces of data as JSON: `vyre-report`, which is what `--report F.json` writes,
// and `vyre-listings`, what only people read: programs, code, source texts and the time line. The
// script makes a section for each piece that is there; what is not there has no section.

#include <string>
#include <string_view>

#include "report/run_report.h"

namespace vyre::report {

std::string to_html(const RunReport& report);

/// Pieces of the page, from page/.
std::string_view page_frame();
std::string_view page_style();
std::string_view page_script();

}  // namespace vyre::report
