#include "plan/memory/check_reuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace vyre::plan {
namespace {

/// The state of a buffer's bytes when an arm begins, on every path that leads there.
struct Known {
  bool intact = false;           // they hold the expected contents
  bool untouched = true;         // no arm has used the buffer so far
  GraphBufferId spoiler = none;  // why not intact: the buffer that was written there
  /// Joins the state of another path. Returns true if that changes the state.
  bool meet(const Known& other) {
    const bool changed = (intact && !other.intact) || (untouched && !other.untouched);
    if (intact && !other.intact) spoiler = other.spoiler;
    intact &= other.intact;
    untouched &= other.untouched;
    return changed;
  }
};
using State = IdMap<GraphBufferId, Known>;

class Checker {
 public:
  Checker(const ReuseInput& input, const ReusePlan& plan) : in_(input), plan_(plan) {}

  Diagnostics run() {
    check_input();
    if (errors_.empty()) check_shape();
    if (!errors_.empty()) return std::move(errors_);
    check_places();
    check_sums();
    find_overlaps();
    check_same_time();
    walk();
    return std::move(errors_);
  }

 private:
  template <class... Args>
  void report(Code code, std::string fix, fmt::format_string<Args...> text, Args&&... args) {
    std::string message = fmt::format(text, std::forward<Args>(args)...);
    if (!said_.insert(message).second) return;
    errors_.push_back(diagnose(code, {}, std::move(message)).with_fix(std::move(fix)));
  }
  template <class... Args>
  void malformed(fmt::format_string<Args...> text, Args&&... args) {
    report(Code::ReusePlanMalformed, "make the plan anew from the graph that it is used for", text,
           std::forward<Args>(args)...);
  }
  std::string arm(uint32_t i) const {
    const Arm& a = in_.arms[i];
    return a.name.empty() ? fmt::format("arm {}", a.id)
                          : fmt::format("arm {} (`{}`)", a.id, a.name);
  }
  bool shares(GraphBufferId b) const { return plan_.placement[b].slot != Placement::own; }

  void check_input() {
    std::map<uint32_t, uint32_t> ids;
    for (uint32_t i = 0; i < in_.arms.size(); ++i) {
      if (const auto [at, is_new] = ids.insert({in_.arms[i].id, i}); !is_new)
        malformed("arms {} and {} of the list both have the id {}", at->second, i, at->first);
      for (const ArmUse& use : in_.arms[i].uses)
        if (!in_.buffers.contains(use.buffer))
          malformed("{} uses buffer {}; there are {}", arm(i), use.buffer.value(),
                    in_.buffers.size());
    }
    for (const auto& [a, b] : in_.concurrent)
      if (std::max(a, b) >= in_.arms.size())
        malformed("arms {} and {} are to run at the same time; there are {}", a, b,
                  in_.arms.size());
    for (const ReuseInput::Loop& x : in_.loops) {
      if (x.first > x.last || x.last >= in_.arms.size())
        malformed("a loop goes from arm {} to {}; there are {}", x.first, x.last, in_.arms.size());
      for (const ReuseInput::Loop& y : in_.loops)
        if (x.first < y.first && y.first <= x.last && x.last < y.last)
          malformed("loops [{}, {}] and [{}, {}] cross", x.first, x.last, y.first, y.last);
    }
    if (in_.alignment == 0) malformed("the alignment is 0");
  }

  void check_shape() {
    if (plan_.placement.size() != in_.buffers.size())
      malformed("there are places for {} buffers, but {} buffers", plan_.placement.size(),
                in_.buffers.size());
    for (const GraphBufferId b : plan_.placement.ids())
      if (const uint32_t slot = plan_.placement[b].slot;
          slot != Placement::own && slot >= plan_.slot_bytes.size())
        malformed("buffer {} is in slot {}; there are {}", b.value(), slot,
                  plan_.slot_bytes.size());
    for (const auto& [a, b] : plan_.clears) {
      if (a >= in_.arms.size() || !in_.buffers.contains(b)) {
        malformed("buffer {} is cleared before arm {}; there are {} and {}", b.value(), a,
                  in_.buffers.size(), in_.arms.size());
        continue;
      }
      // A buffer that is not in a slot belongs to the executor or the host.
      if (plan_.placement.contains(b) && !shares(b))
        malformed("buffer {} is cleared before arm {}, but it has memory of its own", b.value(), a);
      for (const ReuseInput::Loop& loop : in_.loops)
        if (loop.first < a && a <= loop.last)
          malformed("buffer {} is cleared inside the loop of arms {} to {}", b.value(), loop.first,
                    loop.last);
    }
    // The executor of a plan processes its clears once, from the first to the last.
    if (!std::is_sorted(plan_.clears.begin(), plan_.clears.end()))
      malformed("the clears are not in the order of the arms");
  }

