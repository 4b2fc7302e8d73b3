#include "runtime/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace vyre::driver {

namespace {

constexpr uint64_t mapped_from = 256 << 10;

}  // namespace

HostMemory::~HostMemory() {
  if (!data_) return;
  if (bytes_ >= mapped_from)
    munmap(data_, bytes_);
  else
    std::free(data_);
}

bool HostMemory::allocate(uint64_t bytes) {
  HostMemory made;
  if (bytes >= mapped_from) {
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    // Large pages cause fewer page faults; the system may refuse them.
    if (bytes >= (4 << 20)) madvise(at, bytes, MADV_HUGEPAGE);
    made.data_ = static_cast<std::byte*>(at);
  } else if (bytes > 0) {
    const uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const at = std::aligned_alloc(alignment, rounded);
    if (!at) return false;
    std::memset(at, 0, rounded);
    made.data_ = static_cast<std::byte*>(at);
  }
  made.bytes_ = bytes;
  *this = std::move(made);
  return true;
}

}  // namespace vyre::driver
