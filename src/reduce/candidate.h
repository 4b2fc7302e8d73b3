#pragma once

// A program under reduction, and how large it is.

#include <compare>
#include <cstdint>
#include <optional>

#include "ir/graph_launch.h"
#include "ir/launch.h"
#include "ir/module.h"

namespace vyre::reduce {

/// A program with the inputs of its launch. The target is the first graph, or the first kernel of a
/// module without graphs.
struct Candidate {
  Module module;
  std::optional<LaunchInputs> inputs;  // of the target; none: its launches are unknown

  bool is_graph() const { return !module.graphs.empty(); }
};

/// Sizes that a reduction lowers; earlier members count first, so that a change may trade a larger
/// later member for a smaller earlier one, and reduction ends.
struct Size {
  uint64_t declarations = 0;  // kernels, graphs and nodes of graphs
  uint64_t weight = 0;        // of ops: constants least, loops most
  uint64_t buffers = 0;
  uint64_t elements = 0;     // of all buffers and arrays
  uint64_t invocations = 0;  // with a large number for a grid that is not constant
  uint64_t detail = 0;       // lengths of formulas, bits of constants and data, attributes
  auto operator<=>(const Size&) const = default;
};
Size measure(const Candidate& candidate);

/// Ops of all kernels.
uint64_t count_ops(const Candidate& candidate);

/// The number of bits needed to write a value of the type: 0 for zero, 1 for one.
uint64_t complexity(Type type, uint64_t bits);

/// Elements of each buffer of a kernel of the module: for the target as its launch resolves them,
/// for a called kernel as its first call does. Nothing for unknown lengths.
IdMap<BufferId, std::optional<uint64_t>> counts_of(const Candidate& candidate, uint32_t kernel);
/// The same for each buffer of the graph.
IdMap<GraphBufferId, std::optional<uint64_t>> counts_of_graph(const Candidate& candidate);
/// Invocations of the launch of a kernel; one without inputs, nothing if unknown.
std::optional<std::array<uint64_t, 3>> grid_of(const Candidate& candidate, uint32_t kernel);

/// Removes unneeded parts: kernels that no graph calls (if there is a graph), and, if `dead_code`,
/// ops whose results nothing uses.
void tidy(Candidate& candidate, bool dead_code);

/// A text that identifies equal candidates.
std::string key_of(const Candidate& candidate);

}  // namespace vyre::reduce
