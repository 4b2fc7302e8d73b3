#include "plan/launches/launch_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace vyre::plan {
namespace {

using Sum = unsigned __int128;
constexpr uint64_t most = std::numeric_limits<uint64_t>::max();

Diagnostic overflow(const LaunchStage& stage, std::string_view field) {
  return diagnose(Code::StageBytesOverflow, {},
                  fmt::format("{} of stage {} overflows 64 bits (input {}, output {}, scratch {})",
                              field, stage.id, stage.input, stage.output, stage.scratch))
      .with_fix("give the real sizes in bytes");
}

Result<uint64_t> add(uint64_t a, uint64_t b, const LaunchStage& stage, std::string_view field) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return overflow(stage, field);
  return sum;
}

/// Bytes that a stage needs if it is alone.
Result<uint64_t> need_of(const LaunchStage& stage) {
  const Result<uint64_t> io = add(stage.input, stage.output, stage, "stage io");
  if (!io) return io;
  return add(*io, stage.scratch, stage, "stage required");
}

Diagnostic over_budget(const LaunchStage& stage, uint64_t need, uint64_t budget) {
  return diagnose(
             Code::StageOverBudget, {},
             fmt::format("stage {} needs {} bytes; the budget is {} bytes", stage.id, need, budget))
      .with_fix(
          fmt::format("raise the budget to at least {} bytes, or make the stage smaller", need));
}

/// Empties the list and reserves n elements. The caller may supply any allocator, which may throw
/// any exception.
template <class List>
Result<> reserve(List& list, size_t n) {
  list.clear();
  try {
    list.reserve(n);
  } catch (...) {
    return diagnose(Code::PlanStorageFailed, {},
                    fmt::format("the storage has no room for {} entries of {} bytes", n,
                                sizeof(typename List::value_type)))
        .with_fix("give storage with more memory, or plan fewer stages at once");
  }
  return Ok{};
}

}  // namespace

LaunchGroupStorage::LaunchGroupStorage(std::pmr::memory_resource* memory)
    : groups_(memory), ids_(memory), best_(memory), heap_(memory) {}

class GroupPlanner {
 public:
  GroupPlanner(std::span<const LaunchStage> stages, uint64_t budget, LaunchGroupStorage& storage)
      : stages_(stages), budget_(budget), s_(storage) {
    s_.groups_.clear();
  }

  Result<LaunchPlan> greedy() {
    if (auto checked = check(); !checked) return checked.errors();
    for (uint32_t i = 0; i < stages_.size(); ++i) {
      // Also of a stage that is going to join: whether a stage is one must not depend on its
      // neighbours.
      const Result<uint64_t> need = need_of(stages_[i]);
      if (!need) return need.errors();
      const Result<bool> joined = join(i);
      if (!joined) return joined.errors();
      if (*joined) continue;
      if (*need > budget_) return over_budget(stages_[i], *need, budget_);
      s_.groups_.push_back({i, 1, stages_[i].layout_hash, *need, 0});
    }
    return finish();
  }

  /// Checks the input of every plan, and reserves the memory.
  Result<> check() {
    if (budget_ == 0)
      return diagnose(Code::LaunchBudgetZero, {}, "the budget of a launch is 0 bytes")
          .with_fix("give the bytes that one launch may use");
    if (stages_.size() == 1) {
      const Result<uint64_t> need = need_of(stages_[0]);
      if (!need) return need.errors();
      if (*need > budget_) return over_budget(stages_[0], *need, budget_);
    }
    if (auto room = reserve(s_.ids_, stages_.size()); !room) return room;
    if (auto room = reserve(s_.groups_, stages_.size()); !room) return room;
    return check_ids();
  }

  Result<LaunchPlan> finish() {
    LaunchPlan plan;
    for (const LaunchGroup& g : s_.groups_) {
      const LaunchStage& last = stages_[g.first + g.count - 1];
      const Result<uint64_t> sum = add(plan.avoided_bytes, g.avoided_bytes, last, "avoided bytes");
      if (!sum) return sum.errors();
      plan.avoided_bytes = *sum;
    }
    plan.groups = s_.groups_;
    plan.launches = s_.groups_.size();
    plan.avoided_launches = stages_.size() - s_.groups_.size();
    return plan;
  }

 private:
  Result<> check_ids() {
    auto& ids = s_.ids_;
    for (uint32_t i = 0; i < stages_.size(); ++i) ids.push_back({stages_[i].id, i});
    std::sort(ids.begin(), ids.end(), [](const auto& a, const auto& b) {
      return a.id != b.id ? a.id < b.id : a.stage < b.stage;
    });
    size_t first = 0;  // of the pairs, the first in the list
    for (size_t i = 1; i < ids.size(); ++i)
      if (ids[i].id == ids[i - 1].id && (first == 0 || ids[i].stage < ids[first].stage)) first = i;
    if (first == 0) return Ok{};
    return diagnose(Code::DuplicateStageId, {},
                    fmt::format("stages {} and {} of the list both have the id {}",
                                ids[first - 1].stage, ids[first].stage, ids[first].id))
        .with_fix("give each stage an id of its own");
  }

