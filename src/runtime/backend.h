#pragma once

// The backend interface: a probe, devices, memory, compiled kernels, and submissions of commands.
// It has about a dozen functions. Everything else (lengths, limits, hazards, traps as diagnostics,
// undefined buffers, telemetry, splitting at grid barriers) is implemented once above it, in
// device.cc.
//
// A backend may trust its inputs: programs are checked, handles are alive and its own, ranges are
// inside their memory, and launches fit its limits.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "diagnostics/listing.h"
#include "diagnostics/result.h"
#include "ir/launch.h"
#include "ir/program.h"
#include "runtime/compile/compile_limits.h"
#include "runtime/device_options.h"

namespace vyre::opt {
struct PassDescriptor;
struct ProfileData;
enum class Profile : uint8_t;
}  // namespace vyre::opt

namespace vyre::driver {

struct DeviceLimits {
  uint32_t workgroup_invocations = 1024;
  uint64_t shared_bytes = 0;  // of one workgroup
  /// The limit for the private arrays of one invocation. With more, the driver's compiler takes too
  /// long or the hardware has no memory.
  uint64_t private_bytes = ~uint64_t{0};
  /// Invocations that hold private arrays at once; 0: BackendDevice::working_bytes() counts them.
  uint64_t resident_invocations = 0;
  uint64_t buffer_bytes = 0;  // of one buffer
  uint64_t memory_bytes = 0;  // of the device
  std::vector<uint32_t> subgroup_sizes;
  uint32_t default_subgroup_size = 32;
  /// Programs with grid barriers may run as they are, if BackendDevice::runs_at_once says so.
  bool native_grid_barrier = false;
  bool forward_progress = false;
  bool loops = false;          // takes DeviceCommand::Kind::Loop
  bool vector_access = false;  // its code loads and stores neighbouring elements in one access
  /// Launches of so many invocations or more run faster coarsened; 0: never.
  uint64_t coarse_from = 0;
};

struct DeviceInfo {
  std::string backend;  // "interp"
  uint32_t index = 0;
  std::string name;            // "reference interpreter, one core"
  std::string target;          // the target of compiled code, part of cache keys
  std::string driver_version;  // part of cache keys
  DeviceLimits limits;
  bool keeps_code = true;      // its kernels may serialize, so the compile cache is searched
  bool optimizes = false;      // programs are optimized for it unless asked otherwise
  std::string costs = "gpu";   // the cost table (opt/device_costs.h)
  uint32_t compute_units = 0;  // overrides the table; 0: uses the table
  /// The time of work that the device needs to raise its clocks after idling. Repeats of a run are
  /// preceded by as much work. 0: its clocks do not drop.
  uint64_t warm_up_ns = 0;
  std::string not_automatic;              // why `auto` skips it; "": it does not
  std::span<const DeviceOption> options;  // of this backend; a table that is never destroyed
  std::vector<std::pair<std::string, std::string>> properties;  // more for `vyre devices -v`
};

/// How the driver optimizes a program before the backend sees it. Not part of cache keys: they
/// contain the optimized program, which the code depends on.
struct Optimization {
  /// Unset: OpenOptions::passes, VYRE_PASSES, or else Release where the device optimizes.
  std::optional<opt::Profile> profile;
  /// These passes in this order, independent of selection; empty: no passes run.
  std::optional<std::vector<const opt::PassDescriptor*>> passes;
  std::shared_ptr<const opt::ProfileData> learnt;  // measurements of earlier runs
  uint64_t launch_bytes = 0;                       // of all buffers of the launch, if it is known
  bool keep_texts = false;                         // opt::ScheduleOptions::keep_texts, for reports
  /// For bisection: by kernel name, the number of pass runs after which optimization stops. Other
  /// kernels run all passes.
  std::map<std::string, uint64_t> stop_after;
  bool check_passes = false;  // check the program after every run of a pass
  bool operator==(const Optimization&) const = default;
};

/// The inputs of compilation besides the program. Part of cache keys.
struct CompileOptions {
  uint32_t subgroup_size = 0;  // 0: the device's default; a program that fixes one wins
  bool stoppable = true;       // poll the deadline at back-edges
  bool checked = false;        // the program passed check() (check/check.h); not part of the keys
  Optimization optimize;       // done before the backend compiles
  CompileLimits limits;        // not part of cache keys: code does not depend on them
  /// Options of the device: "schedule=reverse" (runtime/device_options.h). Sorted.
  std::vector<std::string> extra;
  bool operator==(const CompileOptions&) const = default;
};

/// Code on a device. Backends derive their kernels from it.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  /// Returns bytes that load_kernel() accepts, for the compile cache; empty: not worth keeping.
  virtual std::vector<std::byte> serialize() const { return {}; }
  uint32_t subgroup_size = 0;
  uint64_t compile_ns = 0;
  uint64_t emit_ns = 0;  // of it: from the program to the code that is compiled; 0: unknown
};