  void check_places() {
    IdMap<GraphBufferId, bool> seen(in_.buffers.size());
    for (const GraphBufferId b : seen.ids())
      seen[b] = in_.buffers[b].host || in_.buffers[b].indirect;
    for (const Arm& a : in_.arms)
      for (const ArmUse& use : a.uses)
        if (use.atomics) seen[use.buffer] = true;
    for (const GraphBufferId b : in_.buffers.ids()) {
      if (!shares(b)) continue;
      const auto [slot, offset] = plan_.placement[b];
      if (seen[b])
        report(Code::ReuseOfEscapingBuffer, "give it memory of its own",
               "buffer {} is in slot {}, but the host, an atomic, a loop or a grid sees it",
               b.value(), slot);
      if (offset % in_.alignment != 0)
        report(Code::ReuseMisaligned, "make the plan anew with the device's alignment",
               "buffer {} is at offset {} of slot {}, which is no multiple of {}", b.value(),
               offset, slot, in_.alignment);
      const uint64_t room = plan_.slot_bytes[slot];
      if (offset > room || room - offset < in_.buffers[b].bytes)
        report(Code::ReuseOutOfSlot, "make the plan anew with the buffer's real size",
               "buffer {} has {} bytes at offset {} of slot {}, which has {} bytes", b.value(),
               in_.buffers[b].bytes, offset, slot, room);
    }
  }

  void check_sums() {
    const auto expect = [&](std::string_view what, uint64_t stated, unsigned __int128 real) {
      if (stated != real)
        report(Code::ReuseWrongSums, "make the plan anew instead of changing it",
               "the plan states {} bytes {}; it is {}", stated, what, static_cast<uint64_t>(real));
    };
    unsigned __int128 slots = 0, alone = 0;
    for (const uint64_t bytes : plan_.slot_bytes) slots += bytes;
    for (const GraphBufferId b : in_.buffers.ids())
      if (shares(b)) {
        const unsigned __int128 bytes = in_.buffers[b].bytes;
        alone += (bytes + in_.alignment - 1) / in_.alignment * in_.alignment;
      }
    expect("after", plan_.after, slots);
    expect("before", plan_.before, alone);
    if (plan_.live_sum > plan_.after)
      report(Code::ReuseWrongSums, "make the plan anew instead of changing it",
             "the plan states that {} bytes are needed at once, and has {}", plan_.live_sum,
             plan_.after);
  }

  /// By buffer: others that have bytes in common with it. A sweep over each slot.
  void find_overlaps() {
    overlaps_.resize(in_.buffers.size());
    std::vector<GraphBufferId> order;
    for (const GraphBufferId b : in_.buffers.ids())
      if (shares(b) && in_.buffers[b].bytes > 0) order.push_back(b);
    const auto place = [&](GraphBufferId b) {
      return std::tuple(plan_.placement[b].slot, plan_.placement[b].offset, b);
    };
    std::sort(order.begin(), order.end(),
              [&](GraphBufferId a, GraphBufferId b) { return place(a) < place(b); });
    for (size_t k = 0; k < order.size(); ++k)
      for (size_t l = k + 1; l < order.size(); ++l) {
        const Placement &a = plan_.placement[order[k]], &b = plan_.placement[order[l]];
        if (b.slot != a.slot || b.offset - a.offset >= in_.buffers[order[k]].bytes) break;
        overlaps_[order[k]].push_back(order[l]);
        overlaps_[order[l]].push_back(order[k]);
      }
    for (auto& list : overlaps_) std::sort(list.begin(), list.end());
  }
  bool overlap(GraphBufferId a, GraphBufferId b) const {
    return std::binary_search(overlaps_[a].begin(), overlaps_[a].end(), b);
  }

  /// Clears come at the beginning of their arm, so they count as its uses.
  void check_same_time() {
    used_.resize(in_.arms.size());
    for (uint32_t i = 0; i < in_.arms.size(); ++i)
      for (const ArmUse& use : in_.arms[i].uses) used_[i].push_back(use.buffer);
    cleared_.resize(in_.arms.size());
    for (const auto& [a, b] : plan_.clears) {
      used_[a].push_back(b);
      cleared_[a].push_back(b);
    }
    for (auto& list : used_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    for (uint32_t i = 0; i < in_.arms.size(); ++i) check_pair(i, i);
    racing_.resize(in_.arms.size());
    for (const auto& [a, b] : in_.concurrent) {
      if (a == b) continue;
      check_pair(a, b);
      check_clears(a, b);
      check_clears(b, a);
      std::set_intersection(used_[a].begin(), used_[a].end(), used_[b].begin(), used_[b].end(),
                            std::back_inserter(racing_[a]));
      std::set_intersection(used_[a].begin(), used_[a].end(), used_[b].begin(), used_[b].end(),
                            std::back_inserter(racing_[b]));
    }
  }
  void check_pair(uint32_t a, uint32_t b) {
    for (const GraphBufferId x : used_[a])
      for (const GraphBufferId y : overlaps_[x])
        if (std::binary_search(used_[b].begin(), used_[b].end(), y))
          report(Code::ReuseAtTheSameTime, "give one of them another place",
                 "buffers {} and {} share bytes of slot {}, but {} uses the one while {} uses the "
                 "other",
                 std::min(x, y).value(), std::max(x, y).value(), plan_.placement[x].slot, arm(a),
                 arm(b));
  }
  void check_clears(uint32_t clearing, uint32_t other) {
    for (const GraphBufferId buffer : cleared_[clearing])
      if (uses(other, buffer)) not_cleared(other, buffer, "at the same time");
  }
  bool uses(uint32_t a, GraphBufferId b) const {
    const auto& list = in_.arms[a].uses;
    return std::any_of(list.begin(), list.end(),
                       [b](const ArmUse& use) { return use.buffer == b; });
  }
  void not_cleared(uint32_t at, GraphBufferId buffer, std::string_view why) {
    report(Code::ReuseMissingClear, "clear it once, before its first use",
           "buffer {} must be zeros where {} uses it, but it is cleared {}", buffer.value(),
           arm(at), why);
  }

  /// Iterates over all arms until the states of loops are stable; the last iteration reports.
  void walk() {
    State start(in_.buffers.size());
    for (const GraphBufferId b : start.ids())
      start[b].intact = !shares(b) || in_.buffers[b].bytes == 0;
    loops_ = in_.loops;
    std::sort(loops_.begin(), loops_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.last > b.last;
    });
    heads_.assign(loops_.size(), {});
    for (bool changed = true; changed;) changed = round(start, false);
    round(start, true);
  }

