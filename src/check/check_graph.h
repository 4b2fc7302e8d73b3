#pragma once

// Graphs: the calls against the kernels they name, and the loops over calls.

#include <vector>

#include "diagnostics/diagnostic.h"
#include "ir/module.h"

namespace vyre {

/// `legal[k]`: kernel k has no errors of its own; calls of the others are not looked into.
Diagnostics check_graph(const Module& module, const Graph& graph, const std::vector<bool>& legal);

/// Kernels and graphs are found by name: no two have the same.
Diagnostics check_declarations(const Module& module);

}  // namespace vyre
