#pragma once

// The API of the runtime: devices, buffers that stay on them, executables, and submissions.
//
//   Result<Device> device = Device::open("auto");
//   Result<Executable> saxpy = device->compile(program);
//   auto x = device->allocate<float>(n), y = device->allocate<float>(n);
//   device->submit({upload(*x, xs), upload(*y, ys)});
//   for (…) device->submit({Launch{*saxpy, {2.0f, *x, *y}}});
//   Result<Ticket> done = device->submit({read_back(*y, ys)});
//   done->wait();
//
// A Device is a shared handle: copies mean the same device. Every function may be called from any
// thread. Submissions to one stream run in order. Submissions to different streams run in any
// order, except for shared buffers: a submission that writes a buffer waits for earlier ones that
// use it, and one that reads a buffer waits for earlier ones that write it.
//
// A submission that fails (a trap, the time limit, the device) leaves the caller's memory as it
// was: readbacks arrive together, at the end. Buffers that it could have written are then
// undefined, and using them is an error until they are fully overwritten.
//
// An object that was default-constructed or moved from is empty: its functions return V0725 where
// they return a Result, and otherwise the values of an empty object (zeros, an empty program).

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <variant>

#include "runtime/argument.h"
#include "runtime/backend.h"
#include "runtime/telemetry.h"

namespace vyre::opt {
struct RunReport;
}
namespace vyre {
struct Graph;
struct GraphShape;
struct LaunchInputs;
struct Module;
}  // namespace vyre
namespace vyre::plan {
struct FusionOptions;
struct GraphPlan;
struct PlannedGraph;
struct SplitPlan;
}  // namespace vyre::plan

namespace vyre::driver {

class CompileCache;
class Device;
struct Choice;
struct DeviceState;
struct TicketState;
struct ExecutableState;
struct GraphState;

/// A kernel that is ready to run on one device. Cheap to copy.
class Executable {
 public:
  Executable() = default;
  /// Returns the program as it was given to compile().
  const Program& program() const;
  /// Returns the program that runs: the given one after the optimizer's passes. Buffers of the host
  /// have the same numbers; there may be fewer buffers after them.
  const Program& optimized() const;
  /// Returns the report of the optimizer; for passes that ran for an earlier compile, the report of
  /// that run.
  const opt::RunReport& optimizer() const;
  uint32_t subgroup_size() const;
  /// Returns the origin of the code: "compiled", "memory cache", "disk cache".
  std::string_view origin() const;
  /// Returns the time of compilation, without optimization.
  uint64_t compile_ns() const;
  uint64_t optimize_ns() const;
  /// Returns the part of the compile time in which the backend emitted code; 0 if it does not
  /// report it or emitted nothing.
  uint64_t emit_ns() const;
  /// Returns the number of programs on the device: more than one if it was split at grid barriers.
  /// A launch runs each of them once, except for loops (SubmitReport::launches counts). Where the
  /// device has a native grid barrier the number is 1; a launch of more workgroups than run at once
  /// is split nevertheless.
  size_t segments() const;
  /// Returns the invocations whose work one invocation does (transform/coarsen.h).
  uint32_t coarse() const;
  /// Returns how it was split (plan/split/split_grid.h), or null.
  const plan::SplitPlan* plan() const;
  /// For src/runtime.
  const ExecutableState* state() const { return state_.get(); }
  const std::shared_ptr<const ExecutableState>& shared_state() const { return state_; }

