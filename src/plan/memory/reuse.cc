#include "plan/memory/reuse.h"

#include <algorithm>

#include "plan/memory/reuse_live.h"
#include "plan/memory/reuse_place.h"

namespace vyre::plan {

IdMap<GraphBufferId, bool> non_escaping(const ReuseInput& input) {
  IdMap<GraphBufferId, bool> stays(input.buffers.size());
  for (const GraphBufferId b : input.buffers.ids())
    stays[b] = !input.buffers[b].host && !input.buffers[b].indirect;
  for (const Arm& arm : input.arms)
    for (const ArmUse& use : arm.uses)
      if (use.atomics && stays.contains(use.buffer)) stays[use.buffer] = false;
  return stays;
}

std::vector<Recyclable> recyclable(const ReuseInput& input) {
  std::vector<Recyclable> found;
  if (!makes_sense(input)) return found;
  const Lifetimes lives = find_lifetimes(input);
  const auto arms = static_cast<uint32_t>(input.arms.size());
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // arm, column
  // By column: the last arm so far that may run at the same time as one of its users.
  std::vector<uint32_t> busy(lives.buffers.size(), 0);
  for (uint32_t i = 0; i < arms; ++i) {
    if (!lives.partners[i].empty())
      lives.used.each(i,
                      [&](uint32_t c) { busy[c] = std::max(busy[c], lives.partners[i].back()); });
    lives.live.each(i, [&](uint32_t c) {
      if (lives.needed.test(i + 1, c)) return;
      const uint32_t end = std::max(i, busy[c]);
      // Another life may have begun until then.
      if (end == i || (!lives.needed.test(end + 1, c) && !lives.live.test(end, c)))
        pairs.push_back({end, c});
    });
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [arm, column] : pairs)
    found.push_back({input.arms[arm].id, lives.buffers[column]});
  return found;
}

std::vector<GraphBufferId> recyclable_after(const ReuseInput& input, uint32_t arm_id) {
  std::vector<GraphBufferId> buffers;
  for (const Recyclable& r : recyclable(input))
    if (r.arm == arm_id) buffers.push_back(r.buffer);
  return buffers;
}

bool is_recyclable(const ReuseInput& input, GraphBufferId buffer) {
  const std::vector<Recyclable> all = recyclable(input);
  return std::any_of(all.begin(), all.end(),
                     [buffer](const Recyclable& r) { return r.buffer == buffer; });
}

uint64_t recyclable_pairs(const ReuseInput& input) { return recyclable(input).size(); }

namespace {

class Planner {
 public:
  explicit Planner(const ReuseInput& input) : in_(input), lives_(find_lifetimes(input)) {}

  ReusePlan run() {
    plan_.placement.resize(in_.buffers.size());
    choose_items();
    if (items_.empty()) return std::move(plan_);
    sum_arms();
    find_conflicts();
    const PlacedItems placed = place_items(items_, conflicts_, pressure_, plan_.live_sum);
    for (uint32_t k = 0; k < items_.size(); ++k) {
      const uint32_t c = columns_[k];
      plan_.placement[lives_.buffers[c]] = {0, placed.offsets[k]};
      plan_.before += items_[k].bytes;
      if (lives_.clear_at[c] != Lifetimes::never)
        plan_.clears.push_back({lives_.clear_at[c], lives_.buffers[c]});
    }
    std::sort(plan_.clears.begin(), plan_.clears.end());
    plan_.slot_bytes = {placed.end};
    plan_.after = placed.end;
    return std::move(plan_);
  }

 private:
  void choose_items() {
    const auto arms = static_cast<uint32_t>(in_.arms.size());
    item_.assign(lives_.buffers.size(), Lifetimes::never);
    for (uint32_t c = 0; c < lives_.buffers.size(); ++c) {
      const GraphBufferId b = lives_.buffers[c];
      if (b == none || in_.buffers[b].bytes == 0) continue;
      item_[c] = static_cast<uint32_t>(items_.size());
      const uint64_t rest = in_.buffers[b].bytes % in_.alignment;
      items_.push_back({in_.buffers[b].bytes + (rest == 0 ? 0 : in_.alignment - rest), arms, 0});
      columns_.push_back(c);
    }
    for (uint32_t i = 0; i < arms; ++i)
      lives_.live.each(i, [&](uint32_t c) {
        if (item_[c] == Lifetimes::never) return;
        items_[item_[c]].first = std::min(items_[item_[c]].first, i);
        items_[item_[c]].last = i;
      });
  }

