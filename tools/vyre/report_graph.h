#pragma once

// Describes the run of a graph for reports and `-v`: its plan, launches and memory.

#include "report/graph_report.h"
#include "tools/vyre/device_run.h"

namespace vyre::cli {

/// `ran` is the run of a graph, and `target` that graph.
report::GraphReport describe_graph_run(const DeviceRun& ran, const Target& target);

/// Returns, by node of the planned graph, its index among the launches; for loops Span::no_launch.
std::vector<uint32_t> launches_by_node(const report::GraphReport& graph);

}  // namespace vyre::cli
