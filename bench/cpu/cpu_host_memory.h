#pragma once

// Memory for the twins and PoCL, as vyre's own buffers have it: page-aligned, with huge pages asked
// for where it is large. So peers differ in their code and not in where their data lies.

#include <sys/mman.h>

#include <cstdlib>
#include <memory>

namespace bench {

using HostMemory = std::unique_ptr<void, void (*)(void*)>;

/// Null: out of memory.
inline HostMemory host_memory(size_t bytes) {
  const size_t huge = size_t{2} << 20;
  const bool large = bytes >= 2 * huge;
  const size_t alignment = large ? huge : 4096;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory && large) madvise(memory, bytes, MADV_HUGEPAGE);
  return {memory, std::free};
}

}  // namespace bench
