#pragma once

// Makes one allocation of the process fail. operator new of this binary counts the allocations of
// all code but LLVM's: an allocation with a function of libLLVM among its callers never fails.

#include <cstdint>

namespace vyre {

/// While it lives, allocations are counted, and number `fails` (from 1; 0: none) throws bad_alloc.
/// At most one lives at a time.
class FailingAllocation {
 public:
  explicit FailingAllocation(uint64_t fails);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  /// So far, by all threads.
  uint64_t count() const;
  /// Those of them that code of libvyre_cpu.so made.
  uint64_t count_in_component() const;
};

}  // namespace vyre
