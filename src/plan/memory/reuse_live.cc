#include "plan/memory/reuse_live.h"

#include <algorithm>
#include <unordered_set>

namespace vyre::plan {
namespace {

/// All uses of a buffer by one arm, combined.
struct Merged {
  bool needs = false, overwrites = false;
};

class Finder {
 public:
  explicit Finder(const ReuseInput& input) : in_(input), arms_(input.arms.size()) {}

  Lifetimes run() {
    choose_buffers();
    const size_t n = out_.buffers.size();
    out_.live = BitRows(arms_, n);
    out_.used = BitRows(arms_, n);
    out_.needed = BitRows(arms_ + 1, n);
    needs_ = BitRows(arms_, n);
    keeps_ = BitRows(arms_, n);
    find_partners();
    merge_uses();
    flow();
    find_outermost();
    out_.clear_at.assign(n, Lifetimes::never);
    std::vector<bool> hopeless(n, false);
    if (arms_ > 0)
      out_.needed.each(0, [&](uint32_t c) { hopeless[c] = !clear_before_first_use(c); });
    drop(hopeless);
    return std::move(out_);
  }

 private:
  void choose_buffers() {
    const IdMap<GraphBufferId, bool> stays = non_escaping(in_);
    IdMap<GraphBufferId, bool> used(in_.buffers.size(), false);
    for (const Arm& arm : in_.arms)
      for (const ArmUse& use : arm.uses) used[use.buffer] = true;
    auto& chosen = out_.buffers;
    for (const GraphBufferId b : in_.buffers.ids())
      if (stays[b] && used[b] && in_.buffers[b].bytes <= most_reused_bytes) chosen.push_back(b);
    if (chosen.size() > most_reused) {
      std::stable_sort(chosen.begin(), chosen.end(), [&](GraphBufferId a, GraphBufferId b) {
        return in_.buffers[a].bytes > in_.buffers[b].bytes;
      });
      chosen.resize(most_reused);
      std::sort(chosen.begin(), chosen.end());
    }
    column_.assign(in_.buffers.size(), Lifetimes::never);
    for (uint32_t c = 0; c < chosen.size(); ++c) column_[chosen[c]] = c;
  }

  void find_partners() {
    out_.partners.resize(arms_);
    for (const auto& [a, b] : in_.concurrent) {
      if (a == b) continue;
      out_.partners[a].push_back(b);
      out_.partners[b].push_back(a);
    }
    for (auto& list : out_.partners) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  void merge_uses() {
    std::vector<Merged> merged(out_.buffers.size());
    for (uint32_t i = 0; i < arms_; ++i)
      for (const ArmUse& use : in_.arms[i].uses)
        if (column_[use.buffer] != Lifetimes::never) out_.used.set(i, column_[use.buffer]);
    for (uint32_t i = 0; i < arms_; ++i) {
      for (size_t w = 0; w < keeps_.words(); ++w) keeps_.row(i)[w] = ~uint64_t{0};
      for (const ArmUse& use : in_.arms[i].uses) {
        if (column_[use.buffer] == Lifetimes::never) continue;
        Merged& m = merged[column_[use.buffer]];
        m.overwrites |= use.overwrites;
        m.needs |= !use.overwrites && (use.reads || use.writes || use.atomics);
      }
      for (const ArmUse& use : in_.arms[i].uses) {
        const uint32_t c = column_[use.buffer];
        if (c == Lifetimes::never) continue;
        if (merged[c].needs)
          needs_.set(i, c);
        else if (merged[c].overwrites && !used_by_partner(i, c))
          keeps_.reset(i, c);
        merged[c] = {};
      }
    }
  }

  /// True if an arm that may run at the same time uses the buffer: the overwritten contents are
  /// then unknown, from before or after that use.
  bool used_by_partner(uint32_t arm, uint32_t column) const {
    return std::any_of(out_.partners[arm].begin(), out_.partners[arm].end(),
                       [&](uint32_t other) { return out_.used.test(other, column); });
  }

  /// Backward dataflow over the arms, repeated until loops change nothing. Where loops begin and
  /// end together there are several points between two arms, and each has its row: `needed` is the
  /// one before all loops that begin with the arm, `inside` the one where an iteration of a loop
  /// begins, and the third the one after a loop.
  void flow() {
    std::vector<ReuseInput::Loop> loops = in_.loops;
    std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.last > b.last;
    });
    std::vector<std::vector<uint32_t>> begins(arms_), ends(arms_);  // outer before inner
    for (uint32_t l = 0; l < loops.size(); ++l) {
      begins[loops[l].first].push_back(l);
      ends[loops[l].last].push_back(l);
    }
    const size_t n = out_.buffers.size(), words = needs_.words();
    BitRows inside(loops.size(), n), behind(loops.size(), n);
    std::vector<uint64_t> row(words);
    bool changed = true;
    const auto put = [&](uint64_t* into) {
      if (std::equal(row.begin(), row.end(), into)) return;
      std::copy(row.begin(), row.end(), into);
      changed = true;
    };
    const auto add = [&](const uint64_t* other) {
      for (size_t w = 0; w < words; ++w) row[w] |= other[w];
    };
    while (changed) {
      changed = false;
      for (size_t i = arms_; i-- > 0;) {
        std::copy_n(out_.needed.row(i + 1), words, row.begin());
        for (const uint32_t l : ends[i]) {
          put(behind.row(l));
          add(inside.row(l));
        }
        for (size_t w = 0; w < words; ++w) row[w] = (row[w] & keeps_.row(i)[w]) | needs_.row(i)[w];
        for (size_t w = 0; w < words; ++w) out_.live.row(i)[w] = row[w] | out_.used.row(i)[w];
        for (size_t k = begins[i].size(); k-- > 0;) {
          put(inside.row(begins[i][k]));
          if (!loops[begins[i][k]].runs) add(behind.row(begins[i][k]));
        }
        put(out_.needed.row(i));
      }
      if (loops.empty()) return;
    }
  }

