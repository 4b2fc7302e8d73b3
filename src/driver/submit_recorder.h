#pragma once

// What a submission gives to its backend, piece by piece. Most submissions are one part. One with
// a launch that was split at grid barriers may be more: a loop that the host cannot count goes on
// only when a word was read back from the device, and a loop of very many launches is not recorded
// as a whole. Internal to src/driver.

#include <deque>

#include "driver/backend.h"
#include "plan/split_grid.h"
#include "plan/step_control.h"

namespace vyre::driver {

struct ExecutableState;

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// What a device command was, for reports and errors.
struct CommandNote {
  DeviceCommand::Kind kind = DeviceCommand::Kind::Fill;  // whose time its time is
  uint32_t command = 0;                                  // as submitted
  uint32_t segment = none;                               // of a split launch
};

/// Commands that go to the backend together.
struct Part {
  std::vector<DeviceCommand> commands;
  std::vector<CommandNote> notes;                  // by command
  std::shared_ptr<std::vector<std::byte>> polled;  // the word that decides how it goes on
  bool is_last = false;
  uint32_t launches = 0;
  Diagnostics errors;  // the time was over while the host counted: nothing more is done
};

/// A launch of an executable with a plan. `command` has the memory of the hidden buffers too, and
/// the counts of all; `words` is the buffer that the host reads.
class SplitLaunch {
 public:
  SplitLaunch(std::shared_ptr<const ExecutableState> executable, LaunchShape shape,
              DeviceCommand command, MemoryHandle words);
  SplitLaunch(const SplitLaunch&) = delete;

  plan::StepControl& control() { return control_; }
  DeviceCommand launch(uint32_t segment) const;
  DeviceCommand poll(uint32_t word) const;
  const ExecutableState& executable() const { return *executable_; }

 private:
  const std::shared_ptr<const ExecutableState> executable_;
  const LaunchShape shape_;  // of the program, without hidden buffers
  const DeviceCommand command_;
  const MemoryHandle words_;
  plan::StepControl control_;  // refers to the others
};

class Recorder {
 public:
  void add(uint32_t command, DeviceCommand device);
  void add(uint32_t command, std::unique_ptr<SplitLaunch> split);

  /// Up to a word that must be read, `most_launches`, or the end.
  Part next(const Deadline& deadline, double time_limit);
  /// What the word of the part before says: does the loop go on?
  void answer(bool goes_on) { items_.front().split->control().answer(goes_on); }

  static constexpr uint32_t most_launches = 1024;

 private:
  struct Item {
    uint32_t command = 0;
    DeviceCommand device;
    std::unique_ptr<SplitLaunch> split;  // instead of `device`
  };
  /// False if the part ends here.
  bool walk(Item& item, Part& part, const Deadline& deadline, double time_limit);

  std::deque<Item> items_;
};

}  // namespace vyre::driver
