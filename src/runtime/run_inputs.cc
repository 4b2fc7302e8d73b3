#include "runtime/run_inputs.h"

#include <memory>
#include <utility>

namespace vyre::driver {

void RunInputs::add(Role role, const Buffer& to,
                    std::span<const std::optional<std::vector<std::byte>>> data, size_t i) {
  if (role == Role::Out && options_.dirty_outputs) {
    first_.push_back(Fill{to, dirty_byte});
    next_.push_back(Fill{to, dirty_byte});
  }
  if (!is_host_input(role)) return;
  first_.push_back(Upload{to, *data[i]});
  if (role == Role::InOut) changed_.push_back({to, &*data[i]});
}

std::vector<Command> RunInputs::next(uint64_t spare) {
  if (std::exchange(prepared_, true)) return next_;
  std::vector<Command> commands = next_;
  for (const Changed& c : changed_) {
    const uint64_t bytes = c.data->size();
    if (std::optional<Buffer> copy = make_copy(bytes, spare)) {
      commands.push_back(Upload{*copy, *c.data});
      next_.push_back(Copy{c.buffer, *copy, bytes});
    } else {
      next_.push_back(UploadAll{c.buffer, std::make_shared<std::vector<std::byte>>(*c.data)});
    }
    commands.push_back(next_.back());
  }
  return commands;
}

std::vector<Command> RunInputs::repeated(uint64_t spare, const Command& launch, uint32_t count) {
  std::vector<Command> commands;
  for (uint32_t i = 0; i < count; ++i) {
    for (Command& c : next(spare)) commands.push_back(std::move(c));
    commands.push_back(launch);
  }
  return commands;
}

std::optional<Buffer> RunInputs::make_copy(uint64_t bytes, uint64_t& spare) {
  if (bytes > spare) return std::nullopt;
  const Result<Buffer> made = owner_.allocate(bytes);
  if (!made) return std::nullopt;
  spare -= bytes;
  return *made;
}

}  // namespace vyre::driver
