#pragma once

// Lists of works as CUDA graphs: built once, launched with one call, given other numbers where they
// have changed.
//
// A graph has control blocks and a stop flag of its own, so that nothing in it changes from one
// launch to the next. A submission that launches it owns them until its work has ended; a second
// launch at the same time takes another graph.

#include <list>

#include "runtime/cuda/cuda_control.h"
#include "runtime/cuda/cuda_loop.h"
#include "runtime/cuda/cuda_work.h"
#include "runtime/cuda/stop_flags.h"

namespace vyre::driver::cuda {

/// What graphs are built from.
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

  /// Gives it the numbers of a list of the same shape. False: it cannot have them, and is not to be
  /// launched any more.
  bool update(const WorkList& list);
  Status launch(StreamHandle stream) { return parts_.context->api.graph_launch(exec_, stream); }

  const WorkList& list() const { return list_; }
  const ControlRange& controls() const { return controls_; }
  const StopFlag& flag() const { return flag_; }
  /// True if it may be launched now: two launches at once would share control blocks and stop flag.
  bool is_free() const { return !users || (list_.controls == 0 && !list_.uses_stop); }

  uint64_t hash = 0;
  CommandBody body;  // that it is of, if it is of one
  uint64_t last_use = 0;
  uint32_t users = 0;      // submissions whose end nobody has looked at
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

/// The graphs of a device that were used last, and lists that were seen once.
class GraphCache {
 public:
  explicit GraphCache(GraphParts parts) : parts_(std::move(parts)) {}

  /// A graph for the list, or null: run it as it is. Loops always get one, other lists the second
  /// time that they come. An error only if a graph was to be built and was refused.
  Result<Graph*> find(const WorkList& list, std::span<const DeviceCommand> commands);
  /// The one that was built for a body, if it is free.
  Graph* find(const CommandBody& body);
  /// Builds one for a body, whose works the list has; null: there are enough of it.
  Result<Graph*> build(const WorkList& list, const CommandBody& body);
  void clear() { graphs_.clear(); }

  /// The kernel of loops could not be made, or a graph with a loop was refused: this device has
  /// none.
  bool loops_are_broken() const { return loops_are_broken_; }

 private:
  Result<Graph*> build(const WorkList& list, std::span<const DeviceCommand> commands);
  Result<> load_loop_kernel();
  bool make_room();
  bool was_seen(uint64_t hash);

  static constexpr size_t most_graphs = 32;
  static constexpr size_t most_of_a_kind = 4;  // of one shape, or of one body
  static constexpr size_t most_seen = 64;

  const GraphParts parts_;
  std::list<std::unique_ptr<Graph>> graphs_;
  std::vector<uint64_t> seen_;  // hashes of lists that came once, the oldest first
  uint64_t clock_ = 0;
  std::shared_ptr<Module> loop_test_;
  bool loops_are_broken_ = false;
};

}  // namespace vyre::driver::cuda
