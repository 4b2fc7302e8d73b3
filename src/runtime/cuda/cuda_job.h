#pragma once

// A submission under way.

#include "runtime/backend.h"
#include "runtime/cuda/cuda_graph.h"
#include "runtime/cuda/cuda_pinned.h"
#include "runtime/submit/watchdog.h"

namespace vyre::driver::cuda {

struct Stream {
  StreamHandle handle = nullptr;
  uint64_t memory_epoch = 0;  // see DeviceMemory::order
};

/// Reused for later submissions, so that its vectors keep their memory.
struct Job {
  SubmissionHandle handle = 0;  // 0: free
  uint32_t generation = 0;
  std::vector<DeviceCommand> commands;  // their kernels and bytes live until the work has ended
  std::optional<std::chrono::steady_clock::time_point> deadline;

  /// Times: `marks[i]` and `marks[i + 1]` are around the commands from `units[i]` on.
  std::vector<EventHandle> marks;
  std::vector<uint32_t> units;
  /// An event after everything: the last mark, or a separate one. Null while the job is being
  /// submitted.
  std::atomic<EventHandle> end{nullptr};

  /// A control block to inspect, in the order of commands.
  struct Check {
    const emit_ptx::ControlBlock* block = nullptr;
    uint32_t command = 0, inside = 0;
    bool is_loop = false;
  };
  std::vector<Check> checks;
  ControlRange controls;       // of launches outside of graphs
  std::vector<Graph*> graphs;  // each as often as it was launched
  uint32_t controls_used = 0;
  StopFlag flag;  // of launches outside of graphs
  std::vector<std::unique_ptr<Watchdog::Watch>> watches;
  std::optional<uint32_t> last_launch;

  std::vector<PinnedBlocks::Block> blocks;
  size_t block_used = 0;  // of the last one, if that is small
  /// Bytes to be taken out of pinned memory.
  struct Back {
    const std::byte* from = nullptr;
    std::vector<std::byte>* to = nullptr;  // the staging memory of a command of the job
    size_t offset = 0;
    size_t bytes = 0;
    EventHandle ready = nullptr;  // null: with the end
  };
  std::vector<Back> backs;
  std::vector<EventHandle> extra_events;
  std::vector<void*> registered;  // host memory that was pinned for this
  std::vector<DevicePointer> temporaries;

  /// Loops, by command: iterations. Those that the device has counted are added at the end.
  std::vector<std::pair<uint32_t, uint64_t>> rounds;
  SubmissionOutcome outcome;
  bool is_decided = false;  // before the end: it failed or timed out while it was submitted
  bool is_done = false;     // the device has ended it
  bool is_inspected = false;
};

}  // namespace vyre::driver::cuda
