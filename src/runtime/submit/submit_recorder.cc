#include "runtime/submit/submit_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/device_state.h"

namespace vyre::driver {

using Kind = DeviceCommand::Kind;

namespace {

/// The scalars that the host sets at each launch come after all other buffers.
DeviceLaunch with_parameters(DeviceLaunch launch, size_t count) {
  launch.buffers.resize(launch.buffers.size() + count);
  launch.scalars.resize(launch.buffers.size());
  if (!launch.offsets.empty()) launch.offsets.resize(launch.buffers.size());
  return launch;
}

LaunchShape without_spill_buffers(LaunchShape shape, const Program& program) {
  shape.counts.resize(program.buffers.size());
  return shape;
}

/// Returns the buffer of the words that the host reads to control a split launch.
BufferId words_of(const ExecutableState& e) {
  BufferId words{0};
  for (uint32_t i = 0; i < e.plan->hidden.size(); ++i)
    if (e.plan->hidden[i].rate == plan::HiddenBuffer::Rate::Once)
      words = e.program->buffers.next_id() + i;
  return words;
}

}  // namespace

SplitLaunch::SplitLaunch(std::shared_ptr<const ExecutableState> executable, DeviceLaunch launch,
                         bool timed)
    : executable_(std::move(executable)),
      launch_(with_parameters(std::move(launch), executable_->plan->parameters.size())),
      timed_(timed),
      shape_(without_spill_buffers(launch_.shape, *executable_->program)),
      words_(words_of(*executable_)),
      control_(*executable_->plan,
               {executable_->program.get(), &shape_, launch_.scalars, executable_->subgroup_size}) {
}

DeviceLaunch SplitLaunch::launch(const plan::StepControl::Action& action) const {
  DeviceLaunch c = launch_;
  c.program = executable_->segments[action.segment].program;
  c.kernel = executable_->segments[action.segment].kernel;
  std::copy(action.parameters.begin(), action.parameters.end(),
            c.scalars.end() - static_cast<ptrdiff_t>(action.parameters.size()));
  return c;
}

DeviceReadback SplitLaunch::poll(uint32_t word) const {
  const uint64_t offset = launch_.offsets.contains(words_) ? launch_.offsets[words_] : 0;
  return {{launch_.buffers[words_], offset + uint64_t{word} * 4, 4},
          std::make_shared<std::vector<std::byte>>(4)};
}

LaunchCommands make_launch(const std::shared_ptr<const ExecutableState>& executable,
                           DeviceLaunch bound, bool timed) {
  if (executable->mode == ExecutionMode::Split)
    return std::make_unique<SplitLaunch>(executable, std::move(bound), timed);
  bound.program = executable->segments[0].program;
  bound.kernel = executable->segments[0].kernel;
  bound.coarse = executable->coarse;
  return DeviceCommand{std::move(bound), timed};
}

void Recorder::add(uint32_t command, DeviceCommand device) {
  CommandNote note;
  note.kind = device.kind();
  note.command = command;
  add(std::move(device), std::move(note));
}

void Recorder::add(DeviceCommand device, CommandNote note) {
  if (items_.empty()) return first_.add(std::move(device), std::move(note));
  const uint32_t command = note.command;
  items_.push_back({command, std::move(device), std::move(note), nullptr});
}

void Recorder::add(uint32_t command, std::unique_ptr<Script> script) {
  items_.push_back({command, {}, {}, std::move(script)});
}

void Recorder::reserve(size_t commands) {
  first_.commands.reserve(commands);
  first_.notes.reserve(commands);
}

Part Recorder::cut(size_t from) {
  Part part;
  for (size_t i = from; i < first_.commands.size(); ++i)
    part.add(std::move(first_.commands[i]), std::move(first_.notes[i]));
  first_.commands.resize(from);
  first_.notes.resize(from);
  first_.launches -= part.launches;
  return part;
}

Part Recorder::next(const Deadline& deadline, double time_limit) {
  Part part = std::exchange(first_, {});
  while (!items_.empty()) {
    Item& item = items_.front();
    if (item.script) {
      if (!item.script->record(part, item.command, deadline, time_limit)) return part;
    } else {
      part.add(std::move(item.device), std::move(item.note));
    }
    items_.pop_front();
  }
  part.is_last = true;
  return part;
}

bool SplitLaunch::record(Part& part, uint32_t command, const Deadline& deadline,
                         double time_limit) {
  using Step = plan::StepControl::Kind;
  const auto note = [&](uint32_t segment) {
    CommandNote n;
    n.kind = Kind::Launch;
    n.command = command;
    n.segment = segment;
    n.executable = executable_.get();
    part.notes.push_back(n);
  };
  while (part.launches < Recorder::most_launches) {
    const plan::StepControl::Action action = control_.next();
    switch (action.kind) {
      case Step::Done: return true;
      case Step::Launch:
        ++part.launches;
        note(action.segment);
        part.commands.push_back({launch(action), timed_});
        break;
      case Step::Poll: {
        note(none);
        DeviceReadback word = poll(action.word);
        part.polled = word.staging;
        part.commands.push_back({std::move(word)});
        return false;
      }
      case Step::Pause:
        if (deadline && std::chrono::steady_clock::now() >= *deadline) {
          const Program& p = *executable_->program;
          part.errors.push_back(
              diagnose(
                  Code::TimeLimitExceeded, p.place(p.loc),
                  fmt::format("kernel `{}` was still running after {} seconds", p.name, time_limit))
                  .with_fix("raise the time limit, or make the loop end"));
        }
        return false;  // submits the recorded commands and returns to the caller
    }
  }
  return false;
}

void SplitLaunch::answer(std::span<const std::byte> polled) {
  uint32_t word = 0;
  std::memcpy(&word, polled.data(), sizeof word);
  control_.answer(word != 0);
}

}  // namespace vyre::driver
