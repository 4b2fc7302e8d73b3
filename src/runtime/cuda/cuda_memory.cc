#include "runtime/cuda/cuda_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::driver::cuda {
namespace {

constexpr uint64_t smallest = 256;

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<Context> context, bool use_pool)
    : context_(std::move(context)), use_pool_(use_pool) {}

DeviceMemory::~DeviceMemory() {
  if (context_->is_lost()) return;
  const Current current(*context_);
  const Api& api = context_->api;
  for (const DevicePointer memory : live_) free(memory);
  if (pool_ && api.pool_trim && api.stream_synchronize(stream_) == Status::Success)
    api.pool_trim(pool_, 0);  // other owners may keep the context alive
  if (fence_) api.event_destroy(fence_);
  if (stream_) api.stream_destroy(stream_);
}

Result<> DeviceMemory::start() {
  const Api& api = context_->api;
  const Current current(*context_);
  Diagnostics errors;
  if (!context_->check(api.stream_create(&stream_, stream_non_blocking), "a stream was made",
                       errors) ||
      !context_->check(api.event_create(&fence_, event_disable_timing), "an event was made",
                       errors))
    return errors;
  if (use_pool_ && api.pool_of_device(&pool_, context_->device) == Status::Success) {
    uint64_t keep = ~uint64_t{0};  // return nothing to the system until this object is destroyed
    api.pool_set(pool_, pool_release_threshold, &keep);
  }
  return Ok{};
}

Status DeviceMemory::take(DevicePointer& memory, uint64_t bytes) {
  const Api& api = context_->api;
  return pool_ ? api.pool_allocate(&memory, bytes, stream_) : api.memory_allocate(&memory, bytes);
}

Result<DevicePointer> DeviceMemory::allocate(uint64_t bytes) {
  if (context_->is_lost()) return context_->loss();
  const Api& api = context_->api;
  const Current current(*context_);
  const uint64_t rounded = std::max((bytes + 3) / 4 * 4, smallest);
  DevicePointer memory = 0;
  Status s = take(memory, rounded);
  if (s == Status::OutOfMemory && pool_) {
    // The pool may hold pieces that are too small individually.
    api.stream_synchronize(stream_);
    if (api.pool_trim) api.pool_trim(pool_, 0);
    s = take(memory, rounded);
  }
  if (s == Status::OutOfMemory) return no_memory(bytes);
  if (s != Status::Success)
    return context_->failed(s, fmt::format("{} bytes were allocated", bytes));
  s = api.fill_words(memory, 0, rounded / 4, stream_);
  if (s == Status::Success) s = advance();
  if (s == Status::Success) {
    const std::lock_guard lock(mutex_);
    live_.insert(memory);
    return memory;
  }
  Diagnostic d = context_->failed(s, fmt::format("{} bytes were cleared", bytes));
  if (!context_->is_lost()) free(memory);
  return d;
}

Diagnostic DeviceMemory::no_memory(uint64_t bytes) {
  size_t free = 0, total = 0;
  context_->api.memory_info(&free, &total);
  return diagnose(Code::DeviceMemoryExceeded, {},
                  fmt::format("{} bytes were asked for; {} of {} bytes are free on {}", bytes, free,
                              total, context_->name))
      .with_fix("free buffers, ask for less, or end other programs that use the device");
}

void DeviceMemory::release(DevicePointer memory) {
  if (context_->is_lost()) return;
  const Current current(*context_);
  {
    const std::lock_guard lock(mutex_);
    live_.erase(memory);
  }
  free(memory);
}

void DeviceMemory::free(DevicePointer memory) {
  const Api& api = context_->api;
  if (!pool_) api.stream_synchronize(stream_);  // the clearing may still be in progress
  const Status s = pool_ ? api.pool_free(memory, stream_) : api.memory_free(memory);
  if (s != Status::Success) context_->failed(s, "memory was freed");
}

Status DeviceMemory::advance() {
  const std::lock_guard lock(mutex_);
  const Status s = context_->api.event_record(fence_, stream_);
  if (s == Status::Success) ++epoch_;
  return s;
}

Status DeviceMemory::order(StreamHandle stream, uint64_t& seen) {
  const std::lock_guard lock(mutex_);
  if (seen == epoch_) return Status::Success;
  const Status s = context_->api.stream_wait(stream, fence_, 0);
  if (s == Status::Success) seen = epoch_;  // else the next call waits
  return s;
}

}  // namespace vyre::driver::cuda
