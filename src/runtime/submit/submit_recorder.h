#pragma once

// Passes the commands of a submission to its backend in parts. Most submissions are one part. One
// with a script (a launch that was split at grid barriers, a graph) may have more: a loop that the
// host cannot count continues only when a word was read back from the device, and a loop with very
// many launches is not recorded as a whole. Internal to src/runtime.

#include <deque>

#include "plan/split/split_grid.h"
#include "plan/split/step_control.h"
#include "runtime/backend.h"

namespace vyre::driver {

struct ExecutableState;

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// The origin of a device command, for reports and errors.
struct CommandNote {
  DeviceCommand::Kind kind = DeviceCommand::Kind::Fill;  // the kind that its time counts for
  uint32_t command = 0;                                  // as submitted
  uint32_t segment = none;                               // of a split launch
  uint32_t node = none;                                  // of a graph: the call
  uint64_t call = 0;  // of a graph: 1 + the place of its time in SubmitReport::calls; 0: none
  const ExecutableState* executable = nullptr;  // if it is not the command's; kept by it
  // For a Loop or Replay: the notes of its body (except for the number of the command). For one of
  // a graph, `runs` says how often an iteration runs each node.
  std::shared_ptr<const std::vector<CommandNote>> body;
  std::shared_ptr<const std::vector<uint64_t>> runs;
};

/// Commands that go to the backend together.
struct Part {
  std::vector<DeviceCommand> commands;
  std::vector<CommandNote> notes;                  // by command
  std::shared_ptr<std::vector<std::byte>> polled;  // the words that decide how the script continues
  bool is_last = false;
  uint32_t launches = 0;  // without those in Loops
  Diagnostics errors;     // the deadline passed while the host counted: recording ends

  void add(DeviceCommand&& command, CommandNote&& note) {
    launches += note.kind == DeviceCommand::Kind::Launch;
    commands.push_back(std::move(command));
    notes.push_back(std::move(note));
  }
};

/// Commands of which some are known only after the host has read a word back.
class Script {
 public:
  Script() = default;
  Script(const Script&) = delete;
  virtual ~Script() = default;
  /// Adds commands to the part up to a word that must be read, Recorder::most_launches, or the end.
  /// Returns true at the end.
  virtual bool record(Part& part, uint32_t command, const Deadline& deadline,
                      double time_limit) = 0;
  /// Receives the words that were read.
  virtual void answer(std::span<const std::byte> polled) = 0;
};

/// A launch of an executable that runs split. `launch` includes the memory of the spill buffers,
/// and the counts of all buffers of a segment.
class SplitLaunch : public Script {
 public:
  SplitLaunch(std::shared_ptr<const ExecutableState> executable, DeviceLaunch launch, bool timed);
  bool record(Part& part, uint32_t command, const Deadline& deadline, double time_limit) override;
  void answer(std::span<const std::byte> polled) override;

 private:
  DeviceLaunch launch(const plan::StepControl::Action& action) const;
  DeviceReadback poll(uint32_t word) const;

  const std::shared_ptr<const ExecutableState> executable_;
  const DeviceLaunch launch_;
  const bool timed_;
  const LaunchShape shape_;    // of the program, without spill buffers
  const BufferId words_;       // the buffer that the host reads
  plan::StepControl control_;  // refers to the others
};

/// A launch of an executable: one command, or a script if it runs split. `bound` has memory,
/// scalars and the extended shape (memory_need.h).
using LaunchCommands = std::variant<DeviceCommand, std::unique_ptr<Script>>;
LaunchCommands make_launch(const std::shared_ptr<const ExecutableState>& executable,
                           DeviceLaunch bound, bool timed);

class Recorder {
 public:
  void add(uint32_t command, DeviceCommand device);
  void add(DeviceCommand device, CommandNote note);
  void add(uint32_t command, std::unique_ptr<Script> script);

  /// Reserves memory for about so many commands.
  void reserve(size_t commands);

  /// True if only commands were added, and no script.
  bool is_plain() const { return items_.empty(); }
  /// Returns the number of commands that were added before the first script.
  size_t size() const { return first_.commands.size(); }
  /// Removes and returns those commands from `from` on.
  Part cut(size_t from);

  /// Returns the next part: up to a word that must be read, `most_launches`, or the end.
  Part next(const Deadline& deadline, double time_limit);
  /// Passes on the words that the previous part has read.
  void answer(std::span<const std::byte> polled) { items_.front().script->answer(polled); }

  static constexpr uint32_t most_launches = 1024;
  static constexpr uint32_t most_commands = 8 * most_launches;
  /// The number of calls of a graph that record nothing after which a part ends.
  static constexpr uint32_t max_idle_calls = 4096;

 private:
  struct Item {
    uint32_t command = 0;
    DeviceCommand device;
    CommandNote note;
    std::unique_ptr<Script> script;  // instead of `device`
  };

  Part first_;  // the commands before the first script
  std::deque<Item> items_;
};

}  // namespace vyre::driver
