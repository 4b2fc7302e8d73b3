#pragma once

// Plans as files: what `vyre plan --json` writes and `vyre run --plan` reads
// (docs/schemas/plan.schema.json).
//
// The file has more than is read back: names, sizes and reasons are for people. What is read is
// checked again when the plan is applied.

#include <string>
#include <string_view>

#include "plan/graph_plan.h"

namespace vyre::plan {

inline constexpr int plan_file_version = 1;

/// `module` and `graph` as they were given to plan_graph().
std::string write_plan(const PlannedGraph& planned, const Module& module, const Graph& graph);

/// Errors: V0861 with the part that is wrong, V0862. `file` is for the message.
Result<GraphPlan> read_plan(std::string_view text, const std::string& file);

/// For people: launches with what is joined and how, what never reaches memory, what was refused
/// and why, and the memory.
std::string print_plan(const PlannedGraph& planned, const Module& module, const Graph& graph);

}  // namespace vyre::plan
