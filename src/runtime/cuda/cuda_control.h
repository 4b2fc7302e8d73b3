#pragma once

// Control blocks of launches (codegen/ptx/ptx_abi.h) in device memory, and their host copies.
//
// A block that is taken is clean: ready for a launch. Launches that neither trap nor are stopped
// leave it clean. So nothing is written before a launch, and only a dirty block costs time.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "codegen/ptx/ptx_abi.h"
#include "runtime/cuda/cuda_memory.h"

namespace vyre::driver::cuda {

struct ControlRange {
  DevicePointer device = 0;
  emit_ptx::ControlBlock* host = nullptr;  // pinned; filled by a copy at the end of the work
  uint32_t count = 0;
  uint64_t bytes() const { return uint64_t{count} * sizeof(emit_ptx::ControlBlock); }
};

class ControlBlocks {
 public:
  ControlBlocks(std::shared_ptr<Context> context, DeviceMemory& memory)
      : context_(std::move(context)), memory_(memory) {}
  ~ControlBlocks();
  ControlBlocks(const ControlBlocks&) = delete;
  ControlBlocks& operator=(const ControlBlocks&) = delete;

  Result<ControlRange> take(uint32_t count);
  /// `is_clean`: no launch has trapped or was stopped.
  void give_back(const ControlRange& range, bool is_clean);
  /// Cleans blocks that no work uses, before any later work. Returns false if they must not be
  /// used.
  bool clean(const ControlRange& range, Diagnostics& errors);

 private:
  struct Slab {
    DevicePointer device = 0;
    emit_ptx::ControlBlock* host = nullptr;
    uint32_t used = 0, count = 0;
  };
  Result<> add_slab(uint32_t count);

  const std::shared_ptr<Context> context_;
  DeviceMemory& memory_;
  std::mutex mutex_;  // guards the following members
  std::vector<Slab> slabs_;
  /// By size: submissions of a program have few different sizes, so ranges need not be joined.
  std::map<uint32_t, std::vector<ControlRange>> free_;
};

}  // namespace vyre::driver::cuda
