#pragma once

// Device memory, ordered by a separate stream: allocations and their clearing are not waited for. A
// stream that uses memory waits for the fence first.
//
// Released memory stays in the driver's pool, so the next allocation costs no system call.

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

  /// Creates the stream. Call it once, before anything else.
  Result<> start();

  /// Returns zeroed memory, aligned to 256 bytes; never 0, so that the address can be a handle. An
  /// error states the bytes requested, free, and in total.
  Result<DevicePointer> allocate(uint64_t bytes);
  /// Releases memory that no work uses any more.
  void release(DevicePointer memory);

  /// Returns the stream, for work that must be ordered with allocations. Call advance() afterwards.
  StreamHandle stream() const { return stream_; }
  Status advance();

  /// Makes `stream` wait for all work on the memory stream, unless `seen` shows that it has
  /// already.
  Status order(StreamHandle stream, uint64_t& seen);

 private:
  Status take(DevicePointer& memory, uint64_t bytes);
  void free(DevicePointer memory);
  Diagnostic no_memory(uint64_t bytes);

  const std::shared_ptr<Context> context_;
  const bool use_pool_;
  PoolHandle pool_ = nullptr;
  StreamHandle stream_ = nullptr;
  std::mutex mutex_;  // guards the following members; keeps record and wait together
  EventHandle fence_ = nullptr;
  uint64_t epoch_ = 0;  // how often the fence was recorded
  std::unordered_set<DevicePointer> live_;
};

}  // namespace vyre::driver::cuda