 private:
  friend struct DeviceState;
  const ExecutableState& get() const;  // an empty one if there is none
  std::shared_ptr<const ExecutableState> state_;
};

/// The bytes on the device that a run needs, as they are allocated.
struct MemoryNeed {
  uint64_t parameters = 0;  // buffers of the host
  uint64_t intermediates =
      0;  // of a graph; each allocation is rounded up to plan::memory_alignment
  uint64_t scratch =
      0;  // scratch buffers, and spill buffers of kernels that are split at grid barriers
  uint64_t working = 0;  // shared and private arrays, and values that live across barriers, of the
                         // workgroups that run at once; 0 while these are small
  uint64_t total() const { return parameters + intermediates + scratch + working; }
};

/// Options for planning a graph.
struct GraphOptions {
  CompileOptions compile;
  bool fuse = true;   // fuses calls into one kernel, where that is proved legal and profitable
  bool reuse = true;  // intermediates share memory
  std::shared_ptr<const plan::GraphPlan> plan;  // uses this plan instead (plan/plan_file.h)
  uint64_t memory_limit = 0;  // bytes of its buffers, parameters included; 0: none
};

/// Returns the options of fusion for a device: the shared memory of a workgroup that it may fill,
/// and costs.
plan::FusionOptions fusion_options(const DeviceInfo& device);

/// A graph that is ready to run on one device, for one set of lengths: planned, its kernels
/// compiled, memory for its intermediates allocated. Cheap to copy; the memory goes with the last
/// copy. Submissions of one graph run one after the other, on whatever streams, because they share
/// that memory.
class GraphExecutable {
 public:
  GraphExecutable() = default;
  /// Returns how it runs: the plan, and the graph after fusion.
  const plan::PlannedGraph& planned() const;
  /// Returns the kernel of a call, by node of the planned graph; null for loops, and for calls that
  /// cannot be launched (an error when they are reached).
  const Executable* executable(uint32_t node) const;
  /// Returns its memory need on the device. The caller owns the parameters; the graph owns the rest
  /// for its lifetime. `working` is counted if the graph or the device has a memory limit.
  const MemoryNeed& memory() const;
  /// Returns the memory need if every intermediate of the graph as written had separate memory.
  /// Scratch is that of the kernels that run.
  const MemoryNeed& unplanned_memory() const;
  /// Returns its bytes on the device, parameters excluded.
  uint64_t memory_bytes() const { return memory().intermediates + memory().scratch; }
  /// Returns the same for unplanned_memory().
  uint64_t unplanned_bytes() const {
    return unplanned_memory().intermediates + unplanned_memory().scratch;
  }
  uint64_t plan_ns() const;
  /// For src/runtime.
  const std::shared_ptr<const GraphState>& shared_state() const { return state_; }

