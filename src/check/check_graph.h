#pragma once

// Graphs: the calls against the kernels that they name, and the loops over calls.

#include <vector>

#include "diagnostics/diagnostic.h"
#include "ir/module.h"

namespace vyre {

/// `legal[k]`: kernel k has no errors; calls of the other kernels are skipped.
Diagnostics check_graph(const Module& module, const Graph& graph, const std::vector<bool>& legal);

/// Kernels and graphs are found by name: names must be unique.
Diagnostics check_declarations(const Module& module);

}  // namespace vyre
