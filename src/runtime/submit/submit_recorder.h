#pragma once

// What a submission gives to its backend, piece by piece. Most submissions are one part. One with
// a script (a launch that was split at grid barriers, a graph) may be more: a loop that the host
// cannot count goes on only when something was read back from the device, and a loop of very many
// launches is not recorded as a whole. Internal to src/runtime.

#include <deque>

#include "plan/split/split_grid.h"
#include "plan/split/step_control.h"
#include "runtime/backend.h"

namespace vyre::driver {

struct ExecutableState;

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// What a device command was, for reports and errors.
struct CommandNote {
  DeviceCommand::Kind kind = DeviceCommand::Kind::Fill;  // whose time its time is
  uint32_t command = 0;                                  // as submitted
  uint32_t segment = none;                               // of a split launch
  uint32_t node = none;                                  // of a graph: the call
  uint64_t call = 0;  // of a graph: 1 + the place of its time in SubmitReport::calls; 0: none
  const ExecutableState* executable = nullptr;  // if it is not the command's; kept by it
  // Of a Loop or Replay: what is in its body (but for the number of the command); and if it is one
  // of a graph, how often a round runs each node.
  std::shared_ptr<const std::vector<CommandNote>> body;
  std::shared_ptr<const std::vector<uint64_t>> runs;
};

/// Commands that go to the backend together.
struct Part {
  std::vector<DeviceCommand> commands;
  std::vector<CommandNote> notes;                  // by command
  std::shared_ptr<std::vector<std::byte>> polled;  // what decides how it goes on
  bool is_last = false;
  uint32_t launches = 0;  // without those in Loops
  Diagnostics errors;     // the time was over while the host counted: nothing more is done

  void add(DeviceCommand&& command, CommandNote&& note) {
    launches += note.kind == DeviceCommand::Kind::Launch;
    commands.push_back(std::move(command));
    notes.push_back(std::move(note));
  }
};

/// Commands of which some are known only when the host has read something back.
class Script {
 public:
  Script() = default;
  Script(const Script&) = delete;
  virtual ~Script() = default;
  /// Adds to the part up to something that must be read, Recorder::most_launches, or the end. True:
  /// that was all.
  virtual bool record(Part& part, uint32_t command, const Deadline& deadline,
                      double time_limit) = 0;
  /// What was read.
  virtual void answer(std::span<const std::byte> polled) = 0;
};

/// A launch of an executable that runs split. `launch` has the memory of the spill buffers too, and
/// the counts of all buffers of a segment.
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

  /// So many commands will come, about.
  void reserve(size_t commands);

  /// Only commands were added.
  bool is_plain() const { return items_.empty(); }
  /// Of those that were added before the first script.
  size_t size() const { return first_.commands.size(); }
  /// Takes back those of them from here on.
  Part cut(size_t from);

  /// Up to something that must be read, `most_launches`, or the end.
  Part next(const Deadline& deadline, double time_limit);
  /// What the part before has read.
  void answer(std::span<const std::byte> polled) { items_.front().script->answer(polled); }

  static constexpr uint32_t most_launches = 1024;
  static constexpr uint32_t most_commands = 8 * most_launches;
  /// Calls of a graph that record nothing before a part ends.
  static constexpr uint32_t max_idle_calls = 4096;

 private:
  struct Item {
    uint32_t command = 0;
    DeviceCommand device;
    CommandNote note;
    std::unique_ptr<Script> script;  // instead of `device`
  };

  Part first_;  // what comes before the first script
  std::deque<Item> items_;
};

}  // namespace vyre::driver
