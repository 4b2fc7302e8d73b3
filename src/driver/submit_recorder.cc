#include "driver/submit_recorder.h"

#include <fmt/format.h>

#include "driver/device_state.h"

namespace vyre::driver {

using Kind = DeviceCommand::Kind;

SplitLaunch::SplitLaunch(std::shared_ptr<const ExecutableState> executable, LaunchShape shape,
                         DeviceCommand command, MemoryHandle words)
    : executable_(std::move(executable)),
      shape_(std::move(shape)),
      command_(std::move(command)),
      words_(words),
      control_(*executable_->plan, {executable_->program.get(), &shape_, command_.scalars,
                                    executable_->subgroup_size}) {}

DeviceCommand SplitLaunch::launch(uint32_t segment) const {
  DeviceCommand c = command_;
  c.program = executable_->segments[segment].program;
  c.kernel = executable_->segments[segment].kernel;
  return c;
}

DeviceCommand SplitLaunch::poll(uint32_t word) const {
  DeviceCommand c;
  c.kind = Kind::Readback;
  c.memory = words_;
  c.offset = uint64_t{word} * 4;
  c.bytes = 4;
  c.staging = std::make_shared<std::vector<std::byte>>(4);
  return c;
}

void Recorder::add(uint32_t command, DeviceCommand device) {
  items_.push_back({command, std::move(device), nullptr});
}

void Recorder::add(uint32_t command, std::unique_ptr<SplitLaunch> split) {
  items_.push_back({command, {}, std::move(split)});
}

Part Recorder::next(const Deadline& deadline, double time_limit) {
  Part part;
  part.commands.reserve(items_.size());
  part.notes.reserve(items_.size());
  while (!items_.empty()) {
    Item& item = items_.front();
    if (item.split) {
      if (!walk(item, part, deadline, time_limit)) return part;
    } else {
      part.launches += item.device.kind == Kind::Launch;
      part.notes.push_back({item.device.kind, item.command, none});
      part.commands.push_back(std::move(item.device));
    }
    items_.pop_front();
  }
  part.is_last = true;
  return part;
}

bool Recorder::walk(Item& item, Part& part, const Deadline& deadline, double time_limit) {
  using Step = plan::StepControl::Kind;
  SplitLaunch& split = *item.split;
  while (part.launches < most_launches) {
    const plan::StepControl::Action action = split.control().next();
    switch (action.kind) {
      case Step::Done:
        return true;
      case Step::Launch:
        ++part.launches;
        part.notes.push_back({Kind::Launch, item.command, action.segment});
        part.commands.push_back(split.launch(action.segment));
        break;
      case Step::Poll:
        part.notes.push_back({Kind::Launch, item.command, none});
        part.commands.push_back(split.poll(action.word));
        part.polled = part.commands.back().staging;
        return false;
      case Step::Pause:
        if (deadline && std::chrono::steady_clock::now() >= *deadline) {
          const Program& p = *split.executable().program;
          part.errors.push_back(
              diagnose(
                  Code::TimeLimitExceeded, p.place(p.loc),
                  fmt::format("kernel `{}` was still running after {} seconds", p.name, time_limit))
                  .with_fix("raise the time limit, or make the loop end"));
        }
        return false;  // what there is may begin meanwhile, and the caller is not kept
    }
  }
  return false;
}

}  // namespace vyre::driver
