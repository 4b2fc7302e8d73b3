#pragma once

// `graph` of a run report. Members that a plan file also has (plan/plan_file.h) have the same form;
// buffers are numbered as in the graph before fusion. Internal to src/report.

#include "report/graph_report.h"
#include "support/json.h"

namespace vyre::report {

nlohmann::ordered_json graph_json(const GraphReport& graph);

}  // namespace vyre::report
