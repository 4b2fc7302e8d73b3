#pragma once

// Decides which commands of a command buffer need a barrier between them: only those that access
// the same memory, if one of them writes. Memory is identified by its addresses on the device.

#include <cstdint>
#include <span>
#include <vector>

namespace vyre::driver::vulkan {

struct Access {
  uint64_t begin = 0, end = 0;  // addresses
  bool write = false;
};

/// The kind of a command.
enum class Work : uint8_t { Kernel, Transfer };

/// Kernels: orders kernels only, which costs less. Later transfers do not wait for what precedes
/// it.
enum class Barrier : uint8_t { None, Kernels, All };

class Hazards {
 public:
  /// Adds a command and returns the barrier that it needs before it. After the barrier all earlier
  /// commands are forgotten.
  Barrier add(std::span<const Access> accesses, Work work) {
    const bool is_transfer = work == Work::Transfer;
    Barrier barrier = Barrier::None;
    if (conflicts(accesses) || (is_transfer && hidden_)) {
      barrier = is_transfer || open_transfers_ ? Barrier::All : Barrier::Kernels;
      clear();
      hidden_ = barrier == Barrier::Kernels;
    }
    for (const Access& a : accesses)
      if (a.begin != a.end) open_.push_back(a);
    open_transfers_ |= is_transfer;
    return barrier;
  }
  /// Records that a Barrier::All was inserted for another reason.
  void clear() {
    open_.clear();
    open_transfers_ = hidden_ = false;
  }
  /// Adds a command of either kind that may access any memory.
  Barrier add_unknown() {
    const Barrier barrier = open_.empty() && !hidden_ ? Barrier::None : Barrier::All;
    clear();
    open_.push_back({0, ~uint64_t{0}, true});
    open_transfers_ = true;
    return barrier;
  }

 private:
  /// Keeps the time linear for long sequences of independent commands: from this number on, a
  /// barrier costs less than the comparison.
  static constexpr size_t most = 1024;

  bool conflicts(std::span<const Access> accesses) const {
    if (open_.size() >= most) return true;
    for (const Access& a : accesses)
      for (const Access& o : open_)
        if ((a.write || o.write) && a.begin < o.end && o.begin < a.end) return true;
    return false;
  }

  std::vector<Access> open_;     // since the last barrier
  bool open_transfers_ = false;  // some of them belong to transfers
  bool hidden_ = false;          // the last barrier was between kernels: transfers do not wait for
                                 // those before it
};

}  // namespace vyre::driver::vulkan
