#include "plan/memory/reuse_place.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/memory/reuse_skyline.h"

namespace vyre::plan {
namespace {

/// Limit of the conflicts that the improvement visits, some ten nanoseconds each: the farther from
/// the bound, the longer it pays.
constexpr uint64_t work_far = 700'000, work_near = 100'000, work_close = 20'000;

enum class Fit : uint8_t { First, Best };

class Placer {
 public:
  Placer(std::span<const PlaceItem> items, const Conflicts& conflicts,
         std::span<const uint64_t> pressure, uint64_t bound)
      : items_(items), conflicts_(conflicts), pressure_(pressure), bound_(bound) {}

  PlacedItems run() {
    best_.end = nowhere;
    std::vector<uint32_t> order(items_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto by = [&](auto&& key) {
      if (work_ > work_far) return false;
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
      return try_order(order, Fit::First) || try_order(order, Fit::Best);
    };
    const bool done = by([&](uint32_t i) { return items_[i].bytes; }) ||
                      by([&](uint32_t i) { return std::pair(life(i), items_[i].bytes); }) ||
                      // Where most is in use there is the least choice.
                      by([&](uint32_t i) { return std::pair(pressure_[i], items_[i].bytes); });
    if (!done && work_ <= work_far) build_walls();
    return std::move(best_);
  }

 private:
  double life(uint32_t i) const {
    return static_cast<double>(items_[i].last - items_[i].first) + 1;
  }
  double bytes(uint32_t i) const { return static_cast<double>(items_[i].bytes); }
  /// Between 1 - spread and 1 + spread.
  double about_one(double spread) {
    return 1 + spread * (2 * static_cast<double>(next() >> 40) / static_cast<double>(1 << 24) - 1);
  }

  /// Tries orders by area, by live range, by size, and then with randomly scaled keys. No order is
  /// best for all inputs, so many are tried.
  void build_walls() {
    std::vector<double> keys(items_.size());
    work_ = 0;
    for (uint32_t round = 0; round < 3 || worth_more_work(); ++round) {
      const double spread = round < 3 ? 0 : 0.1 * (1 + round % 4);
      for (uint32_t i = 0; i < items_.size(); ++i) {
        const double key = round % 3 == 0   ? bytes(i) * life(i)
                           : round % 3 == 1 ? life(i)
                                            : bytes(i);
        keys[i] = key * about_one(spread);
      }
      work_ += 4 * items_.size();
      if (try_order(skyline_order(items_, keys), Fit::First) || round > 200) return;
    }
  }

  /// True: no better end is possible.
  bool try_order(const std::vector<uint32_t>& order, Fit fit) {
    now_.offsets.assign(items_.size(), nowhere);
    now_.end = place(order, fit);
    if (now_.end < best_.end) best_ = now_;
    return best_.end <= bound_;
  }

  /// Places items among those that are placed. The end of the highest.
  uint64_t place(std::span<const uint32_t> order, Fit fit) {
    uint64_t end = 0;
    for (const uint32_t i : order) {
      taken_.clear();
      for (const uint32_t other : conflicts_.of(i))
        if (now_.offsets[other] != nowhere)
          taken_.push_back({now_.offsets[other], now_.offsets[other] + items_[other].bytes});
      work_ += conflicts_.of(i).size() + 1;
      std::sort(taken_.begin(), taken_.end());
      now_.offsets[i] = find_gap(items_[i].bytes, fit);
      end = std::max(end, now_.offsets[i] + items_[i].bytes);
    }
    return end;
  }

  uint64_t find_gap(uint64_t bytes, Fit fit) const {
    uint64_t end = 0, found = ~uint64_t{0}, smallest = ~uint64_t{0};
    for (const auto& [from, to] : taken_) {
      if (from > end && from - end >= bytes && from - end < smallest) {
        if (fit == Fit::First) return end;
        found = end;
        smallest = from - end;
      }
      end = std::max(end, to);
    }
    return found != ~uint64_t{0} ? found : end;
  }

  bool worth_more_work() const {
    const uint64_t above = best_.end - bound_;
    if (above == 0) return false;
    if (above > bound_ / 16) return work_ < work_far;
    return work_ < (above > bound_ / 50 ? work_near : work_close);
  }

  /// The same sequence in every run.
  uint64_t next() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  static constexpr uint64_t nowhere = ~uint64_t{0};

  std::span<const PlaceItem> items_;
  const Conflicts& conflicts_;
  std::span<const uint64_t> pressure_;
  const uint64_t bound_;
  PlacedItems now_, best_;
  uint64_t random_ = 0x9e3779b97f4a7c15ull;
  std::vector<std::pair<uint64_t, uint64_t>> taken_;
  uint64_t work_ = 0;
};

}  // namespace

PlacedItems place_items(std::span<const PlaceItem> items, const Conflicts& conflicts,
                        std::span<const uint64_t> pressure, uint64_t bound) {
  if (items.empty()) return {};
  return Placer(items, conflicts, pressure, bound).run();
}

}  // namespace vyre::plan
