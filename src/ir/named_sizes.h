#pragma once

// The sizes of a graph by the names of its parameters.
//
//   Result<GraphShape> shape = resolve_graph(graph, {{"by", 2}, {"x", xs.size()}});

#include <string>
#include <vector>

#include "ir/graph_launch.h"
#include "ir/scalar.h"

namespace vyre {

/// The value of a scalar parameter, or the elements of a buffer parameter.
struct NamedSize {
  template <HostNumber T>
  NamedSize(std::string name, T value) : name(std::move(name)), value(scalar(value)) {}
  std::string name;
  Scalar value;
};

/// The same as by index (ir/graph_launch.h). Buffers whose length is a formula need no entry.
/// Scalars are converted where that is exact. Reports all mistakes.
Result<GraphShape> resolve_graph(const Graph& graph, const std::vector<NamedSize>& sizes);

/// V0609: `owner`, such as "kernel `k`", has no parameter `name`; the fix is the nearest of
/// `names`.
Diagnostic unknown_parameter(std::string_view name, const std::string& owner,
                             const std::vector<std::string>& names);

/// V0717: the parameter's type does not have that number.
Diagnostic not_exact(std::string_view parameter, const std::string& owner, Type type, Scalar value);

}  // namespace vyre
