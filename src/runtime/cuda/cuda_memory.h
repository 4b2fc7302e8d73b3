#pragma once

// Device memory, in the order of a stream of its own: allocations and their zeros are not waited
// for. Whoever uses memory on another stream lets that stream wait for the fence first.
//
// Memory that is given back stays in the driver's pool, so the next allocation costs no system
// call.

#include <memory>
#include <mutex>
#include <unordered_set>

#include "runtime/cuda/cuda_context.h"

namespace vyre::driver::cuda {

class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<Context> context, bool use_pool);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Makes the stream. Once, before anything else.
  Result<> start();

  /// Zeroed, aligned to 256 bytes; never 0, so that the address can be a handle. An error has the
  /// numbers: asked for, free, and all.
  Result<DevicePointer> allocate(uint64_t bytes);
  /// No work uses it any more.
  void release(DevicePointer memory);

  /// The stream's own, for what must be in order with allocations. Call advance() afterwards.
  StreamHandle stream() const { return stream_; }
  Status advance();

  /// Lets `stream` wait for all that was done here, if `seen` says that it has not.
  Status order(StreamHandle stream, uint64_t& seen);

 private:
  Status take(DevicePointer& memory, uint64_t bytes);
  void free(DevicePointer memory);
  Diagnostic no_memory(uint64_t bytes);

  const std::shared_ptr<Context> context_;
  const bool use_pool_;
  PoolHandle pool_ = nullptr;
  StreamHandle stream_ = nullptr;
  std::mutex mutex_;  // guards what follows, and keeps record and wait together
  EventHandle fence_ = nullptr;
  uint64_t epoch_ = 0;  // how often the fence was recorded
  std::unordered_set<DevicePointer> live_;
};

}  // namespace vyre::driver::cuda
