#include "runtime/cuda/stop_flags.h"

#include <algorithm>

namespace vyre::driver::cuda {
namespace {

/// Each flag has a cache line, so that polls of one launch do not share it with writes for another.
constexpr size_t flag_stride = 128, flags_per_page = 64;

}  // namespace

StopFlags::~StopFlags() {
  if (context_->is_lost()) return;
  const Current current(*context_);
  const Api& api = context_->api;
  if (stream_) {
    api.stream_synchronize(stream_);
    api.stream_destroy(stream_);
  }
  if (values_) api.host_free(values_);
  for (const Page& page : pages_) memory_.release(page.device);
}

/// Creates the stream and the pinned values, once. The stream has the highest priority: streams of
/// one priority may share a hardware queue, and a write must not wait for a kernel.
Result<> StopFlags::start() {
  const Api& api = context_->api;
  Diagnostics errors;
  if (!values_) {
    void* memory = nullptr;
    if (!context_->check(api.host_allocate(&memory, 2 * sizeof(uint32_t), host_alloc_portable),
                         "host memory for stop flags was allocated", errors))
      return errors;
    values_ = static_cast<uint32_t*>(memory);
    values_[0] = 0;
    values_[1] = 1;
  }
  if (stream_) return Ok{};
  int least = 0, greatest = 0;
  const bool has_priorities = api.stream_create_with_priority && api.stream_priorities &&
                              api.stream_priorities(&least, &greatest) == Status::Success;
  StreamHandle made = nullptr;
  Status s = Status::NotSupported;
  if (has_priorities) s = api.stream_create_with_priority(&made, stream_non_blocking, greatest);
  if (s != Status::Success) s = api.stream_create(&made, stream_non_blocking);
  if (!context_->check(s, "the stream of stop flags was created", errors)) return errors;
  stream_ = made;
  return Ok{};
}

Result<> StopFlags::add_page() {
  if (Result<> started = start(); !started) return started;
  const Result<DevicePointer> device = memory_.allocate(flag_stride * flags_per_page);
  if (!device) return device.errors();
  // The zeros are written on the memory's stream; flags are used on others.
  if (const Status s = context_->api.stream_synchronize(memory_.stream()); s != Status::Success) {
    Diagnostic failed = context_->failed(s, "stop flags were allocated");
    memory_.release(*device);
    return failed;
  }
  pages_.push_back({*device, std::make_unique<std::atomic<uint32_t>[]>(flags_per_page)});
  for (size_t i = 0; i < flags_per_page; ++i) {
    free_.push_back({&pages_.back().host[i], *device + i * flag_stride});
    all_.push_back(free_.back());
  }
  return Ok{};
}

Result<StopFlag> StopFlags::take() {
  StopFlag flag;
  {
    const Current current(*context_);
    const std::lock_guard lock(mutex_);
    if (free_.empty())
      if (Result<> added = add_page(); !added) return added.errors();
    flag = free_.back();
    free_.pop_back();
  }
  if (Result<> cleared = clear(flag); !cleared) {
    give_back(flag);
    return cleared.errors();
  }
  return flag;
}

void StopFlags::give_back(const StopFlag& flag) {
  const std::lock_guard lock(mutex_);
  free_.push_back(flag);
}

Result<> StopFlags::clear(const StopFlag& flag) {
  {
    const std::lock_guard lock(mutex_);
    if (all_set_) {
      set(flag);
      return Ok{};
    }
  }
  if (!flag.host->load(std::memory_order_relaxed)) return Ok{};
  if (context_->is_lost()) return context_->loss();
  const Current current(*context_);
  // After the write that set it: both are on the same stream.
  Status s = write(flag.device, 0);
  if (s == Status::Success) s = context_->api.stream_synchronize(stream_);
  if (s != Status::Success) return context_->failed(s, "a stop flag was cleared");
  flag.host->store(0, std::memory_order_relaxed);
  return Ok{};
}

void StopFlags::set(const StopFlag& flag) {
  flag.host->store(1, std::memory_order_relaxed);
  if (context_->is_lost()) return;
  const Current current(*context_);
  const Status s = write(flag.device, 1);
  if (s != Status::Success)
    context_->failed(is_sticky(s) ? s : Status::Unknown, "a stop flag was set");
}

void StopFlags::set_all() {
  const std::lock_guard lock(mutex_);
  all_set_ = true;
  for (const StopFlag& flag : all_) {
    const bool is_free = std::any_of(free_.begin(), free_.end(),
                                     [&](const StopFlag& f) { return f.device == flag.device; });
    if (!is_free && !flag.host->load(std::memory_order_relaxed)) set(flag);
  }
}

/// A memset is not used: it may be a kernel, which would wait for the launch that must stop.
Status StopFlags::write(DevicePointer flag, uint32_t value) {
  const Api& api = context_->api;
  if (api.stream_write_value && !copies_) {
    const Status s = api.stream_write_value(stream_, flag, value, 0);
    if (s == Status::Success || is_sticky(s)) return s;
    copies_ = true;  // refused: as a driver without the function
  }
  return api.copy_to_device(flag, values_ + value, sizeof(uint32_t), stream_);
}

}  // namespace vyre::driver::cuda
