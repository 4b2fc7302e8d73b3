#pragma once

// `graph` of a run report. Members that a plan file has, too (plan/plan_file.h), are as they are
// there; buffers are numbered as in the graph as it was written. Internal to src/report.

#include "report/graph_report.h"
#include "support/json.h"

namespace vyre::report {

nlohmann::ordered_json graph_json(const GraphReport& graph);

}  // namespace vyre::report
