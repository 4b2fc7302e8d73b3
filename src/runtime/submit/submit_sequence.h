#pragma once

// Repeated launches: a program often submits the same launches on the same buffers many times. The
// device commands of such a run are then kept and submitted as a Replay, whose body the backend
// recognizes (backend.h): only the state of the buffers is checked, and nothing is recorded.
// Internal to src/runtime.

#include <deque>

#include "runtime/device.h"
#include "runtime/submit/submit_recorder.h"

namespace vyre::driver {

/// A run of launches in the backend's form. Never changes.
struct Sequence {
  /// A buffer, by the first launch that uses it.
  struct Use {
    Buffer buffer;
    uint32_t launch = 0;
    bool must_be_defined = true;
    bool is_read = false, is_written = false;  // by any
    bool is_redefined = false;                 // cleared by any
  };
  std::vector<Executable> executables;  // by launch
  std::vector<DeviceCommand> body;
  std::vector<CommandNote> notes;  // of the body; their executables are those above
  std::vector<Use> uses;
};

/// The most recently submitted runs. Guarded by the device's mutex.
class Sequences {
 public:
  /// The lengths of runs that are kept: shorter ones gain little; longer ones take much memory.
  static constexpr size_t fewest = 8, longest = 1024;

  struct Entry {
    std::vector<uint64_t> key;
    bool came_before = false;
    std::shared_ptr<const Sequence> sequence;  // if it was worth keeping
  };
  /// Returns the entry of these launches, which is valid until the next call.
  Entry& find(std::span<const Command> launches);

 private:
  static constexpr size_t most = 16;
  std::deque<Entry> entries_;  // the newest first
  std::vector<uint64_t> key_;  // of the launches that find() gets: its memory is reused
};

}  // namespace vyre::driver
