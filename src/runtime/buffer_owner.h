#pragma once

// Owns the buffers of one run and frees them on every path.

#include "runtime/device.h"

namespace vyre::driver {

class BufferOwner {
 public:
  explicit BufferOwner(Device& device) : device_(device) {}
  BufferOwner(const BufferOwner&) = delete;
  BufferOwner& operator=(const BufferOwner&) = delete;
  ~BufferOwner() {
    device_.finish();
    for (const Buffer& b : buffers_) (void)bool(device_.free(b));
  }
  Result<Buffer> allocate(uint64_t bytes) {
    buffers_.emplace_back();
    Result<Buffer> b = device_.allocate(bytes);
    if (b)
      buffers_.back() = *b;
    else
      buffers_.pop_back();
    return b;
  }

 private:
  Device& device_;
  std::vector<Buffer> buffers_;
};

}  // namespace vyre::driver
