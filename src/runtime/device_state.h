#pragma once

// The state that Device, Executable and Ticket share. Internal to src/runtime.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "opt/analysis/full_writes.h"
#include "opt/opt_report.h"
#include "plan/split/split_grid.h"
#include "runtime/device.h"
#include "runtime/submit/submit_sequence.h"

namespace vyre::driver {

/// A program and its optimized form.
struct Optimized {
  std::vector<const opt::PassDescriptor*> passes;  // the selected passes
  uint64_t launch_bytes = 0;                       // the bytes of the launch that they assumed
  std::shared_ptr<const Program> given, program;   // the same if no pass ran
  uint64_t stop_after = ~uint64_t{0};              // opt::ScheduleOptions::stop_after
  bool has_texts = false;                          // the report keeps programs as text
  opt::FullWrites full_writes;                     // of `program`; proves nothing if no pass ran
  uint32_t coarse = 1;                             // DeviceLaunch::coarse; not 1: `program` is
  opt::RunReport report;
};

/// The mode in which launches of an executable run.
enum class ExecutionMode : uint8_t {
  Plain,        // as one kernel
  Coarsened,    // as one kernel whose workgroups do the work of several
  Cooperative,  // as one kernel whose workgroups wait for each other; not in loops or sequences
  Split         // as segments between its grid barriers
};

struct ExecutableState {
  struct Segment {
    std::shared_ptr<const Program> program;
    std::shared_ptr<CompiledKernel> kernel;
  };
  uint32_t device = 0;
  std::shared_ptr<const Program> given;    // by the caller
  std::shared_ptr<const Program> program;  // the optimized one, which the other members describe
  opt::RunReport optimizer;
  ExecutionMode mode = ExecutionMode::Plain;
  std::shared_ptr<const plan::SplitPlan> plan;  // Split
  std::vector<Segment> segments;                // in other modes one, the program itself
  opt::FullWrites full_writes;                  // of the program
  uint32_t subgroup_size = 0;
  CompileOptions options;  // that the backend was given
  uint32_t coarse = 1;     // DeviceLaunch::coarse; above 1 if Coarsened
  /// The same program in another mode for some launches. For a cooperative one: split, for more
  /// workgroups than run at once. For a small one: coarsened, for large grids. Created at its first
  /// use.
  struct Alternative {
    ExecutionMode mode = ExecutionMode::Split;
    uint32_t coarse = 1;  // of a coarsened one
    bool always = false;  // however small a launch is
    std::mutex mutex;
    Executable executable;
  };
  std::shared_ptr<Alternative> alternative;
  std::string_view origin = "compiled";
  uint64_t compile_ns = 0, optimize_ns = 0, emit_ns = 0;
};

/// A submission in progress.
///
/// It is `recorded` when the last of its commands is with the backend. Most are when submit()
/// returns. One that must wait for a word of the device, or for such a submission, is driven by the
/// thread of its stream (submit_drive.cc).
struct TicketState {
  // Set before it is shared.
  uint64_t number = 0;  // in the order of submission
  uint32_t stream = 0;
  double time_limit = 0;
  Deadline deadline;
  bool call_times = true, times = true;
  struct Out {
    std::shared_ptr<std::vector<std::byte>> staging;
    std::span<std::byte> to;
    std::vector<std::byte>* all = nullptr;  // takes the staging memory instead of a copy
  };
  std::vector<Out> readbacks;
  std::vector<Executable> executables;  // by command as submitted; empty but for launches
  std::vector<uint64_t> launch_bytes;   // the same
  std::vector<std::shared_ptr<const GraphState>> graphs;  // the same, for graphs
  std::vector<uint32_t> reads, writes;                    // slots
  std::vector<MemoryHandle> temporaries;  // scratch and spill buffers of its launches
  uint64_t temporary_bytes = 0;

  // Owned by the thread that records it, until it is recorded; then by the thread that settles it.
  Recorder recorder;
  Part part;  // the first one; then the notes of the current one
  SubmitReport report;
  /// Returns SubmitReport::graphs of a command.
  std::vector<uint64_t>& runs_of(uint32_t command, size_t nodes);

  // Guarded by the device's mutex.
  bool recorded = false;
  SubmissionHandle handle = 0;                      // of the last part
  std::optional<SubmissionOutcome> ended;           // set if it failed before the last part
  std::vector<std::shared_ptr<TicketState>> after;  // on other streams: to be recorded before
  struct Need {
    std::shared_ptr<TicketState> writer;
    uint32_t command = 0;
    uint64_t bytes = 0;
  };
  std::vector<Need> needs;  // writers whose failure invalidates our inputs

