#pragma once

// Measured launch times, by device and by the op_id of the program. They decide which passes are
// worth their time, never the effect of a pass.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vyre::opt {

/// Bounded and safe from several threads. A device is named as driver::telemetry_key() does; "" is
/// an unknown device. Over capacity the entry of that device with the smallest total time is
/// removed, but never the one just recorded.
class HotPathHints {
 public:
  static constexpr uint64_t default_threshold_ns = 100'000;
  static constexpr size_t default_capacity = 256;

  struct Entry {
    std::string op_id;
    uint64_t launches = 0;
    uint64_t total_ns = 0;
    uint64_t bytes = 0;
    std::string device = {};
    uint64_t mean_ns() const { return launches ? total_ns / launches : 0; }
    bool operator==(const Entry&) const = default;
  };

  /// `capacity`: entries per device.
  explicit HotPathHints(size_t capacity = default_capacity,
                        uint64_t threshold_ns = default_threshold_ns)
      : capacity_(capacity), threshold_(threshold_ns) {}

  /// Adds one launch. A launch without an op_id is ignored. Sums saturate.
  void record(std::string_view op_id, uint64_t kernel_ns, uint64_t bytes,
              std::string_view device = {});
  /// Returns the entry that counts on a device: its own measurements, or if there are none those of
  /// an unknown device. Measurements of another device never count.
  std::optional<Entry> find(std::string_view op_id, std::string_view device = {}) const;
  /// Returns true if find() has an entry whose mean time is at least the threshold.
  bool is_hot(std::string_view op_id, std::string_view device = {}) const;
  bool is_hot(const Entry& entry) const { return entry.mean_ns() >= threshold_; }
  /// Adds a stored entry to those of its device.
  void add(const Entry& entry);

  /// Sorted by device and op_id, so that a file does not depend on the order of launches.
  std::vector<Entry> entries() const;
  size_t capacity() const { return capacity_; }
  uint64_t threshold_ns() const { return threshold_; }

 private:
  using Entries = std::unordered_map<std::string, Entry>;  // by op_id
  static void remove_smallest(Entries& entries, std::string_view keep);

  const size_t capacity_;  // entries per device
  const uint64_t threshold_;
  mutable std::mutex mutex_;
  std::map<std::string, Entries, std::less<>> devices_;  // guarded
};

}  // namespace vyre::opt
