#include "plan/memory/reuse_skyline.h"

#include <algorithm>
#include <set>

namespace vyre::plan {
namespace {

class Wall {
 public:
  Wall(std::span<const PlaceItem> items, std::span<const double> keys)
      : items_(items), keys_(keys) {
    for (const PlaceItem& item : items) end_ = std::max(end_, item.last + 1);
    by_first_.resize(end_);
    for (uint32_t i = 0; i < items.size(); ++i) by_first_[items[i].first].push_back(i);
    // The best of those that begin together is at the back.
    for (auto& list : by_first_)
      std::sort(list.begin(), list.end(), [this](uint32_t a, uint32_t b) { return better(b, a); });
    until_.resize(end_);
    height_.resize(end_);
    begin_of_.resize(end_);
  }

  std::vector<uint32_t> build() {
    if (end_ == 0) return {};
    put(0, end_, 0);
    std::vector<uint32_t> order;
    order.reserve(items_.size());
    while (order.size() < items_.size()) {
      const auto [height, from] = *lowest_.begin();
      const uint32_t to = until_[from];
      const uint32_t i = best_in(from, to);
      if (i == none) {
        lift(from, to);
        continue;
      }
      order.push_back(i);
      std::erase(by_first_[items_[i].first], i);
      take(from);
      if (items_[i].first > from) put(from, items_[i].first, height);
      put(items_[i].first, items_[i].last + 1, height + items_[i].bytes);
      if (items_[i].last + 1 < to) put(items_[i].last + 1, to, height);
    }
    return order;
  }

 private:
  static constexpr uint32_t none = ~0u;

  bool better(uint32_t a, uint32_t b) const {
    return keys_[a] != keys_[b] ? keys_[a] > keys_[b] : a < b;
  }

  uint32_t best_in(uint32_t from, uint32_t to) const {
    uint32_t best = none;
    for (uint32_t at = from; at < to; ++at) {
      const auto& list = by_first_[at];
      for (size_t k = list.size(); k-- > 0;) {
        if (items_[list[k]].last >= to) continue;
        if (best == none || better(list[k], best)) best = list[k];
        break;
      }
    }
    return best;
  }

  // The skyline: pieces [from, until_[from]) at height_[from]; begin_of_[until - 1] is their from.
  void put(uint32_t from, uint32_t to, uint64_t height) {
    until_[from] = to;
    height_[from] = height;
    begin_of_[to - 1] = from;
    lowest_.insert({height, from});
  }
  void take(uint32_t from) { lowest_.erase({height_[from], from}); }

  /// Nothing fits: the piece becomes part of its lower neighbour, or of both.
  void lift(uint32_t from, uint32_t to) {
    constexpr uint64_t sky = ~uint64_t{0};
    const uint64_t left = from > 0 ? height_[begin_of_[from - 1]] : sky;
    const uint64_t right = to < end_ ? height_[to] : sky;
    const uint64_t height = std::min(left, right);
    take(from);
    if (left == height) {
      from = begin_of_[from - 1];
      take(from);
    }
    if (right == height) {
      const uint32_t next = to;
      to = until_[next];
      take(next);
    }
    put(from, to, height);
  }

  std::span<const PlaceItem> items_;
  std::span<const double> keys_;
  uint32_t end_ = 0;
  std::vector<std::vector<uint32_t>> by_first_;  // items that are left
  std::vector<uint32_t> until_, begin_of_;
  std::vector<uint64_t> height_;
  std::set<std::pair<uint64_t, uint32_t>> lowest_;
};

}  // namespace

std::vector<uint32_t> skyline_order(std::span<const PlaceItem> items,
                                    std::span<const double> keys) {
  return Wall(items, keys).build();
}

}  // namespace vyre::plan
