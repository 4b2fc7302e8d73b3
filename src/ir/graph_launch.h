#pragma once

// The parts of running a graph that need no device: lengths of its buffers, arguments and grids of
// its calls, loops, and the stage that an error comes from. The interpreter and the runtime share
// it; each passes the walk a GraphDevice that holds the buffers and runs the calls.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph_walk.h"
#include "ir/launch.h"

namespace vyre {

/// Sizes of a graph's run, by index into Graph::buffers.
struct GraphShape {
  PublicIdMap<GraphBufferId, uint64_t> counts;   // elements
  PublicIdMap<GraphBufferId, uint64_t> scalars;  // bits of scalar parameters

  /// `i`: an id, or a number as in Graph::buffers.
  uint64_t bytes(const Graph& g, auto i) const { return counts[i] * size_of(g.buffers[i].element); }
};

/// Checks the host's inputs (as resolve_launch does for a kernel) and the limit of bytes that are
/// read back (0: none). A graph has no grid: the grid of the inputs is ignored.
Result<GraphShape> resolve_graph(const Graph& graph,
                                 std::span<const std::optional<std::vector<std::byte>>> data,
                                 std::span<const std::optional<uint64_t>> lengths,
                                 uint64_t output_limit);

/// The same from lengths that are known already: `counts[i]` of parameters that are buffers,
/// `scalars[i]` the bits of scalar ones.
Result<GraphShape> resolve_graph(const Graph& graph,
                                 std::span<const std::optional<uint64_t>> counts,
                                 std::span<const std::optional<uint64_t>> scalars);

/// One call, ready to be launched. Lists are by buffer of the kernel.
struct GraphCall {
  const GraphNode& node;
  const Program& kernel;
  IdMap<BufferId, GraphBufferId> bound;  // the graph's buffer, or none: scalars and scratch buffers
  IdMap<BufferId, uint64_t> scalars;     // bits
  LaunchShape shape;
};

/// Matches arguments and computes the sizes of a call. `grid`: the contents of the device buffers
/// of the node's grid (GraphAction::grid), bounded here by the kernel's; ignored if the node has no
/// grid.
Result<GraphCall> bind_call(const Module& module, const Graph& graph, const GraphShape& shape,
                            const GraphNode& node, const std::array<uint64_t, 3>& grid = {1, 1, 1});

/// Adds to errors the call of the graph that they come from.
Diagnostics blame_call(Diagnostics errors, const Module& module, const GraphStep& call);

/// The next action of an executor: a call, or a read of an element that decides how the graph
/// continues.
struct GraphAction {
  enum class Kind : uint8_t { Call, Read, Done } kind = Kind::Done;
  uint32_t node = 0;                         // Call, Read: the step
  std::array<uint64_t, 3> grid = {1, 1, 1};  // Call: from device buffers, if the node says so
  GraphElement element;  // Read: an element that exists; pass its bits to answer()
};

/// A loop that is about to begin: its steps are those between `node` and `end`.
struct GraphLoop {
  uint32_t node = 0, end = 0;
  uint64_t rounds = 0;  // for a `while` the maximum
};

/// Runs the steps of a graph, which has passed the checker. Every executor is driven by it. A loop
/// ends after an iteration in which nothing changed: counts are fixed and conditions read buffers,
/// so all later iterations would do the same. Between two launches the walk visits each step at
/// most twice for each loop around it.
class GraphCursor {
 public:
  /// `steps`: flatten(graph).
  GraphCursor(const Graph& graph, const GraphSteps& steps, const GraphShape& shape);
  Result<GraphAction> next();
  /// Passes the stored bits of the element that the last step requested, after all calls so far.
  void answer(uint64_t bits);
  /// Reports that the call that next() returned has no workgroups: it only clears its outputs.
  /// Returns true if they are clear already, because it did so before and nothing was launched
  /// since.
  bool call_launched_nothing();

  /// The loop with calls that comes next, if there is one and its count is valid.
  std::optional<GraphLoop> loop() const;
  /// Continues after the loop that comes next, which the caller runs.
  void skip_loop();

 private:
  struct Loop {
    uint32_t node;
    uint64_t left;
    uint64_t changes;  // changes_ when the iteration began
  };
  bool begins_again(const Loop& loop) const { return loop.left > 0 && loop.changes != changes_; }
  bool has_calls(uint32_t loop) const;
  std::optional<GraphElement> wanted() const;
  Result<uint64_t> times_of(const GraphNode& node) const;
  bool holds(const GraphNode& node) const;
  void begin_loop();
  void end_loop();
  void go_to(uint32_t node);

  const Graph& g_;
  const GraphSteps& steps_;
  const GraphShape& shape_;
  std::vector<Loop> loops_;
  uint64_t changes_ = 0;           // calls so far that may have changed a buffer
  uint64_t launches_ = 0;          // of these, calls that have workgroups
  uint32_t call_ = 0;              // the last one
  std::vector<uint64_t> cleared_;  // by call without workgroups: 1 + launches_ when it was reached
  uint32_t at_ = 0;
  uint64_t times_ = 0;             // for the loop that is about to begin
  bool timed_ = false;             // times_ is computed
  std::vector<uint64_t> answers_;  // values of the elements that the current node depends on
};

/// Holds the buffers of a graph and runs its calls.
class GraphDevice {
 public:
  virtual ~GraphDevice() = default;
  /// Called before each call: checks the time limit.
  virtual Result<> begin_call(const GraphNode& node) = 0;
  /// The stored bits of an existing element, after all calls so far.
  virtual Result<uint64_t> read(const GraphElement& element) = 0;
  /// `out` arguments are zeroed, then the kernel runs.
  virtual Result<> call(const GraphCall& call) = 0;
};

/// Runs the calls in order and returns their number. An error names its stage. `graph` is one of
/// the module's and has passed the checker.
Result<uint64_t> walk_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                            GraphDevice& device);

}  // namespace vyre
