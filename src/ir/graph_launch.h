#pragma once

// Running a graph as far as no device is needed: lengths of its buffers, arguments and grids of its
// calls, loops, and which stage an error comes from. The interpreter and the driver share it; each
// gives the walk a GraphDevice that holds the buffers and runs the calls.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/launch.h"
#include "ir/module.h"

namespace vyre {

/// Sizes of a graph's run, by index into Graph::buffers.
struct GraphShape {
  std::vector<uint64_t> counts;   // elements
  std::vector<uint64_t> scalars;  // bits of scalar parameters

  uint64_t bytes(const Graph& g, size_t i) const {
    return counts[i] * size_of(g.buffers[i].element);
  }
};

/// Checks what the host gives (as resolve_launch does for a kernel) and the limit of bytes that go
/// back to it (0: none). A graph has no grid of its own: that of the inputs is ignored.
Result<GraphShape> resolve_graph(const Graph& graph,
                                 std::span<const std::optional<std::vector<std::byte>>> data,
                                 std::span<const std::optional<uint64_t>> lengths,
                                 uint64_t output_limit);

/// One call, ready to be launched. Lists are by buffer of the kernel.
struct GraphCall {
  const GraphNode& node;
  const Program& kernel;
  std::vector<uint32_t> bound;    // the graph's buffer, or none: scalars and scratch buffers
  std::vector<uint64_t> scalars;  // bits
  LaunchShape shape;
};

/// Whoever holds the buffers of a graph and runs its calls.
class GraphDevice {
 public:
  virtual ~GraphDevice() = default;
  /// Before anything of a call is looked at: is there time left?
  virtual Result<> begin_call(const GraphNode& node) = 0;
  /// The stored bits of an element that is there, after all calls so far.
  virtual Result<uint64_t> read(const GraphElement& element) = 0;
  /// `out` arguments are zeroed, then the kernel runs.
  virtual Result<> call(const GraphCall& call) = 0;
};

/// Runs the calls in order and gives their number. An error names its stage. `graph` is one of the
/// module's and has passed the checker.
Result<uint64_t> walk_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                            GraphDevice& device);

}  // namespace vyre