using MemoryHandle = uint64_t;
using SubmissionHandle = uint64_t;

/// Bytes in the memory of a device.
struct MemoryRange {
  MemoryHandle memory = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool operator==(const MemoryRange&) const = default;
};

/// Bytes of the host that a command reads or fills.
using Staging = std::shared_ptr<std::vector<std::byte>>;

struct DeviceCommand;
/// Commands that are run repeatedly: the same pointer means the same commands.
using CommandBody = std::shared_ptr<const std::vector<DeviceCommand>>;

struct DeviceUpload {
  MemoryRange to;
  Staging staging;
};

/// The backend assigns the bytes to `staging`; its capacity suffices, so that the host neither
/// allocates nor zeroes memory that the device then overwrites.
struct DeviceReadback {
  MemoryRange from;
  Staging staging;
};

struct DeviceCopy {
  MemoryRange to;
  MemoryHandle source = 0;
  uint64_t source_offset = 0;
};

struct DeviceFill {
  MemoryRange to;
  uint8_t value = 0;
};

/// A launch. Lists are indexed by buffer of the program.
struct DeviceLaunch {
  std::shared_ptr<const Program> program;
  std::shared_ptr<CompiledKernel> kernel;
  PublicIdMap<BufferId, MemoryHandle> buffers;
  PublicIdMap<BufferId, uint64_t> offsets;  // into the memory of each buffer, bytes; empty: 0
  PublicIdMap<BufferId, uint64_t> scalars;  // bits
  LaunchShape shape;
  /// The limit of bytes that its workgroups may take together, where the backend learns only at run
  /// time how many run at once; 0: the memory of the device.
  uint64_t working_limit = 0;
  /// The number of the program's workgroups in x that one workgroup of the launch executes
  /// (transform/coarsen.h). Only ceil(n / coarse) are needed, and more are harmless. The kernel
  /// receives `shape.num_workgroups`.
  uint32_t coarse = 1;
};

/// Runs `body` (fills, copies and launches) repeatedly, without the host: `rounds` times. If
/// `word.memory` is not 0, `rounds` is the maximum, and the loop ends when the 1, 2, 4 or 8 bytes
/// of `word` are all zero, tested before each iteration.
struct DeviceLoop {
  CommandBody body;
  uint64_t rounds = 0;
  MemoryRange word;
};

/// Runs `body` (fills, copies and launches) once. The same body will come again, so the backend may
/// cache its translation for the next command with that body.
struct DeviceReplay {
  CommandBody body;
};

/// One command; commands run in order.
struct DeviceCommand {
  enum class Kind : uint8_t { Upload, Readback, Copy, Fill, Launch, Loop, Replay };
  std::variant<DeviceUpload, DeviceReadback, DeviceCopy, DeviceFill, DeviceLaunch, DeviceLoop,
               DeviceReplay>
      what;
  /// True if it is timed separately. Adjacent commands that are not may share one time, which is
  /// reported for the first.
  bool timed = true;
  /// False for all commands of a submission: nothing is timed.
  bool measured = true;

  Kind kind() const { return Kind(what.index()); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&what);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&what);
  }
  /// Returns the commands of a Loop or Replay, else null.
  const std::vector<DeviceCommand>* body() const {
    if (const auto* loop = as<DeviceLoop>()) return loop->body.get();
    if (const auto* replay = as<DeviceReplay>()) return replay->body.get();
    return nullptr;
  }
  /// Returns the command at a position of the body; for commands without a body, the command
  /// itself.
  const DeviceCommand& inner(size_t inside) const { return body() ? (*body())[inside] : *this; }
};