 private:
  friend class Device;
  const GraphState& get() const;  // an empty one if there is none
  std::shared_ptr<const GraphState> state_;
};

struct Upload {
  Buffer to;
  std::span<const std::byte> bytes;  // copied when submitted
  uint64_t offset = 0;
};
/// Uploads all bytes of a buffer, from memory that the submission shares with the caller: nothing
/// is copied at submission. The bytes must not change until the submission is done.
struct UploadAll {
  Buffer to;
  std::shared_ptr<std::vector<std::byte>> bytes;  // as many as the buffer has
};
struct Readback {
  Buffer from;
  std::span<std::byte> bytes;  // must stay until the ticket is waited for
  uint64_t offset = 0;
};
/// Reads back all bytes of a buffer into a vector, replacing its contents. The host neither zeroes
/// the vector first nor copies the bytes after the device has delivered them.
struct ReadbackAll {
  Buffer from;
  std::vector<std::byte>* to = nullptr;  // must stay until the ticket is waited for
};
struct Copy {
  Buffer to;
  Buffer from;
  uint64_t bytes = 0;
  uint64_t to_offset = 0;
  uint64_t from_offset = 0;
};
struct Fill {
  Buffer to;
  uint8_t value = 0;
  uint64_t offset = 0;
  uint64_t bytes = ~0ull;  // up to the end
};
struct Launch {
  Executable executable;
  std::vector<Argument> arguments;  // of the parameters in order, without the `scratch` ones
  std::optional<std::array<uint64_t, 3>> grid = {};  // instead of the kernel's own
  bool clear_outputs = true;                         // `out` buffers start as zeros
  std::vector<ScratchLength> lengths = {};           // by name
};
/// Launches a whole graph. Its arguments are those of its parameters in order; `out` ones start as
/// zeros. Buffers have the lengths it was prepared for; scalars may differ, if no length and no
/// grid depends on them.
struct LaunchGraph {
  GraphExecutable graph;
  std::vector<Argument> arguments;
};
using Command =
    std::variant<Upload, UploadAll, Readback, ReadbackAll, Copy, Fill, Launch, LaunchGraph>;

/// Returns the offset of an element in bytes; past every buffer if that is more than 64 bits.
template <HostNumber T>
constexpr uint64_t offset_of(uint64_t element) {
  constexpr uint64_t end = std::numeric_limits<uint64_t>::max();
  return element > end / sizeof(T) ? end : element * sizeof(T);
}
/// Writes elements from `first` on; a vector, array or span of T is accepted.
template <HostNumber T>
Upload upload(const TypedBuffer<T>& to, std::span<const std::type_identity_t<T>> elements,
              uint64_t first = 0) {
  return {to, std::as_bytes(elements), offset_of<T>(first)};
}
/// Reads elements from `first` on, as many as `elements` has, which must stay until the ticket is
/// waited for.
template <HostNumber T>
Readback read_back(const TypedBuffer<T>& from, std::span<std::type_identity_t<T>> elements,
                   uint64_t first = 0) {
  return {from, std::as_writable_bytes(elements), offset_of<T>(first)};
}

struct SubmitOptions {
  uint32_t stream = 0;
  double time_limit = 0;      // seconds for the whole submission; 0: none
  double time_used = 0;       // seconds of the limit already used by compilation
  uint64_t output_limit = 0;  // bytes of its readbacks; 0: none
  /// Launches, and calls of graphs that the host launches (SubmitReport::calls), are timed
  /// separately. If false, adjacent ones share one time, reported for the first, and may overlap
  /// more.
  bool call_times = true;
  /// If false, nothing is timed and the report's times are 0: the least work for the host.
  bool times = true;
};

/// One call of a graph that ran; calls that were fused are one.
struct CallTime {
  uint32_t command = 0;  // as submitted
  uint32_t node = 0;     // of the planned graph
  uint64_t ns = 0;       // on the device, including its clears
  bool is_loop = false;  // a loop run by the device: its first call, with the time of all
};

struct SubmitReport {
  uint64_t upload_ns = 0, fill_ns = 0, run_ns = 0, readback_ns = 0;  // device time by kind
  uint64_t uploaded = 0, read_back = 0;                              // bytes
  uint64_t launches = 0;             // on the device: one per executed segment of a split program
  std::vector<uint64_t> command_ns;  // by command as submitted
  static constexpr size_t most_calls = 4096;
  std::vector<CallTime> calls;  // of graphs, in order; the first `most_calls`
  uint64_t call_count = 0;      // all
  /// How often each call of a graph ran, loops included.
  struct GraphRuns {
    uint32_t command = 0;        // as submitted
    std::vector<uint64_t> runs;  // by node of the planned graph; of loops 0
  };
  std::vector<GraphRuns> graphs;
};

/// A handle to the end of a submission. Waiting twice gives the same answer. Dropping a ticket does
/// not stop the work; its readbacks are then lost.
class Ticket {
 public:
  Ticket() = default;
  bool is_done() const;
  /// Returns the share of the work that is done, from 0 to 1, as far as the backend knows.
  double progress() const;
  /// Waits. On success the readbacks are in the caller's memory.
  Result<SubmitReport> wait() const;

