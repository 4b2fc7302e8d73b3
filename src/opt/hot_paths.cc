#include "opt/hot_paths.h"

#include <algorithm>
#include <tuple>

namespace vyre::opt {
namespace {

uint64_t add_saturating(uint64_t a, uint64_t b) { return a + b < a ? ~uint64_t{0} : a + b; }

}  // namespace

void HotPathHints::record(std::string_view op_id, uint64_t kernel_ns, uint64_t bytes,
                          std::string_view device) {
  add({std::string(op_id), 1, kernel_ns, bytes, std::string(device)});
}

void HotPathHints::add(const Entry& entry) {
  if (entry.op_id.empty() || entry.launches == 0 || capacity_ == 0) return;
  const std::lock_guard lock(mutex_);
  Entries& entries = devices_[entry.device];
  Entry& e = entries[entry.op_id];
  e.op_id = entry.op_id;
  e.device = entry.device;
  e.launches = add_saturating(e.launches, entry.launches);
  e.total_ns = add_saturating(e.total_ns, entry.total_ns);
  e.bytes = add_saturating(e.bytes, entry.bytes);
  if (entries.size() > capacity_) remove_smallest(entries, entry.op_id);
}

/// Runs in time linear in the capacity, once per launch over it. If totals are equal the later name
/// is removed, so that the outcome does not depend on the order of a hash table.
void HotPathHints::remove_smallest(Entries& entries, std::string_view keep) {
  auto least = entries.end();
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (it->first == keep) continue;
    if (least == entries.end() || it->second.total_ns < least->second.total_ns ||
        (it->second.total_ns == least->second.total_ns && it->first > least->first))
      least = it;
  }
  if (least != entries.end()) entries.erase(least);
}

std::optional<HotPathHints::Entry> HotPathHints::find(std::string_view op_id,
                                                      std::string_view device) const {
  if (op_id.empty()) return std::nullopt;
  const std::string key(op_id);
  const std::lock_guard lock(mutex_);
  for (const std::string_view measured_on : {device, std::string_view()}) {
    const auto entries = devices_.find(measured_on);
    if (entries == devices_.end()) continue;
    if (const auto it = entries->second.find(key); it != entries->second.end()) return it->second;
  }
  return std::nullopt;
}

bool HotPathHints::is_hot(std::string_view op_id, std::string_view device) const {
  const std::optional<Entry> entry = find(op_id, device);
  return entry && is_hot(*entry);
}

std::vector<HotPathHints::Entry> HotPathHints::entries() const {
  std::vector<Entry> list;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, entries] : devices_)
      for (const auto& [name, entry] : entries) list.push_back(entry);
  }
  std::sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.device, a.op_id) < std::tie(b.device, b.op_id);
  });
  return list;
}

}  // namespace vyre::opt
