#pragma once

// What was measured: how long launches took, by the op_id of their program. It decides where the
// optimizer takes its time, never what it may do.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vyre::opt {

/// Bounded and safe from several threads. Over capacity the entry with the smallest total time goes,
/// but never the one just recorded.
class HotPathHints {
 public:
  static constexpr uint64_t default_threshold_ns = 100'000;
  static constexpr size_t default_capacity = 256;

  struct Entry {
    std::string op_id;
    uint64_t launches = 0;
    uint64_t total_ns = 0;
    uint64_t bytes = 0;
    uint64_t mean_ns() const { return launches ? total_ns / launches : 0; }
    bool operator==(const Entry&) const = default;
  };

  explicit HotPathHints(size_t capacity = default_capacity,
                        uint64_t threshold_ns = default_threshold_ns)
      : capacity_(capacity), threshold_(threshold_ns) {}

  /// One launch. Without an op_id it is nobody's. Sums saturate.
  void record(std::string_view op_id, uint64_t kernel_ns, uint64_t bytes);
  /// Recorded, and its mean time at least the threshold.
  bool is_hot(std::string_view op_id) const;
  /// An entry as it was stored, added to what is there.
  void add(const Entry& entry);

  /// By name, so that files are the same whatever the order of launches.
  std::vector<Entry> entries() const;
  size_t capacity() const { return capacity_; }
  uint64_t threshold_ns() const { return threshold_; }

 private:
  void make_room(std::string_view keep);

  const size_t capacity_;
  const uint64_t threshold_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace vyre::opt