 private:
  friend class Device;
  std::shared_ptr<DeviceState> device_;
  std::shared_ptr<TicketState> state_;
};

struct OpenOptions {
  uint64_t memory_limit = 0;  // bytes of all buffers on the device; 0: the device's
  bool use_cache = true;
  CompileCache* cache =
      nullptr;  // instead of the process's (runtime/cache/cache.h); must outlive it
  /// Split kernels at grid barriers, or keep them whole where the device has a native barrier. With
  /// neither, a device that was opened by name uses the form that calibration found faster.
  bool split_grid_barriers = false, native_grid_barriers = false;
  HotPathSink telemetry;  // called for every launch that is timed: op_id, time, bytes
  /// "a,b" or "none": the passes for compiles that specify neither passes nor a profile, where the
  /// device optimizes. "": the variable VYRE_PASSES, else the selection of the profile.
  std::string passes;
};

struct ListedCode {
  bool is_program = false;  // the device runs the program itself and has no other code
  std::vector<Listing> segments;
};

class Device {
 public:
  Device() = default;  // empty until one is assigned
  /// Opens "auto", "interp", "cuda:1", "cpu[threads=1]", … (runtime/device_name.h).
  static Result<Device> open(std::string_view name, const OpenOptions& options = {});
  /// Opens a result of choose() (runtime/registry.h); for `auto`, the next best if that cannot be
  /// opened.
  static Result<Device> open(const Choice& choice, const OpenOptions& options = {});
  /// Opens a device of the caller's backend (tests).
  static Result<Device> open(Backend& backend, uint32_t index, const OpenOptions& options = {});

  const DeviceInfo& info() const;
  /// True if OpenOptions::telemetry is set: launches that are timed are reported to it.
  bool has_telemetry() const;
  /// Returns why `auto` chose this device; "" if it was named.
  const std::string& chosen_because() const;

  Result<Buffer> allocate(uint64_t bytes);
  Result<Buffer> allocate(Type element, uint64_t count);
  template <HostNumber T>
  Result<TypedBuffer<T>> allocate(uint64_t count) {
    Result<Buffer> made = allocate(type_of<T>(), count);
    if (!made) return made.errors();
    return TypedBuffer<T>(*made);
  }
  /// Frees a buffer. Returns an error if a submission still uses it, or the handle is stale.
  Result<> free(Buffer buffer);
  uint64_t memory_used() const;
  /// Returns the maximum memory in use at once since the device was opened.
  uint64_t memory_peak() const;
  /// Returns true if the content is undefined after a failed launch.
  bool is_undefined(Buffer buffer) const;

  /// Checks the program (unless CompileOptions::checked), also against the device's limits,
  /// optimizes it, and compiles it or finds it in the cache. `launch` is the only launch to come,
  /// if it is known: the code may be specialized for its size.
  Result<Executable> compile(const Program& program, const CompileOptions& options = {},
                             const LaunchShape* launch = nullptr);

  /// Returns the code of an executable, to read. Generates it anew, so it takes as long as
  /// compiling.
  Result<ListedCode> list_code(const Executable& executable) const;

  /// Plans and compiles a graph of the module for these lengths. Checks the graph and the kernels
  /// that it calls, unless CompileOptions::checked. A kernel that the device refuses, or a call
  /// whose lengths do not fit, is an error when the call is reached, as a trap is.
  Result<GraphExecutable> prepare(const Module& module, const Graph& graph, const GraphShape& shape,
                                  const GraphOptions& options = {});

  /// Returns the memory of one launch of the executable (run(), runtime/run_kernel.h).
  Result<MemoryNeed> memory_need(const Executable& executable, const LaunchInputs& inputs);
  /// Returns the memory of a graph: the allocations of prepare(), and its parameters. Plans and
  /// compiles as prepare() does, because the device decides what is spilled at grid barriers. Fails
  /// like prepare() if GraphOptions::memory_limit is exceeded; allocates nothing.
  Result<MemoryNeed> memory_need(const Module& module, const Graph& graph, const GraphShape& shape,
                                 const GraphOptions& options = {});

  Result<Ticket> submit(std::vector<Command> commands, const SubmitOptions& options = {});
  /// Waits for everything submitted so far.
  void finish();

 private:
  /// Returns V0725 if the device is empty.
  Result<> require_open() const;
  std::shared_ptr<DeviceState> state_;
};

}  // namespace vyre::driver
