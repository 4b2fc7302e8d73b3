#pragma once

// What a graph's run says about its plan, launches and memory, for reports and `-v`.

#include "report/graph_report.h"
#include "tools/vyre/device_run.h"

namespace vyre::cli {

/// `ran` is the run of a graph, and `target` that graph.
report::GraphReport describe_graph_run(const DeviceRun& ran, const Target& target);

/// By node of the planned graph, its place among the launches; of loops Span::no_launch.
std::vector<uint32_t> launches_by_node(const report::GraphReport& graph);

}  // namespace vyre::cli
