#pragma once

// Stop flags: one word of device memory for each submission and graph, which its kernels poll.
//
// A flag lies in device memory because the L2 cache serves polls there. A word of host memory costs
// one bus transaction per warp. The host sets a flag on a stream that carries nothing else, so no
// kernel delays the write.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/cuda_memory.h"

namespace vyre::driver::cuda {

struct StopFlag {
  std::atomic<uint32_t>* host = nullptr;  // 1 from the request on; the device does not read it
  DevicePointer device = 0;               // polled by kernels
};

class StopFlags {
 public:
  StopFlags(std::shared_ptr<Context> context, DeviceMemory& memory)
      : context_(std::move(context)), memory_(memory) {}
  ~StopFlags();
  StopFlags(const StopFlags&) = delete;
  StopFlags& operator=(const StopFlags&) = delete;

  /// Returns a cleared flag that any stream may use, or an error if the device has no memory.
  Result<StopFlag> take();
  void give_back(const StopFlag& flag);
  /// Clears a flag before a launch that polls it. No launch polls it during the call. Does nothing
  /// for a flag that was not set; otherwise waits for the device, which takes microseconds.
  Result<> clear(const StopFlag& flag);
  /// Stops the launches that poll the flag. Callable from any thread while kernels run. Marks the
  /// context lost if the write to the device fails, because the launches might never end.
  void set(const StopFlag& flag);
  /// Sets all flags that are taken, and those that are taken or cleared later.
  void set_all();

 private:
  Result<> start();
  Result<> add_page();
  Status write(DevicePointer flag, uint32_t value);

  const std::shared_ptr<Context> context_;
  DeviceMemory& memory_;
  StreamHandle stream_ = nullptr;     // for flags only
  uint32_t* values_ = nullptr;        // pinned: 0 and 1, for drivers that cannot write values
  std::atomic<bool> copies_ = false;  // write() copies from `values_`

  std::mutex mutex_;  // guards the following members
  struct Page {
    DevicePointer device = 0;
    std::unique_ptr<std::atomic<uint32_t>[]> host;
  };
  std::vector<Page> pages_;
  std::vector<StopFlag> all_, free_;
  bool all_set_ = false;
};

}  // namespace vyre::driver::cuda
