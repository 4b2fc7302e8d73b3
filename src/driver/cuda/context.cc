#include "driver/cuda/context.h"

#include <fmt/format.h>

#include <map>

namespace vyre::driver::cuda {
namespace {

/// Of one device in this process. A reset destroys the context under everybody's feet: those that
/// were made before it must not touch the driver any more.
struct History {
  uint64_t resets = 0;
  bool lost = false;  // since the last reset
  uint32_t open = 0;  // devices
};

struct Histories {
  std::mutex mutex;
  std::map<std::pair<const Api*, int>, History> of;
};

Histories& histories() {
  static Histories all;
  return all;
}

}  // namespace

bool is_sticky(Status status) {
  switch (status) {
    case Status::Deinitialized:
    case Status::DeviceUnavailable:
    case Status::InvalidContext:
    case Status::EccUncorrectable:
    case Status::NvlinkUncorrectable:
    case Status::Contained:
    case Status::IllegalAddress:
    case Status::LaunchTimeout:
    case Status::ContextIsDestroyed:
    case Status::Assert:
    case Status::HardwareStackError:
    case Status::IllegalInstruction:
    case Status::MisalignedAddress:
    case Status::InvalidAddressSpace:
    case Status::InvalidPc:
    case Status::LaunchFailed:
    case Status::MpsRpcFailure:
    case Status::MpsClientTerminated:
    case Status::Unknown:
      return true;
    default:
      return false;
  }
}

Result<std::shared_ptr<Context>> Context::open(const Api& api, int ordinal, std::string name) {
  const std::shared_ptr<Context> made(new Context(api, std::move(name)));
  made->ordinal_ = ordinal;
  if (const Status s = api.device_get(&made->device, ordinal); s != Status::Success)
    return made->failed(s, "the device was opened");
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  History& history = all.of[{&api, ordinal}];
  if (history.lost && history.open > 0)
    return diagnose(Code::DeviceLost, {},
                    fmt::format("{} was lost, and {} that opened it before still {} it", made->name,
                                history.open == 1 ? "one" : fmt::format("{}", history.open),
                                history.open == 1 ? "has" : "have"))
        .with_fix("let go of the device that was lost, its tickets and graphs, then open it again");
  Status s = Status::Unknown;
  // What was wrong may show here only: then once more after a reset.
  for (int attempt = 0; attempt < 2 && is_sticky(s); ++attempt) {
    if (history.lost) {
      api.context_reset(made->device);  // whether it helps shows with the next call
      ++history.resets;
    }
    s = api.context_retain(&made->handle, made->device);
    history.lost = is_sticky(s);
  }
  made->resets_ = history.resets;
  if (s == Status::Success) {
    ++history.open;
    made->is_open_ = true;
    return made;
  }
  made->handle = nullptr;
  if (s == Status::OutOfMemory)
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("{} has no memory for the context of this process: {}", made->name,
                                api.describe(s)))
        .with_fix("end other programs that use the device");
  return diagnose(is_sticky(s) ? Code::DeviceLost : Code::DeviceFailed, {},
                  fmt::format("{} cannot be opened: {}", made->name, api.describe(s)))
      .with_fix("try again, or use another device");
}

void Context::close_device() {
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  if (std::exchange(is_open_, false)) --all.of[{&api, ordinal_}].open;
}

Context::~Context() {
  close_device();
  if (!handle) return;
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  if (all.of[{&api, ordinal_}].resets == resets_) api.context_release(device);
}

Diagnostic Context::loss() const {
  const std::lock_guard lock(mutex_);
  return diagnose(Code::DeviceLost, {}, fmt::format("{} was lost: {}", name, loss_))
      .with_fix("open the device again, or use another one; `dmesg` may say more");
}

Diagnostic Context::failed(Status status, std::string_view what) {
  if (is_lost()) return loss();
  if (is_sticky(status)) {
    {
      Histories& all = histories();
      const std::lock_guard lock(all.mutex);
      History& history = all.of[{&api, ordinal_}];
      if (history.resets == resets_) history.lost = true;
    }
    {
      const std::lock_guard lock(mutex_);
      if (loss_.empty()) loss_ = fmt::format("{}, while {}", api.describe(status), what);
    }
    lost_.store(true, std::memory_order_release);
    return loss();
  }
  const std::string text = fmt::format("{}: {}, while {}", name, api.describe(status), what);
  if (status == Status::OutOfMemory)
    return diagnose(Code::DeviceMemoryExceeded, {}, text)
        .with_fix("free buffers, or end other programs that use the device");
  if (status == Status::LaunchOutOfResources || status == Status::CooperativeLaunchTooLarge)
    return diagnose(Code::KernelTooLarge, {}, text)
        .with_fix("use smaller workgroups, or another device");
  return diagnose(Code::DeviceFailed, {}, text).with_fix("try again, or use another device");
}

}  // namespace vyre::driver::cuda
