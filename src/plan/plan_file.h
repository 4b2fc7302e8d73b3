#pragma once

// Plan files: written by `vyre plan --json` and read by `vyre run --plan`
// (docs/schemas/plan.schema.json).
//
// The file has more than is read back: names, sizes and reasons are for people. A plan that was
// read is checked again when it is applied.

#include <string>
#include <string_view>

#include "plan/graph_plan.h"

namespace vyre::plan {

inline constexpr int plan_file_version = 1;

/// Formats a plan as JSON. `module` and `graph` are those that were passed to plan_graph().
std::string write_plan(const PlannedGraph& planned, const Module& module, const Graph& graph);

/// Errors: V0861 with the part that is wrong, V0862. `file` is for the message.
Result<GraphPlan> read_plan(std::string_view text, const std::string& file);

/// Formats a plan for people: launches with the calls that they fuse and how, buffers that never
/// reach memory, refusals with reasons, and the memory.
std::string print_plan(const PlannedGraph& planned, const Module& module, const Graph& graph);

}  // namespace vyre::plan
