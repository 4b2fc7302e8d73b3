#pragma once

// What Device, Executable and Ticket share. Internal to src/driver.

#include <atomic>
#include <map>
#include <mutex>

#include "driver/device.h"

namespace vyre::driver {

struct ExecutableState {
  uint32_t device = 0;
  std::shared_ptr<const Program> program;
  std::shared_ptr<CompiledKernel> kernel;
  std::string_view origin = "compiled";
  uint64_t compile_ns = 0;
};

/// A submission under way. The report or the errors are there once `finished`.
struct TicketState {
  SubmissionHandle handle = 0;
  uint32_t stream = 0;
  // What the commands were, for the end.
  struct Out {
    std::shared_ptr<std::vector<std::byte>> staging;
    std::span<std::byte> to;
  };
  std::vector<Out> readbacks;
  std::vector<DeviceCommand::Kind> kinds;     // by device command
  std::vector<size_t> command_of;             // device command to command as submitted
  std::vector<Executable> executables;        // by command as submitted; empty but for launches
  std::vector<uint64_t> launch_bytes;         // the same
  std::vector<uint32_t> reads, writes;        // slots
  std::vector<MemoryHandle> temporaries;      // scratch of its launches
  uint64_t temporary_bytes = 0;
  SubmitReport report;
  double time_limit = 0;

  std::mutex mutex;
  bool finished = false;
  bool delivered = false;  // readbacks are in the caller's memory
  Diagnostics errors;
};

struct Slot {
  MemoryHandle memory = 0;
  uint64_t bytes = 0;
  uint32_t generation = 1;
  bool alive = false;
  bool undefined = false;
  uint32_t users = 0;  // submissions under way
  std::shared_ptr<TicketState> writer;                // the last one that writes it
  std::vector<std::shared_ptr<TicketState>> readers;  // since then
};

struct DeviceState {
  uint32_t id = 0;
  std::unique_ptr<BackendDevice> backend;
  OpenOptions options;
  std::string chosen_because;

  std::mutex mutex;  // guards what follows
  std::vector<Slot> slots;
  std::vector<uint32_t> free_slots;
  uint64_t used = 0;
  std::vector<std::shared_ptr<TicketState>> pending;

  /// Why a handle is no good here, or nothing.
  std::optional<Diagnostic> problem(const Buffer& b, bool must_be_defined);
  uint64_t limit() const { return options.memory_limit ? std::min(options.memory_limit, backend->info().limits.memory_bytes) : backend->info().limits.memory_bytes; }
  Result<MemoryHandle> take(uint64_t bytes, const std::string& what);
  /// Waits for the backend and lets go of the buffers. Once; others wait for it.
  void settle(TicketState& t);
  /// Settles what has ended by itself, so that tickets that nobody waits for do not pile up.
  void reap();
};

}  // namespace vyre::driver
