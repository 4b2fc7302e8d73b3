#pragma once

// Zeroed host memory, aligned for the widest vectors.

#include <cstddef>
#include <cstdint>
#include <utility>

namespace vyre::driver {

/// Large allocations come from the system page by page on first access, so that untouched memory
/// costs nothing.
class HostMemory {
 public:
  static constexpr size_t alignment = 64;

  HostMemory() = default;
  HostMemory(HostMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  HostMemory& operator=(HostMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostMemory();

  /// Returns false if the system has no memory. Allocates nothing for 0 bytes.
  [[nodiscard]] bool allocate(uint64_t bytes);

  std::byte* data() const { return data_; }
  uint64_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace vyre::driver
