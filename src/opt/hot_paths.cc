#include "opt/hot_paths.h"

#include <algorithm>

namespace vyre::opt {
namespace {

uint64_t add_saturating(uint64_t a, uint64_t b) { return a + b < a ? ~uint64_t{0} : a + b; }

}  // namespace

void HotPathHints::record(std::string_view op_id, uint64_t kernel_ns, uint64_t bytes) {
  add({std::string(op_id), 1, kernel_ns, bytes});
}

void HotPathHints::add(const Entry& entry) {
  if (entry.op_id.empty() || entry.launches == 0 || capacity_ == 0) return;
  const std::lock_guard lock(mutex_);
  Entry& e = entries_[entry.op_id];
  e.op_id = entry.op_id;
  e.launches = add_saturating(e.launches, entry.launches);
  e.total_ns = add_saturating(e.total_ns, entry.total_ns);
  e.bytes = add_saturating(e.bytes, entry.bytes);
  if (entries_.size() > capacity_) make_room(entry.op_id);
}

/// Linear in the capacity, once a launch over it. Of equal totals the later name goes, so that the
/// outcome does not hang on the order of a hash table.
void HotPathHints::make_room(std::string_view keep) {
  auto least = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->first == keep) continue;
    if (least == entries_.end() || it->second.total_ns < least->second.total_ns ||
        (it->second.total_ns == least->second.total_ns && it->first > least->first))
      least = it;
  }
  if (least != entries_.end()) entries_.erase(least);
}

bool HotPathHints::is_hot(std::string_view op_id) const {
  if (op_id.empty()) return false;
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(std::string(op_id));
  return it != entries_.end() && it->second.mean_ns() >= threshold_;
}

std::vector<HotPathHints::Entry> HotPathHints::entries() const {
  std::vector<Entry> list;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : entries_) list.push_back(entry);
  }
  std::sort(list.begin(), list.end(),
            [](const Entry& a, const Entry& b) { return a.op_id < b.op_id; });
  return list;
}

}  // namespace vyre::opt
