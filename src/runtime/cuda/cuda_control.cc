#include "runtime/cuda/cuda_control.h"

#include <algorithm>

namespace vyre::driver::cuda {

using emit_ptx::ControlBlock;

namespace {

constexpr uint32_t blocks_of_slab = 2048;
/// `lowest` and `trapped` are all ones in a clean block, the rest zeros.
constexpr size_t ones_bytes = 16;
static_assert(offsetof(ControlBlock, lowest) == 0 && offsetof(ControlBlock, trapped) == 8 &&
              offsetof(ControlBlock, x) == ones_bytes);

}  // namespace

ControlBlocks::~ControlBlocks() {
  if (context_->is_lost()) return;
  const Current current(*context_);
  for (const Slab& slab : slabs_) {
    context_->api.host_free(slab.host);
    memory_.release(slab.device);
  }
}

Result<> ControlBlocks::add_slab(uint32_t count) {
  const uint64_t bytes = uint64_t{count} * sizeof(ControlBlock);
  Result<DevicePointer> device = memory_.allocate(bytes);
  if (!device) return device.errors();
  void* host = nullptr;
  if (const Status s = context_->api.host_allocate(&host, bytes, host_alloc_portable);
      s != Status::Success) {
    memory_.release(*device);
    return context_->failed(s, "host memory for control blocks was made");
  }
  slabs_.push_back({*device, static_cast<ControlBlock*>(host), 0, count});
  Diagnostics errors;
  if (clean({*device, slabs_.back().host, count}, errors)) return Ok{};
  slabs_.back().used = count;  // unusable: never handed out
  return errors;
}

Result<ControlRange> ControlBlocks::take(uint32_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<ControlRange>& free = free_[count];
  if (!free.empty()) {
    const ControlRange range = free.back();
    free.pop_back();
    return range;
  }
  if (slabs_.empty() || slabs_.back().count - slabs_.back().used < count)
    if (Result<> done = add_slab(std::max(blocks_of_slab, count)); !done) return done.errors();
  Slab& slab = slabs_.back();
  const ControlRange range = {slab.device + uint64_t{slab.used} * sizeof(ControlBlock),
                              slab.host + slab.used, count};
  slab.used += count;
  return range;
}

void ControlBlocks::give_back(const ControlRange& range, bool is_clean) {
  Diagnostics errors;                              // dropped: a later call on the device fails too
  if (!is_clean && !clean(range, errors)) return;  // never handed out again
  const std::lock_guard lock(mutex_);
  free_[range.count].push_back(range);
}

bool ControlBlocks::clean(const ControlRange& range, Diagnostics& errors) {
  const Api& api = context_->api;
  std::fill_n(range.host, range.count, ControlBlock());
  return context_->check(api.fill_bytes(range.device, 0, range.bytes(), memory_.stream()),
                         "control blocks were cleared", errors) &&
         context_->check(api.fill_rows(range.device, sizeof(ControlBlock), 0xff, ones_bytes,
                                       range.count, memory_.stream()),
                         "control blocks were cleared", errors) &&
         context_->check(memory_.advance(), "an event was recorded", errors);
}

}  // namespace vyre::driver::cuda
