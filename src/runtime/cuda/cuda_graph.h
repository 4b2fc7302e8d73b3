#pragma once

// Work lists as CUDA graphs: built once, launched with one call, updated where numbers have
// changed.
//
// A graph has its own control blocks and stop flag, so that nothing in it changes from one launch
// to the next. A submission that launches it owns both until its work has ended; a second launch at
// the same time takes another graph.

#include <list>

#include "runtime/cuda/cuda_control.h"
#include "runtime/cuda/cuda_loop.h"
#include "runtime/cuda/cuda_work.h"
#include "runtime/cuda/stop_flags.h"

namespace vyre::driver::cuda {

/// The device's services that graphs are built with.
struct GraphParts {
  std::shared_ptr<Context> context;
  ControlBlocks& controls;
  StopFlags& flags;
};

/// One instantiated graph.
class Graph {
 public:
  static Result<std::unique_ptr<Graph>> build(const GraphParts& parts, WorkList list,
                                              std::vector<std::shared_ptr<CompiledKernel>> kernels,
                                              FunctionHandle loop_test);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Replaces its numbers by those of a list of the same shape. Returns false if that fails; the
  /// graph must not be launched any more.
  bool update(const WorkList& list);
  Status launch(StreamHandle stream) { return parts_.context->api.graph_launch(exec_, stream); }

  const WorkList& list() const { return list_; }
  const ControlRange& controls() const { return controls_; }
  const StopFlag& flag() const { return flag_; }
  /// True if it may be launched now: two launches at once would share control blocks and stop flag.
  bool is_free() const { return !users || (list_.controls == 0 && !list_.uses_stop); }

  uint64_t hash = 0;
  CommandBody body;  // the body that it was built for, if any
  uint64_t last_use = 0;
  uint32_t users = 0;      // submissions whose end was not inspected yet
  bool is_broken = false;  // not to be launched any more

 private:
  explicit Graph(const GraphParts& parts) : parts_(parts) {}
  Status add(size_t index, GraphHandle graph, GraphNodeHandle& last);
  Status add_loop(size_t index, GraphHandle graph, GraphNodeHandle& last);
  Status add_kernel(const KernelNode& node, bool cooperative, GraphHandle graph,
                    GraphNodeHandle& last);
  DevicePointer control_of(const Work& work) const;

  GraphParts parts_;
  WorkList list_;
  std::vector<std::shared_ptr<CompiledKernel>> kernels_;  // alive as long as the graph
  FunctionHandle loop_test_ = nullptr;
  ControlRange controls_;
  StopFlag flag_;
  GraphHandle graph_ = nullptr;
  GraphExecHandle exec_ = nullptr;
  std::vector<GraphNodeHandle> nodes_;  // by work
};

/// The most recently used graphs of a device, and lists that were seen once.
class GraphCache {
 public:
  explicit GraphCache(GraphParts parts) : parts_(std::move(parts)) {}

  /// Returns a graph for the list, or null: run it as it is. Loops always get a graph, other lists
  /// when they are submitted for the second time. Returns an error only if the driver refused a
  /// graph that was to be built.
  Result<Graph*> find(const WorkList& list, std::span<const DeviceCommand> commands);
  /// Returns the graph that was built for a body, if it is free.
  Graph* find(const CommandBody& body);
  /// Builds a graph for a body, whose works the list has; returns null if there are enough of it.
  Result<Graph*> build(const WorkList& list, const CommandBody& body);
  void clear() { graphs_.clear(); }

  /// True if the kernel of loops could not be made, or a graph with a loop was refused: loops in
  /// graphs are then not used on this device.
  bool loops_are_broken() const { return loops_are_broken_; }

 private:
  Result<Graph*> build(const WorkList& list, std::span<const DeviceCommand> commands);
  Result<> load_loop_kernel();
  bool make_room();
  bool was_seen(uint64_t hash);

  static constexpr size_t most_graphs = 32;
  static constexpr size_t most_of_a_kind = 4;  // with one shape, or for one body
  static constexpr size_t most_seen = 64;

  const GraphParts parts_;
  std::list<std::unique_ptr<Graph>> graphs_;
  std::vector<uint64_t> seen_;  // hashes of lists that were submitted once, the oldest first
  uint64_t clock_ = 0;
  std::shared_ptr<Module> loop_test_;
  bool loops_are_broken_ = false;
};

}  // namespace vyre::driver::cuda
