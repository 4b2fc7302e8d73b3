#pragma once

// The state of a GraphExecutable: a graph that is ready to run, and its translation to device
// commands. Internal to src/runtime.

#include "ir/graph_launch.h"
#include "plan/graph_plan.h"
#include "runtime/device_state.h"

namespace vyre::driver {

struct GraphState {
  /// A call of the planned graph, as far as it is known before it is reached.
  struct Call {
    Executable executable;
    Diagnostics errors;  // it cannot run: reported when it is reached
    IdMap<BufferId, GraphBufferId> bound;
    IdMap<BufferId, uint64_t> scalars;  // bits
    LaunchShape shape;                  // for calls with a grid from the device: the largest
    uint64_t bytes = 0;                 // of the buffers bound
  };
  /// The location of a buffer of the planned graph: an offset in memory[index]. Parameters are
  /// given at each launch.
  struct Home {
    uint32_t index = none;
    uint64_t offset = 0;
  };

  GraphState() = default;
  GraphState(const GraphState&) = delete;
  ~GraphState();

  const Graph& graph() const { return planned.fused.graph(); }
  /// Attributes errors of a call to the graph as written.
  Diagnostics blame(Diagnostics errors, uint32_t node, bool trapped) const {
    return plan::blame_fused(std::move(errors), planned, given, given.graphs[0], node, trapped);
  }

  uint32_t device = 0;
  std::shared_ptr<Retired> retired;  // where its memory goes
  Module given;                      // the graph as written, with its kernels
  plan::PlannedGraph planned;
  GraphSteps steps;                        // of the planned graph
  std::vector<std::optional<Call>> calls;  // by step
  IdMap<GraphBufferId, Home> homes;        // of the planned graph
  std::list<std::vector<Buffer>> memory_node = std::list<std::vector<Buffer>>(1);
  std::vector<Buffer>& memory = memory_node.front();
  uint32_t scratch = none;                 // index into `memory`: scratch for one launch at a time
  std::vector<GraphBufferId> clear_first;  // buffers that start as zeros and are not cleared later
  struct Clear {
    uint32_t node = 0;  // when it is first reached: a call, or a loop that begins with the call
    GraphBufferId buffer{0};
  };
  std::vector<Clear> clears;  // of the reuse plan, ascending

  /// The recording of a launch, if it was one part: the next launch with the same buffers and
  /// scalars need not be recorded again.
  struct Replay {
    IdMap<GraphBufferId, MemoryRange> places;
    IdMap<GraphBufferId, uint64_t> scalars;
    CommandBody body;
    std::shared_ptr<const std::vector<CommandNote>> notes;  // of the body
    std::shared_ptr<const std::vector<uint64_t>> runs;      // CommandNote::runs
  };
  struct Replays {
    std::mutex mutex;
    std::deque<Replay> last;  // guarded; the newest first
    static constexpr size_t most = 4;
  };
  const std::shared_ptr<Replays> replays = std::make_shared<Replays>();
  MemoryNeed need, unplanned;
  uint64_t memory_limit = 0;  // GraphOptions::memory_limit
  uint64_t plan_ns = 0;
};

/// Returns a module of the graph and the kernels that it calls. A call of a kernel that `module`
/// lacks stays such a call, for check() to find.
Module called_module(const Module& module, const Graph& graph);

/// Returns the sizes of a call for the program that runs, which has the call's parameters.
Result<LaunchShape> shape_of_launch(const Program& program, const GraphCall& call,
                                    const GraphShape& shape);

/// The locations of the buffers of a launch (launch_buffers()) in memory that the calls of a graph
/// share; offsets are aligned.
struct LaunchScratch {
  IdMap<BufferId, uint64_t> offsets;  // of buffers of the (extended) shape; of others 0
  LaunchShape shape;                  // with the spill buffers
  uint64_t bytes = 0;
};
Result<LaunchScratch> scratch_of(const Executable& executable, const LaunchShape& shape);

/// The launches of a graph, one after the other, with the clears that they need.
class GraphScript : public Script {
 public:
  /// `places`: for the planned graph. `scalars`: for the graph, as given now. Called with the
  /// device's mutex held; later parts are recorded without it.
  GraphScript(std::shared_ptr<const GraphState> graph, IdMap<GraphBufferId, MemoryRange> places,
              GraphShape shape, DeviceState& device, TicketState& ticket);

  bool record(Part& part, uint32_t command, const Deadline& deadline, double time_limit) override;
  void answer(std::span<const std::byte> polled) override;

 private:
  CommandNote note(DeviceCommand::Kind kind, uint32_t node) const;
  void fill(Part& part, const MemoryRange& where, uint32_t node) const;
  void clear_up_to(Part& part, uint32_t node);
  void begin_call(uint32_t node);
  void keep_for_replay(const Part& part, size_t first) const;
  bool is_for_device(const GraphLoop& loop) const;
  Result<bool> loop(Part& part, const GraphLoop& loop);
  MemoryRange range_of(const GraphElement& element) const;
  void read(Part& part, const GraphAction& action);
  Result<> launch(Part& part, const GraphAction& call);
  Result<MemoryRange> scratch(uint64_t bytes, const Program& program);

  const std::shared_ptr<const GraphState> s_;
  const IdMap<GraphBufferId, MemoryRange> places_;
  const GraphShape shape_;
  DeviceState& d_;
  TicketState& t_;
  GraphCursor cursor_;
  std::unique_ptr<Script> split_;  // the current call, if it runs in segments
  uint32_t split_node_ = 0;
  uint32_t command_ = 0;
  uint64_t call_ = 0;  // CommandNote::call of the current call
  size_t cleared_ = 0;
  bool begun_ = false;
  const MemoryRange scratch_;  // of the graph
  MemoryRange extra_;          // scratch of launches that are larger than was known
  Diagnostics failed_;         // reported after the recorded commands have run
};

}  // namespace vyre::driver
