#include "tools/vyre/report_graph.h"

#include "report/run_report.h"

namespace vyre::cli {

report::GraphReport describe_graph_run(const DeviceRun& ran, const Target& target) {
  const driver::GraphRunOutcome& o = *ran.graph;
  report::GraphRunFacts facts;
  facts.plan_ns = o.graph.plan_ns();
  facts.device_peak = o.device_bytes;
  facts.parameters = o.graph.memory().parameters;
  facts.scratch = o.graph.memory().scratch;
  facts.intermediates = o.graph.memory().intermediates;
  facts.unplanned_intermediates = o.graph.unplanned_memory().intermediates;
  facts.runs = o.runs;
  for (const driver::CallTime& call : o.call_ns)
    if (!call.is_loop) facts.times.emplace_back(call.node, call.ns);
  return report::describe_graph(o.graph.planned(), *target.module, *target.graph, facts);
}

std::vector<uint32_t> launches_by_node(const report::GraphReport& graph) {
  std::vector<uint32_t> launches;
  for (uint32_t i = 0; i < graph.launches.size(); ++i) {
    launches.resize(graph.launches[i].node + 1, report::Span::no_launch);
    launches.back() = i;
  }
  return launches;
}

}  // namespace vyre::cli