  uint64_t sum(const std::vector<uint64_t>& row) const {
    uint64_t bytes = 0;
    for (size_t w = 0; w < row.size(); ++w)
      for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
        const uint32_t k = item_[w * 64 + static_cast<size_t>(__builtin_ctzll(bits))];
        if (k != Lifetimes::never) bytes += items_[k].bytes;
      }
    return bytes;
  }

  /// The buffers in use during each arm, and with those that run at the same time. Any set of arms
  /// of which each may run with each other gives a bound; a good one is found by taking the largest
  /// first.
  void sum_arms() {
    pressure_.assign(items_.size(), 0);
    const size_t words = lives_.live.words();
    std::vector<uint64_t> alone(in_.arms.size());
    std::vector<uint64_t> row(words);
    for (uint32_t i = 0; i < in_.arms.size(); ++i) {
      std::copy_n(lives_.live.row(i), words, row.begin());
      alone[i] = sum(row);
    }
    std::vector<uint32_t> order, together;
    for (uint32_t i = 0; i < in_.arms.size(); ++i) {
      uint64_t all = alone[i];
      if (!lives_.partners[i].empty()) {
        std::copy_n(lives_.live.row(i), words, row.begin());
        order = lives_.partners[i];
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return alone[a] > alone[b]; });
        together = {i};
        for (const uint32_t other : order) {
          if (!runs_with_all(other, together)) continue;
          together.push_back(other);
          for (size_t w = 0; w < words; ++w) row[w] |= lives_.live.row(other)[w];
        }
        all = sum(row);
      }
      plan_.live_sum = std::max(plan_.live_sum, all);
      lives_.live.each(i, [&](uint32_t c) {
        if (item_[c] != Lifetimes::never) pressure_[item_[c]] = std::max(pressure_[item_[c]], all);
      });
    }
  }
  bool runs_with_all(uint32_t arm, const std::vector<uint32_t>& others) const {
    const auto& p = lives_.partners[arm];
    return std::all_of(others.begin(), others.end(), [&](uint32_t other) {
      return std::binary_search(p.begin(), p.end(), other);
    });
  }

  /// Live in one arm, or in two that may run at the same time.
  void find_conflicts() {
    const size_t words = lives_.live.words();
    BitRows with(lives_.buffers.size(), lives_.buffers.size());
    std::vector<uint64_t> row(words);
    for (uint32_t i = 0; i < in_.arms.size(); ++i) {
      std::copy_n(lives_.live.row(i), words, row.begin());
      for (const uint32_t other : lives_.partners[i])
        for (size_t w = 0; w < words; ++w) row[w] |= lives_.live.row(other)[w];
      lives_.live.each(i, [&](uint32_t c) {
        for (size_t w = 0; w < words; ++w) with.row(c)[w] |= row[w];
      });
    }
    conflicts_.begin.push_back(0);
    for (uint32_t k = 0; k < items_.size(); ++k) {
      with.each(columns_[k], [&](uint32_t c) {
        if (item_[c] != Lifetimes::never && item_[c] != k) conflicts_.items.push_back(item_[c]);
      });
      conflicts_.begin.push_back(static_cast<uint32_t>(conflicts_.items.size()));
    }
  }

  const ReuseInput& in_;
  const Lifetimes lives_;
  std::vector<uint32_t> item_;     // by column
  std::vector<uint32_t> columns_;  // by item
  std::vector<PlaceItem> items_;
  std::vector<uint64_t> pressure_;
  Conflicts conflicts_;
  ReusePlan plan_;
};

}  // namespace

ReusePlan plan_reuse(const ReuseInput& input) {
  if (makes_sense(input)) return Planner(input).run();
  ReusePlan nothing;
  nothing.placement.resize(input.buffers.size());
  return nothing;
}

}  // namespace vyre::plan
