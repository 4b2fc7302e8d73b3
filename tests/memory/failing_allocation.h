#pragma once

// Makes one allocation of the process fail. operator new of this binary counts allocations; those
// of LLVM and of the CPU component, which has LLVM's templates inside, are left alone.

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
};

}  // namespace vyre