  std::mutex mutex;  // guards the end: one thread settles, others wait
  std::atomic<bool> finished{false};
  bool delivered = false;      // readbacks are in the caller's memory
  Diagnostics errors;          // fixed once finished
  bool out_of_memory = false;  // for the report or the errors; fixed once finished
  bool failed() const { return out_of_memory || !errors.empty(); }
};

struct Slot {
  MemoryHandle memory = 0;
  uint64_t bytes = 0;
  uint32_t generation = 1;
  bool alive = false;
  bool undefined = false;
  bool of_graph = false;                              // memory of a graph: handles are not accepted
  uint32_t users = 0;                                 // submissions under way
  std::shared_ptr<TicketState> writer;                // its last writer
  std::vector<std::shared_ptr<TicketState>> readers;  // since then, the last of each stream
};

struct StreamState {
  std::deque<std::shared_ptr<TicketState>> pending;  // not settled
  std::deque<std::shared_ptr<TicketState>> held;     // not recorded
  std::thread driver;                                // runs the held ones; created when needed
};

/// Memory of destroyed graphs, freed by a later call on the device. Graphs hold this and not the
/// device: a graph destroyed on a thread of the device must not be the last to hold the device.
struct Retired {
  std::mutex mutex;
  std::list<std::vector<Buffer>> buffers;  // guarded; of each graph, whose own list is moved here
};

/// Returns V0725: `what` was default-constructed or moved from.
Diagnostic empty_handle(std::string_view what, std::string fix);

struct DeviceState {
  uint32_t id = 0;
  std::unique_ptr<BackendDevice> backend;
  OpenOptions options;
  std::string chosen_because;
  CompileOptions standing;  // from the device's name: its subgroup size and extra options
  Backend* calibrates_barriers =
      nullptr;  // not null: calibration chooses the form of grid barriers
  std::optional<std::vector<const opt::PassDescriptor*>> passes;  // of OpenOptions or VYRE_PASSES

  std::mutex mutex;  // guards the following members
  std::condition_variable changed;
  std::atomic<bool> closing{false};  // set with the mutex held
  std::vector<Slot> slots;
  std::vector<uint32_t> free_slots;
  uint64_t used = 0;
  uint64_t peak = 0;  // of `used`
  uint64_t submitted = 0;
  std::map<uint32_t, StreamState> streams;
  /// Kernels in use, by cache key: a hit in memory then loads nothing.
  std::map<std::string, std::weak_ptr<CompiledKernel>> alive;
  size_t alive_sweep = 64;  // the number of entries at which expired ones are dropped
  /// The most recently optimized programs, the newest first: compiling one again runs no pass.
  std::deque<std::shared_ptr<const Optimized>> optimized;
  /// The programs that most recently passed check(), the newest first: they are not checked again.
  std::deque<std::shared_ptr<const Program>> checked;

  Sequences sequences;

  const std::shared_ptr<Retired> retired = std::make_shared<Retired>();

  ~DeviceState();

  /// Returns the options of a compile, completed by those of the device's name.
  CompileOptions completed(CompileOptions options) const;

  /// compile/compile_pipeline.cc
  Result<Executable> compile(const Optimized& optimized, uint64_t optimize_ns,
                             const CompileOptions& options, ExecutionMode mode,
                             std::shared_ptr<ExecutableState::Alternative> other = nullptr);
  /// Returns the executable that a launch of this shape needs: itself, or its alternative.
  Result<Executable> fitting(const Executable& executable, const LaunchShape& shape);

  /// compile/optimize_program.cc
  Result<std::shared_ptr<const Optimized>> optimize(const Program& program,
                                                    const CompileOptions& options);

  /// Returns the errors of check(); does not check a program again that passed recently.
  Result<> check_once(const Program& program);

  /// True if compiles with these options run passes, whatever the program is.
  bool runs_passes(const CompileOptions& options) const;

  /// Returns why a handle cannot be used on this device, or nothing. For a buffer: with the mutex
  /// held.
  std::optional<Diagnostic> problem(const Buffer& b, bool must_be_defined);
  std::optional<Diagnostic> problem(const Executable& e) const;
  uint64_t limit() const {
    const uint64_t all = backend->info().limits.memory_bytes;
    return options.memory_limit ? std::min(options.memory_limit, all) : all;
  }
  /// Allocates memory. With the mutex held.
  Result<MemoryHandle> take(uint64_t bytes, const std::string& what);

  Result<std::shared_ptr<TicketState>> submit(const std::vector<Command>& commands,
                                              const SubmitOptions& options);
  /// Submits it to the backend at once if possible, else passes it to the thread of its stream.
  /// With the mutex held.
  Result<> begin(const std::shared_ptr<TicketState>& ticket);
  /// Holds it for the thread of its stream. With the mutex held.
  void hold(std::shared_ptr<TicketState> ticket);
  /// Adds the times of a part.
  static void account(TicketState& t, const SubmissionOutcome& outcome);

  /// Waits for the backend and releases the buffers. Runs once; other threads wait for it.
  void settle(const std::shared_ptr<TicketState>& t);
  /// Settles submissions that have ended, so that tickets that are not waited for do not
  /// accumulate.
  void reap();
  void reap_if_many();
  void free_retired();
  /// Allocates memory for the caller, or for a graph.
  Result<Buffer> allocate(uint64_t bytes, bool of_graph);
  /// Frees a buffer that is not in use. With the mutex held.
  void give_back(const Buffer& buffer);
  void finish();
  bool is_done(const TicketState& t);
  double progress(const TicketState& t);

 private:
  void work(StreamState& stream);
  std::optional<SubmissionOutcome> drive(TicketState& t, std::vector<SubmissionHandle> after,
                                         SubmissionHandle& last);
  SubmissionOutcome outcome_of(TicketState& t);
  void settle_one(TicketState& t);
  void settle_up_to(uint64_t number);
  void conclude(TicketState& t, SubmissionOutcome& o, std::vector<LaunchSample>& samples);
  void let_go(TicketState& t, bool ok);
};

}  // namespace vyre::driver
