#pragma once

// What must hold for any bytes given as a plan file: an error with a code and a fix, or a plan that
// fits the graph or is refused when it is applied. libFuzzer calls it with what it finds, the tests
// with seeded changes of a real file.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check_errors.h"
#include "ir/graph_launch.h"
#include "plan/plan_file.h"
#include "text/parse.h"

namespace vyre {

/// A graph of which every part of a plan can say something: calls to join, a buffer that vanishes,
/// and one that can share storage.
inline constexpr std::string_view planned_text = R"(
kernel scale(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * 3
}
kernel turn(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  shared s: u32[64]
  s[local_id.x] = x[global_id.x]
  barrier workgroup
  y[global_id.x] = s[63 - local_id.x]
}
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  buffer c: u32[len(x)]
  call scale(x, a)
  call scale(a, b)
  call turn(b, c)
  repeat 2 { call turn(c, y) }
}
)";

/// "" or what is wrong.
inline std::string check_plan_reader(std::string_view text) {
  static const Module module = *parse(std::string(planned_text)).module;
  static const Graph& graph = module.graphs[0];
  static const GraphShape shape = [] {
    std::vector<std::optional<uint64_t>> counts(graph.buffers.size()),
        scalars(graph.buffers.size());
    counts[0] = 100;
    return *resolve_graph(graph, counts, scalars);
  }();
  const Result<plan::GraphPlan> read = plan::read_plan(text, "plan.json");
  if (!read) return check_errors(read.errors());
  const Result<plan::PlannedGraph> applied = plan::apply_plan(module, graph, shape, *read);
  if (!applied) return check_errors(applied.errors());
  const std::string written = plan::write_plan(*applied, module, graph);
  return plan::read_plan(written, "again.json") ? "" : "a written plan is not read again";
}

}  // namespace vyre
