#pragma once

// Launches that come again: a program often submits the same launches on the same buffers over and
// over. What a run of them becomes for the backend is then kept and given to it as a Replay, whose
// body it knows again (backend.h): nothing is checked but that the buffers are as they
// must be, and nothing is recorded. Internal to src/runtime.

#include <deque>

#include "runtime/device.h"
#include "runtime/submit/submit_recorder.h"

namespace vyre::driver {

/// A run of launches as the backend has it. Never changes.
struct Sequence {
  /// A buffer, by the first launch that has it.
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

/// The runs that were submitted last. Guarded by the device's mutex.
class Sequences {
 public:
  /// Shorter ones gain little; longer ones are much to keep.
  static constexpr size_t fewest = 8, longest = 1024;

  struct Entry {
    std::vector<uint64_t> key;
    bool came_before = false;
    std::shared_ptr<const Sequence> sequence;  // if it was worth keeping
  };
  /// The entry of these launches, which is valid until the next call.
  Entry& find(std::span<const Command> launches);

 private:
  static constexpr size_t most = 16;
  std::deque<Entry> entries_;  // the newest first
  std::vector<uint64_t> key_;  // of the launches that are looked for: its room is used again
};

}  // namespace vyre::driver
