#include "runtime/cuda/cuda_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace vyre::driver::cuda {

/// The contexts of one device in this process: those that share the current primary context.
struct Context::History {
  std::vector<Context*> retained;
  bool lost = false;  // the current primary context
  uint32_t open = 0;  // devices
};

namespace {

struct Histories {
  std::mutex mutex;
  std::map<std::pair<const Api*, int>, Context::History> of;
};

/// Never destroyed: devices may be closed while the process ends.
Histories& histories() {
  static auto& all = *new Histories();
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
    case Status::Unknown: return true;
    default: return false;
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
  release_lost(history);
  const Status s = made->retain();
  if (s == Status::Success) {
    history.lost = false;
    history.retained.push_back(made.get());
    ++history.open;
    made->is_open_ = true;
    return made;
  }
  if (history.lost && is_sticky(s))
    return diagnose(Code::DeviceLost, {},
                    fmt::format("{} was lost, and its primary context is still unusable, because "
                                "other code in this process holds it or the device failed: {}",
                                made->name, api.describe(s)))
        .with_fix("release the context in that code too, or start the process again");
  if (s == Status::OutOfMemory)
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("{} has no memory for the context of this process: {}", made->name,
                                api.describe(s)))
        .with_fix("end other programs that use the device");
  return diagnose(is_sticky(s) ? Code::DeviceLost : Code::DeviceFailed, {},
                  fmt::format("{} cannot be opened: {}", made->name, api.describe(s)))
      .with_fix("try again, or use another device");
}

Status Context::retain() {
  Status s = api.context_retain(&handle, device);
  if (s != Status::Success) return s;
  is_retained_ = true;
  size_t free = 0, total = 0;
  s = api.context_push(handle);
  if (s == Status::Success) {
    s = api.memory_info(&free, &total);
    ContextHandle ours = nullptr;
    api.context_pop(&ours);
  }
  if (s != Status::Success) release();
  return s;
}

void Context::release() {
  if (std::exchange(is_retained_, false)) api.context_release(device);
}

void Context::release_lost(History& history) {
  if (!history.lost || history.open > 0) return;
  for (Context* const context : std::exchange(history.retained, {})) {
    context->lose("its context was lost");
    context->release();
  }
}

void Context::close_device() {
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  if (!std::exchange(is_open_, false)) return;
  History& history = all.of[{&api, ordinal_}];
  --history.open;
  release_lost(history);
}

Context::~Context() {
  close_device();
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  std::erase(all.of[{&api, ordinal_}].retained, this);
  release();
}

void Context::lose(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (loss_.empty()) loss_ = std::move(why);
  }
  lost_.store(true, std::memory_order_release);
}

Diagnostic Context::loss() const {
  const std::lock_guard lock(mutex_);
  return diagnose(Code::DeviceLost, {}, fmt::format("{} was lost: {}", name, loss_))
      .with_fix("open the device again, or use another one; `dmesg` may say more");
}

Diagnostic Context::failed(Status status, std::string_view what) {
  if (is_lost()) return loss();
  if (is_sticky(status)) {
    lose(fmt::format("{}, while {}", api.describe(status), what));
    Histories& all = histories();
    const std::lock_guard lock(all.mutex);
    if (is_retained_) {
      History& history = all.of[{&api, ordinal_}];
      history.lost = true;
      release_lost(history);
    }
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