struct Trap {
  uint32_t code = 0;
  std::array<uint32_t, 3> invocation = {0, 0, 0};
  OpId op = none;
};

/// How a submission ended.
struct SubmissionOutcome {
  enum class Kind : uint8_t { Done, Trapped, TimedOut, Failed } kind = Kind::Done;
  size_t command = 0;               // the one that failed; effects of later ones are ignored
  size_t inside = 0;                // if that has a body: the position in it
  Trap trap;                        // Trapped
  OpId stopped_at = none;           // TimedOut: the loop
  Diagnostics errors;               // Failed
  std::vector<uint64_t> device_ns;  // by command
  /// For Loops and Replays, in the order of the commands: how often the body was begun.
  std::vector<uint64_t> rounds;
};

class BackendDevice {
 public:
  virtual ~BackendDevice() = default;
  virtual const DeviceInfo& info() const = 0;

  /// Returns zeroed memory, or an error with numbers.
  virtual Result<MemoryHandle> allocate(uint64_t bytes) = 0;
  /// Frees memory that no submission uses any more.
  virtual void release(MemoryHandle memory) = 0;

  virtual Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                          const CompileOptions& options) = 0;
  /// Returns true if a program with grid barriers may be compiled as it is. Called if the limits
  /// say that some programs may.
  virtual bool has_native_barrier(const Program&) { return true; }
  /// Returns true if all workgroups of a launch of such a kernel run at once. Otherwise the driver
  /// runs the program split.
  virtual bool runs_at_once(const CompiledKernel&, const LaunchShape&) { return true; }
  /// Returns true if the launch may run coarsened. That requires a grid that the device supports as
  /// it is.
  virtual bool takes_coarse(const CompileOptions&, const LaunchShape&) { return true; }
  /// Returns the bytes that a launch takes besides its buffers, for the workgroups that run at
  /// once: shared and private arrays, and values that live across barriers. Saturates. Returns 0
  /// where a thread takes at most small_working_bytes, which count as the process's.
  virtual uint64_t working_bytes(const CompiledKernel&, const Program&, const LaunchShape&) {
    return 0;
  }
  static constexpr uint64_t small_working_bytes = 256 << 10;
  /// Loads bytes of serialize(); returns null if they are not usable (the kernel is then compiled
  /// anew).
  virtual std::shared_ptr<CompiledKernel> load_kernel(std::shared_ptr<const Program>,
                                                      const CompileOptions&,
                                                      std::span<const std::byte>) {
    return nullptr;
  }

  /// Returns the code that compile() produces for a program, to read; each instruction has the
  /// source location of its op. Returns nothing if the device runs the program itself. For people:
  /// it may take as long as compiling.
  virtual Result<std::optional<Listing>> list_code(const Program&, const CompileOptions&) {
    return std::optional<Listing>();
  }

  /// Begins the commands after everything submitted to the stream before, and after the submissions
  /// `after` (some may have been waited for). Streams are numbers from 0, created when first used.
  /// A launch that would begin past the deadline is a TimedOut.
  virtual Result<SubmissionHandle> submit(
      uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
      std::optional<std::chrono::steady_clock::time_point> deadline) = 0;
  /// Returns true if the submission has ended, also for one that was waited for.
  virtual bool is_done(SubmissionHandle submission) = 0;
  /// Returns the share of it that is done, from 0 to 1. An estimate suffices.
  virtual double progress(SubmissionHandle) { return 0; }
  /// Waits for the submission and forgets it: called once per submission.
  virtual SubmissionOutcome wait(SubmissionHandle submission) = 0;

  /// Called before the device is closed, when the outcome of its work is not needed: running
  /// launches end as soon as they can, done or not. Threads that wait for them are then released.
  virtual void stop() {}
};

/// One way to run programs. Stateless; devices are opened from it.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  /// Returns the available devices; or none, and in `why_none` the reason.
  virtual std::vector<DeviceInfo> probe(std::string* why_none) = 0;
  virtual Result<std::unique_ptr<BackendDevice>> open(uint32_t index) = 0;
};

}  // namespace vyre::driver
