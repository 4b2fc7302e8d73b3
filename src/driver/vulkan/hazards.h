#pragma once

// Which commands of a command buffer need a barrier between them: only those that touch the same
// memory, of which one writes. Memory is told apart by its addresses on the device.

#include <cstdint>
#include <span>
#include <vector>

namespace vyre::driver::vulkan {

struct Access {
  uint64_t begin = 0, end = 0;  // addresses
  bool write = false;
};

class Hazards {
 public:
  /// Takes part of a command. True: a barrier must come before it, after which everything earlier
  /// is done with.
  bool add(std::span<const Access> accesses) {
    const bool hit = conflicts(accesses);
    if (hit) open_.clear();
    for (const Access& a : accesses)
      if (a.begin != a.end) open_.push_back(a);
    return hit;
  }
  /// A barrier came for another reason.
  void clear() { open_.clear(); }
  /// A command that may touch anything.
  bool add_unknown() {
    const bool hit = !open_.empty();
    open_.assign(1, {0, ~uint64_t{0}, true});
    return hit;
  }

 private:
  /// So that a long sequence of commands that share nothing stays linear: then a barrier costs less
  /// than looking.
  static constexpr size_t most = 1024;

  bool conflicts(std::span<const Access> accesses) const {
    if (open_.size() >= most) return true;
    for (const Access& a : accesses)
      for (const Access& o : open_)
        if ((a.write || o.write) && a.begin < o.end && o.begin < a.end) return true;
    return false;
  }

  std::vector<Access> open_;  // since the last barrier
};

}  // namespace vyre::driver::vulkan
