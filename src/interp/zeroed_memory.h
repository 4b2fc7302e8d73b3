#pragma once

// Zeroed memory for sizes up to the machine's memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace vyre::interp {

/// Large allocations come from the system page by page, as they are touched.
class ZeroedMemory {
 public:
  ZeroedMemory() = default;
  /// Throws bad_alloc.
  explicit ZeroedMemory(uint64_t bytes)
      : bytes_(bytes),
        data_(static_cast<std::byte*>(std::calloc(std::max<uint64_t>(bytes, 1), 1))) {
    if (!data_) throw std::bad_alloc();
  }

  std::byte* data() const { return data_.get(); }
  uint64_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  uint64_t bytes_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace vyre::interp