  /// The first arm of the outermost loop around each arm, or itself.
  void find_outermost() {
    outermost_.resize(arms_);
    for (uint32_t i = 0; i < arms_; ++i) outermost_[i] = i;
    std::vector<uint32_t> last(arms_, 0);  // of the longest loop that begins here
    for (const ReuseInput::Loop& loop : in_.loops)
      last[loop.first] = std::max(last[loop.first], loop.last);
    for (uint32_t i = 0; i < arms_; ++i)
      for (const uint32_t first = i; i < last[first]; ++i) outermost_[i + 1] = first;
  }

  /// Shortens a live range that reaches back to the beginning of the graph. Returns false if
  /// the buffer cannot be cleared before any arm.
  bool clear_before_first_use(uint32_t column) {
    uint32_t first = 0;
    while (!out_.used.test(first, column)) ++first;
    uint32_t at = outermost_[first];
    // A clear must come before every use, so also before those of arms that run with the first one.
    while (used_by_partner(at, column)) {
      if (at == 0) return false;
      at = outermost_[at - 1];
    }
    for (uint32_t i = 0; i < at; ++i) out_.live.reset(i, column);
    // Clearing is a use. From there to the first other use the buffer is kept: the gap between two
    // arms is not worth a hole.
    for (uint32_t i = at; i < first; ++i) out_.live.set(i, column);
    out_.clear_at[column] = at;
    return true;
  }

  /// Removes columns that cannot be recycled after all.
  void drop(const std::vector<bool>& hopeless) {
    for (uint32_t c = 0; c < hopeless.size(); ++c) {
      if (!hopeless[c]) continue;
      out_.buffers[c] = none;
      for (size_t i = 0; i < arms_; ++i) {
        out_.live.reset(i, c);
        out_.used.reset(i, c);
        out_.needed.reset(i, c);
      }
    }
  }

  const ReuseInput& in_;
  const size_t arms_;
  Lifetimes out_;
  BitRows needs_, keeps_;  // by arm: contents matter; contents are not overwritten
  IdMap<GraphBufferId, uint32_t> column_;
  std::vector<uint32_t> outermost_;
};

}  // namespace

bool makes_sense(const ReuseInput& input) {
  const size_t arms = input.arms.size();
  std::unordered_set<uint32_t> ids;
  for (const Arm& arm : input.arms) {
    if (!ids.insert(arm.id).second) return false;
    for (const ArmUse& use : arm.uses)
      if (!input.buffers.contains(use.buffer)) return false;
  }
  for (const auto& [a, b] : input.concurrent)
    if (a >= arms || b >= arms) return false;
  std::vector<ReuseInput::Loop> loops = input.loops;
  for (const ReuseInput::Loop& loop : loops)
    if (loop.first > loop.last || loop.last >= arms) return false;
  std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  std::vector<uint32_t> open;  // where the loops around end
  for (const ReuseInput::Loop& loop : loops) {
    while (!open.empty() && open.back() < loop.first) open.pop_back();
    if (!open.empty() && loop.last > open.back()) return false;
    open.push_back(loop.last);
  }
  return input.alignment != 0 && input.alignment <= most_reused_bytes;
}

Lifetimes find_lifetimes(const ReuseInput& input) { return Finder(input).run(); }

}  // namespace vyre::plan