  bool round(State state, bool reports) {
    bool changed = false;
    std::vector<State> skipped(loops_.size());
    for (uint32_t i = 0; i < in_.arms.size(); ++i) {
      for (const GraphBufferId buffer : cleared_[i]) clear(state, i, buffer, reports);
      for (size_t l = 0; l < loops_.size(); ++l) {  // outer ones begin first
        if (loops_[l].first != i) continue;
        skipped[l] = state;
        if (!heads_[l].empty()) meet(state, heads_[l]);
      }
      run_arm(state, i, reports);
      for (size_t l = loops_.size(); l-- > 0;) {  // inner ones end first
        if (loops_[l].last != i) continue;
        if (heads_[l].empty()) {
          heads_[l] = state;
          changed = true;
        } else {
          changed |= meet(heads_[l], state);
        }
        if (!loops_[l].runs) meet(state, skipped[l]);
      }
    }
    return changed;
  }
  static bool meet(State& into, const State& other) {
    bool changed = false;
    for (const GraphBufferId b : into.ids()) changed |= into[b].meet(other[b]);
    return changed;
  }

  void write(State& state, GraphBufferId buffer) {
    for (const GraphBufferId other : overlaps_[buffer]) {
      state[other].intact = false;
      state[other].spoiler = buffer;
    }
  }

  void clear(State& state, uint32_t i, GraphBufferId buffer, bool reports) {
    if (!shares(buffer)) return;
    if (reports && !state[buffer].untouched) not_cleared(i, buffer, "after it has been used");
    write(state, buffer);
    state[buffer].intact = true;
  }

  void run_arm(State& state, uint32_t i, bool reports) {
    for (const ArmUse& use : in_.arms[i].uses) {
      const bool needs = !use.overwrites && (use.reads || use.writes || use.atomics);
      const Known& known = state[use.buffer];
      if (!needs || known.intact || !reports) continue;
      if (known.untouched || known.spoiler == none)
        not_cleared(i, use.buffer, "nowhere before");
      else
        report(Code::ReuseClobbersContents, "give one of them another place",
               "{} needs the contents of buffer {}, but buffer {} may have been written there",
               arm(i), use.buffer.value(), known.spoiler.value());
      state[use.buffer].intact = true;  // consequences are not reported again
    }
    for (const ArmUse& use : in_.arms[i].uses) {
      if (use.writes || use.atomics || use.overwrites) write(state, use.buffer);
      // An arm that runs at the same time may look before this one writes.
      const auto& racing = racing_[i];
      if (use.overwrites && std::find(racing.begin(), racing.end(), use.buffer) == racing.end())
        state[use.buffer].intact = true;
      if (use.reads || use.writes || use.atomics || use.overwrites)
        state[use.buffer].untouched = false;
    }
  }

  const ReuseInput& in_;
  const ReusePlan& plan_;
  IdMap<GraphBufferId, std::vector<GraphBufferId>> overlaps_;
  // By arm: buffers that it uses or clears, that it clears, that it uses while another does.
  std::vector<std::vector<GraphBufferId>> used_, cleared_, racing_;
  std::vector<ReuseInput::Loop> loops_;  // outer before inner
  std::vector<State> heads_;  // by loop: the state after its last arm, over all iterations
  std::set<std::string> said_;
  Diagnostics errors_;
};

}  // namespace

Result<> check_reuse(const ReuseInput& input, const ReusePlan& plan) {
  Diagnostics errors = Checker(input, plan).run();
  if (errors.empty()) return Ok{};
  return errors;
}

}  // namespace vyre::plan