  Result<bool> join(uint32_t i) {
    if (s_.groups_.empty()) return false;
    LaunchGroup& group = s_.groups_.back();
    const LaunchStage& stage = stages_[i];
    if (stage.needs_host || stage.layout_hash != group.layout_hash) return false;
    const Result<uint64_t> scratch =
        add(group.required_bytes, stage.scratch, stage, "fused scratch");
    if (!scratch) return scratch.errors();
    const Result<uint64_t> required = add(*scratch, stage.output, stage, "fused output");
    if (!required) return required.errors();
    if (*required > budget_) return false;
    const Result<uint64_t> avoided =
        add(group.avoided_bytes, stages_[i - 1].output, stage, "avoided bytes");
    if (!avoided) return avoided.errors();
    group.required_bytes = *required;
    group.avoided_bytes = *avoided;
    ++group.count;
    return true;
  }

  std::span<const LaunchStage> stages_;
  const uint64_t budget_;
  LaunchGroupStorage& s_;
};

/// Dynamic programming over where the last group begins.
///
/// With prefix sums A of scratch + output and O of outputs, a group of stages j … i-1 needs
/// input(j) + A[i] - A[j] bytes and avoids O[i-1] - O[j]. So it fits if input(j) - A[j] is at most
/// budget - A[i], a bound that only falls as i grows: a j that is too large once is too large
/// forever. And of two j's the better one, by launches and then by avoided[j] - O[j], is the same
/// for every i. A heap of the j's that are left therefore gives the best for each i.
class BestGroups {
 public:
  BestGroups(std::span<const LaunchStage> stages, uint64_t budget, LaunchGroupStorage& storage)
      : stages_(stages), budget_(budget), s_(storage), best_(storage.best_), heap_(storage.heap_) {}

  Result<LaunchPlan> plan() {
    GroupPlanner planner(stages_, budget_, s_);
    if (auto checked = planner.check(); !checked) return checked.errors();
    if (auto room = reserve(best_, stages_.size() + 1); !room) return room.errors();
    if (auto room = reserve(heap_, stages_.size()); !room) return room.errors();
    best_.push_back({});
    for (uint32_t i = 0; i < stages_.size(); ++i)
      if (auto added = add_stage(i); !added) return added.errors();
    return write(planner);
  }

 private:
  using Best = LaunchGroupStorage::Best;

  /// Bytes of a group that begins with stage j, up to a prefix sum.
  Sum need(uint32_t j, Sum added) const { return stages_[j].input + (added - best_[j].added); }

  /// For a heap whose front is the best: true if a is worse than b.
  bool worse(uint32_t a, uint32_t b) const {
    const Best &x = best_[a], &y = best_[b];
    if (x.launches != y.launches) return x.launches > y.launches;
    if (x.standing != y.standing) return x.standing < y.standing;
    return a < b;
  }

  Result<> add_stage(uint32_t i) {
    const LaunchStage& stage = stages_[i];
    const Result<uint64_t> alone = need_of(stage);
    if (!alone) return alone.errors();
    if (i > 0 && (stage.needs_host || stage.layout_hash != stages_[i - 1].layout_hash))
      heap_.clear();
    const auto order = [this](uint32_t a, uint32_t b) { return worse(a, b); };
    heap_.push_back(i);
    std::push_heap(heap_.begin(), heap_.end(), order);

    Best next;
    next.added = best_[i].added + stage.scratch + stage.output;
    next.outputs = best_[i].outputs + stage.output;
    while (!heap_.empty() && need(heap_.front(), next.added) > budget_) {
      std::pop_heap(heap_.begin(), heap_.end(), order);
      heap_.pop_back();
    }
    // No group that ends here fits, not even the stage alone; nor does a longer one.
    if (heap_.empty()) return over_budget(stage, *alone, budget_);
    const uint32_t j = heap_.front();
    next.from = j;
    next.launches = best_[j].launches + 1;
    next.avoided = best_[j].avoided + (best_[i].outputs - best_[j].outputs);
    next.standing = static_cast<__int128>(next.avoided) - static_cast<__int128>(next.outputs);
    best_.push_back(next);
    return Ok{};
  }

  Result<LaunchPlan> write(GroupPlanner& planner) {
    for (uint32_t end = static_cast<uint32_t>(stages_.size()); end > 0;) {
      const uint32_t first = best_[end].from;
      LaunchGroup group{first, end - first, stages_[first].layout_hash, 0, 0};
      group.required_bytes = static_cast<uint64_t>(need(first, best_[end].added));
      const Sum avoided = best_[end - 1].outputs - best_[first].outputs;
      if (avoided > most) return overflow(stages_[end - 1], "avoided bytes");
      group.avoided_bytes = static_cast<uint64_t>(avoided);
      s_.groups_.push_back(group);
      end = first;
    }
    std::reverse(s_.groups_.begin(), s_.groups_.end());
    return planner.finish();
  }

  std::span<const LaunchStage> stages_;
  const uint64_t budget_;
  LaunchGroupStorage& s_;
  std::pmr::vector<Best>& best_;
  std::pmr::vector<uint32_t>& heap_;
};

Result<LaunchPlan> plan_launch_groups(std::span<const LaunchStage> stages, uint64_t budget,
                                      LaunchGroupStorage& storage) {
  return GroupPlanner(stages, budget, storage).greedy();
}

Result<LaunchPlan> best_launch_groups(std::span<const LaunchStage> stages, uint64_t budget,
                                      LaunchGroupStorage& storage) {
  return BestGroups(stages, budget, storage).plan();
}

}  // namespace vyre::plan
