#pragma once

// One call of a graph against the kernel that it names.

#include "check/check_formulas.h"
#include "diagnostics/diagnostic.h"
#include "ir/module.h"

namespace vyre {

/// `formulas` are the graph's. The kernel has no errors. `is_reached`: every run of the graph
/// reaches the call; else lengths that differ are an error of the run.
void check_call(const Program& kernel, const Graph& graph, const FormulaFacts& formulas,
                const GraphNode& call, bool is_reached, Diagnostics& list);

}  // namespace vyre
