#include "plan/fusion_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/check.h"
#include "check/limits.h"
#include "plan/fuse_handoff.h"

namespace vyre::plan {
namespace {

constexpr uint64_t most_ops = 100'000;      // of a joined kernel
constexpr uint32_t most_inlined_loads = 8;  // of a buffer that is computed where it is loaded
constexpr uint32_t spare_buffers = 4;       // lengths and grids that become scalars

}  // namespace

FusionGrowth::FusionGrowth(const Graph& graph, const FusionCalls& calls,
                           std::span<const CallSummary> summaries, const FusionOptions& options)
    : graph_(graph),
      calls_(calls),
      summaries_(summaries),
      options_(options),
      touched_(graph.buffers.size()) {}

void FusionGrowth::begin(uint32_t call, const Stretch& stretch) {
  ++epoch_;
  first_ = last_ = launch_ = call;
  end_ = stretch.last;
  in_loop_ = stretch.in_loop;
  list_.clear();
  early_.clear();
  joins_.clear();
  const FusionCall& c = calls_.calls[call];
  subgroup_ = c.kernel->subgroup;
  observes_subgroup_ = traps_ = endless_ = false;
  pure_ = true;
  buffers_ = 0;
  shared_ = tables_ = ops_ = work_ = again_ = 0;
  for (const BufferUse& use : summary(call).uses) touch(c, use);
  add_costs(call);
}

void FusionGrowth::add_costs(uint32_t call) {
  const CallSummary& s = summary(call);
  observes_subgroup_ |= s.subgroup;
  traps_ |= s.traps;
  pure_ &= s.pure;
  endless_ |= s.endless;
  shared_ += s.shared_bytes;
  tables_ += s.table_bytes;
  ops_ += s.ops;
  work_ += s.work;
  buffers_ += s.own_buffers;
  for (const Buffer& b : calls_.calls[call].kernel->buffers) buffers_ += b.role == Role::Scalar;
  if (calls_.calls[call].kernel->subgroup) subgroup_ = calls_.calls[call].kernel->subgroup;
}

void FusionGrowth::touch(const FusionCall& call, const BufferUse& use) {
  const uint32_t m = call.memory[use.buffer];
  const Role role = call.kernel->buffers[use.buffer].role;
  Touched& t = touched_[m];
  const bool is_new = t.epoch != epoch_;
  if (is_new) {
    t = {};
    t.epoch = epoch_;
    t.starts_as_zeros = role == Role::Out;
    t.reads_first = use.reads && role != Role::Out;
    t.bytes = call.shape.counts[use.buffer] * size_of(call.kernel->buffers[use.buffer].element);
    list_.push_back(m);
  } else if (role == Role::Out) {
    t.cleared_again = true;
  }
  if (use.reads || use.writes) {
    t.own = Known::Unknown;
    if (!t.used)
      t.form = use.form;
    else if (!merge(t.form, use.form))
      t.one_form = false;
    t.one_form &= use.one_form;
    t.used = true;
  }
  t.reads |= use.reads;
  t.writes |= use.writes;
  t.atomics |= use.atomics;
  t.writable |= is_writable(role);
  t.simple &= use.only_plain && !use.store_in_test;
  t.stores += use.stores;
  t.must_stay_uniform |=
      (summary(uint32_t(&call - calls_.calls.data())).needs_uniform >> use.buffer & 1) != 0;
}

// ---- Appending.

bool FusionGrowth::fits_limits(uint32_t call, std::string& why) const {
  const CallSummary& s = summary(call);
  const auto over = [&](std::string_view what) {
    why = fmt::format("together they have too {}", what);
    return false;
  };
  uint64_t buffers = list_.size() + buffers_ + s.own_buffers + s.uses.size() + spare_buffers;
  for (const Buffer& b : calls_.calls[call].kernel->buffers) buffers += b.role == Role::Scalar;
  if (buffers > limits::buffers) return over("many buffers and scalars");
  if (ops_ + s.ops > most_ops) return over("many operations");
  if (tables_ + s.table_bytes > limits::table_bytes) return over("large tables");
  const uint64_t most = options_.shared_bytes ? options_.shared_bytes : limits::common_shared_bytes;
  if (s.shared_bytes && shared_ && shared_ + s.shared_bytes > most)
    return over("much shared memory");
  return true;
}

bool FusionGrowth::may_follow(const FusionCall& call, const BufferUse& use, bool& handed_over,
                              std::string& why) const {
  const uint32_t m = call.memory[use.buffer];
  const Touched* t = find(m);
  if (!t) return true;
  const std::string& name = graph_.buffers[m].name;
  const Role role = call.kernel->buffers[use.buffer].role;
  if (t->gone) {
    why = fmt::format("`{}` is not in memory any more", name);
    return false;
  }
  const bool is_role_changed = t->writable || is_writable(role);
  const uint32_t at = uint32_t(&call - calls_.calls.data());
  const bool needs_uniform =
      t->must_stay_uniform || (summary(at).needs_uniform >> use.buffer & 1) != 0;
  if (is_role_changed && needs_uniform) {
    why = fmt::format("a barrier depends on loads of `{}`, which must stay read-only", name);
    return false;
  }
  if (role == Role::Out && calls_.reserved[m]) {
    why = fmt::format("`{}` must be cleared between them", name);
    return false;
  }
  if (role == Role::Out) handed_over = true;
  if (!t->writes && !use.writes) return true;
  if (!(t->used && (use.reads || use.writes))) return true;
  if (t->atomics || use.atomics) {
    why = fmt::format("`{}` has atomics, and both use it", name);
    return false;
  }
  handed_over = true;
  IndexForm both = t->form;
  const FusionCall& launch = calls_.calls[launch_];
  if (!t->one_form || !use.one_form || !merge(both, use.form) ||
      !is_own_element(both, launch.kernel->workgroup, launch.shape.num_workgroups)) {
    why = fmt::format("an element of `{}` may be used by several invocations", name);
    return false;
  }
  return true;
}

bool FusionGrowth::append(uint32_t at, std::string& why) {
  const FusionCall &call = calls_.calls[at], &launch = calls_.calls[launch_];
  const CallSummary& s = summary(at);
  const auto refuse = [&](std::string_view text) {
    why = text;
    return false;
  };
  if (call.kernel->workgroup != launch.kernel->workgroup)
    return refuse("their workgroups have other sizes");
  if (call.shape.num_workgroups != launch.shape.num_workgroups)
    return refuse("they launch other numbers of workgroups");
  const uint32_t size = call.kernel->subgroup;
  if (size != subgroup_ && !((size == 0 && !s.subgroup) || (subgroup_ == 0 && !observes_subgroup_)))
    return refuse("their subgroups have other sizes");
  if (traps_ && s.traps) return refuse("both may trap");
  if (traps_ && s.endless)
    return refuse("the first may trap, and the loops of the second have no known bound");
  bool handed_over = false;
  for (const BufferUse& use : s.uses)
    if (!may_follow(call, use, handed_over, why)) return false;
  for (const BufferUse& use : s.uses) touch(call, use);
  add_costs(at);
  joins_.push_back(handed_over ? JoinKind::SameInvocation : JoinKind::Independent);
  last_ = at;
  return true;
}

// ---- What need not be in memory.

/// Nobody sees what was in the buffer before the group, and nobody what is there after it.
bool FusionGrowth::is_fresh(uint32_t buffer, const Touched& t, uint32_t last) const {
  if (calls_.reserved[buffer] || calls_.is_live_after(last, buffer)) return false;
  if (t.starts_as_zeros) return true;
  return !in_loop_ && calls_.is_only_used_in(buffer, first_, last);
}

bool FusionGrowth::is_elidable(uint32_t buffer, const Touched& t, uint32_t last) const {
  if (t.gone) return true;
  if (!is_fresh(buffer, t, last) || t.atomics || !t.simple) return false;
  if (!t.used) return true;
  if (!t.one_form || t.form.rest.low != t.form.rest.high) return false;
  if (t.own == Known::Unknown) {
    const FusionCall& launch = calls_.calls[launch_];
    t.own = is_own_element(t.form, launch.kernel->workgroup, launch.shape.num_workgroups)
                ? Known::Yes
                : Known::No;
  }
  return t.own == Known::Yes;
}

uint32_t FusionGrowth::uncleared() const {
  for (const uint32_t m : list_)
    if (touched_[m].cleared_again && !is_elidable(m, touched_[m], last_)) return m;
  return none;
}

std::vector<uint32_t> FusionGrowth::elided() const {
  std::vector<uint32_t> list = early_;
  if (last_ != first_)
    for (const uint32_t m : list_)
      if (!touched_[m].gone && is_elidable(m, touched_[m], last_)) list.push_back(m);
  std::sort(list.begin(), list.end());
  return list;
}

uint64_t FusionGrowth::bytes() const {
  uint64_t sum = again_;
  for (const uint32_t m : list_) {
    const Touched& t = touched_[m];
    if (t.gone || (first_ != last_ && is_elidable(m, t, last_))) continue;
    sum += t.bytes * (uint64_t{t.reads_first} + t.writes + t.starts_as_zeros);
  }
  return sum;
}

// ---- Computing where it is loaded.

/// The one buffer that the group hands to the call, which nobody else needs; none and why.
uint32_t FusionGrowth::handed_buffer(uint32_t at, std::string& why) const {
  const FusionCall& call = calls_.calls[at];
  uint32_t handed = none;
  for (const BufferUse& use : summary(at).uses) {
    const uint32_t m = call.memory[use.buffer];
    const Touched* t = find(m);
    if (!t) continue;
    const std::string& name = graph_.buffers[m].name;
    const bool writes = is_writable(call.kernel->buffers[use.buffer].role);
    if (writes || t->gone || (t->writable && handed != none && handed != m)) {
      why = writes ? fmt::format("`{}` is overwritten by the second", name)
                   : fmt::format("more than one buffer is handed over, `{}` too", name);
      return none;
    }
    if (t->writable) handed = m;
  }
  if (handed == none) why = "nothing is handed over";
  return handed;
}

/// Is the buffer needed by nobody but this call, and is it all that the group so far leaves behind?
bool FusionGrowth::becomes_gone(uint32_t at, uint32_t buffer, std::string& why) const {
  if (!is_fresh(buffer, touched_[buffer], at)) {
    why = fmt::format("`{}` is needed elsewhere", graph_.buffers[buffer].name);
    return false;
  }
  for (const uint32_t m : list_) {
    const Touched& t = touched_[m];
    if (m == buffer || t.gone || !t.writable) continue;
    if (is_elidable(m, t, at)) continue;
    why = fmt::format("the first also writes `{}`", graph_.buffers[m].name);
    return false;
  }
  return true;
}

/// From here on the kernel is launched as the call; what it had read it may now read anywhere.
void FusionGrowth::take_launch_of(uint32_t at, uint32_t gone) {
  for (const uint32_t m : list_) {
    Touched& t = touched_[m];
    t.one_form = false;
    if (m != gone && !t.writable) continue;
    if (!t.gone) early_.push_back(m);
    t.gone = true;
  }
  launch_ = at;
  for (const BufferUse& use : summary(at).uses) {
    const uint32_t m = calls_.calls[at].memory[use.buffer];
    if (const Touched* t = find(m); t && t->gone) continue;
    touch(calls_.calls[at], use);
  }
  add_costs(at);
  last_ = at;
}

bool FusionGrowth::recompute(uint32_t at, std::string& why) {
  const FusionCall &call = calls_.calls[at], &launch = calls_.calls[launch_];
  const auto refuse = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  if (!pure_ || endless_) return refuse("the first does more than compute its elements");
  if (is_inlined()) return refuse("the first has another call computed in it already");
  const uint32_t m = handed_buffer(at, why);
  if (m == none) return false;
  const std::string& name = graph_.buffers[m].name;
  const Touched& t = touched_[m];
  if (!becomes_gone(at, m, why)) return false;
  for (const uint32_t other : list_)
    if (other != m && touched_[other].writable && !touched_[other].gone &&
        std::any_of(call.memory.begin(), call.memory.end(), [&](uint32_t b) { return b == other; }))
      return refuse(fmt::format("`{}` is handed over, too", graph_.buffers[other].name));
  const IndexForm& f = t.form;
  const bool one_place =
      t.stores == 1 && !t.reads && t.simple && f.rest.low == f.rest.high && f.factors[0] > 0 &&
      std::all_of(f.factors.begin() + 1, f.factors.end(), [](int64_t x) { return x == 0; }) &&
      launch.invocations(1) == 1 && launch.invocations(2) == 1;
  if (!one_place)
    return refuse(fmt::format("the first does not write `{}` in one place by its id alone", name));
  const BufferUse* load = nullptr;
  for (const BufferUse& use : summary(at).uses)
    if (call.memory[use.buffer] == m) {
      if (load) return refuse(fmt::format("`{}` is given to the second twice", name));
      load = &use;
    }
  if (!load->only_plain || load->loads > most_inlined_loads)
    return refuse(fmt::format("the second has too many or other than plain loads of `{}`", name));
  if (t.must_stay_uniform || (summary(at).needs_uniform >> load->buffer & 1))
    return refuse(fmt::format("a barrier depends on loads of `{}`", name));
  if (ops_ * std::max(1u, load->loads) + summary(at).ops > most_ops)
    return refuse("together they have too many operations");

  // How often an element is computed, and what a further time costs: loads mostly hit the cache.
  const double loads = double(load->loaded) * double(call.invocations(0)) *
                       double(call.invocations(1)) * double(call.invocations(2));
  const double elements = std::max(1.0, double(launch.invocations(0)));
  const double more = std::max(0.0, loads - elements);
  double inputs = 0;
  for (const uint32_t b : list_)
    if (!touched_[b].writable && touched_[b].reads) inputs += double(touched_[b].bytes);
  constexpr double bytes_of_op = 0.1, share_from_memory = 0.25;
  const double cost =
      more * double(work_) * bytes_of_op + more / elements * inputs * share_from_memory;
  const double saved = 2.0 * double(t.bytes) + double(options_.launch_bytes);
  if (cost > saved)
    return refuse(
        fmt::format("computing `{}` about {:.1f} times an element costs more than it saves", name,
                    loads / elements));
  again_ += uint64_t(cost);
  take_launch_of(at, m);
  pure_ = pure_ && summary(at).pure;
  joins_.push_back(JoinKind::Recompute);
  return true;
}

// ---- Both ways.

bool FusionGrowth::extend(JoinKind kind, std::string& why) {
  const uint32_t at = last_ + 1;
  if (at > end_) {
    why = "it is not behind them in the same loop";
    return false;
  }
  for (const uint32_t c : {last_, at})
    if (!calls_.calls[c].alone.empty()) {
      why =
          fmt::format("`{}` stays alone: {}", calls_.calls[c].kernel->name, calls_.calls[c].alone);
      return false;
    }
  if (at - first_ >= options_.most_calls) {
    why = fmt::format("a group has at most {} calls", options_.most_calls);
    return false;
  }
  for (const uint32_t c : {last_, at})
    if (summary(c).grid_barrier) {
      why = fmt::format("`{}` has a grid barrier", calls_.calls[c].kernel->name);
      return false;
    }
  if (!fits_limits(at, why)) return false;
  switch (kind) {
    case JoinKind::Independent:
    case JoinKind::SameInvocation:
      return append(at, why);
    case JoinKind::Recompute:
      return recompute(at, why);
    case JoinKind::Handoff:
      return handoff(at, why);
  }
  return false;
}

bool FusionGrowth::extend(std::string& why) {
  if (extend(JoinKind::SameInvocation, why)) return true;
  std::string first, second;
  const bool tile_first = last_ + 1 <= end_ && reads_in_a_loop(last_ + 1);
  if (extend(tile_first ? JoinKind::Handoff : JoinKind::Recompute, first)) return true;
  if (extend(tile_first ? JoinKind::Recompute : JoinKind::Handoff, second)) return true;
  if (first != why && first != "nothing is handed over") why += "; " + first;
  if (second != first && second != why && second != "nothing is handed over") why += "; " + second;
  return false;
}

/// Invocations that go over many elements jump about in memory; the tile is made by neighbours for
/// neighbours, and the jumping is then in shared memory.
bool FusionGrowth::reads_in_a_loop(uint32_t at) const {
  std::string why;
  const uint32_t m = handed_buffer(at, why);
  if (m == none) return false;
  for (const BufferUse& use : summary(at).uses)
    if (calls_.calls[at].memory[use.buffer] == m) return use.loaded > use.loads;
  return false;
}

bool FusionGrowth::handoff(uint32_t at, std::string& why) {
  const auto refuse = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  if (first_ != last_ || traps_) return refuse("only a call alone that cannot trap is handed over");
  const uint32_t m = handed_buffer(at, why);
  if (m == none || !becomes_gone(at, m, why)) return false;
  for (const uint32_t other : list_)
    if (other != m && touched_[other].writable)
      return refuse(fmt::format("the first also writes `{}`", graph_.buffers[other].name));
  const FusionCall &producer = calls_.calls[first_], &consumer = calls_.calls[at];
  const auto place = [&](const FusionCall& call) {
    return uint32_t(std::find(call.memory.begin(), call.memory.end(), m) - call.memory.begin());
  };
  if (std::count(consumer.memory.begin(), consumer.memory.end(), m) != 1)
    return refuse(fmt::format("`{}` is given to the second twice", graph_.buffers[m].name));
  const auto key = std::tuple(producer.kernel, place(producer), consumer.kernel, place(consumer));
  auto found = windows_.find(key);
  if (found == windows_.end()) {
    Window w;
    const auto window = find_handoff_window(*producer.kernel, place(producer), *consumer.kernel,
                                            place(consumer), default_handoff_budget, w.why_not);
    if (window) {
      // Whether the kernel can be made is known when it is made; it is rare enough to try.
      const JoinOutcome joined =
          fuse_handoff(*producer.kernel, place(producer), *consumer.kernel, place(consumer));
      w.possible = joined.joined && !has_errors(check(joined.joined->program));
      if (!w.possible)
        w.why_not = joined.joined ? "the checker refuses the kernel" : joined.why_not;
      if (joined.joined) w.limits = joined.joined->limits;
      w.recomputed = window->recomputed;
      w.bytes = window->bytes;
    }
    found = windows_.emplace(key, std::move(w)).first;
  }
  const Window& w = found->second;
  if (!w.possible) return refuse(w.why_not);
  for (const JoinedLimit& limit : w.limits) {
    const LaunchShape& shape = (limit.of.kernel == 0 ? producer : consumer).shape;
    const bool groups = limit.of.kind == JoinedParameter::Kind::NumWorkgroups;
    if ((groups ? shape.num_workgroups[limit.of.index] : shape.counts[limit.of.index]) > limit.most)
      return refuse("at these lengths indices of 32 bits would wrap");
  }
  const uint64_t most = options_.shared_bytes ? options_.shared_bytes : limits::common_shared_bytes;
  if (shared_ + summary(at).shared_bytes + w.bytes > most)
    return refuse("together they have too much shared memory");
  double inputs = 0;
  for (const uint32_t b : list_)
    if (b != m && touched_[b].reads) inputs += double(touched_[b].bytes);
  const double invocations = double(producer.invocations(0)) * double(producer.invocations(1)) *
                             double(producer.invocations(2));
  const double cost = w.recomputed * (inputs + 0.1 * double(work_) * invocations);
  if (cost > 2.0 * double(touched_[m].bytes) + double(options_.launch_bytes))
    return refuse(
        fmt::format("computing `{}` about {:.1f} times an element costs more than it saves",
                    graph_.buffers[m].name, 1 + w.recomputed));
  again_ += uint64_t(cost);
  shared_ += w.bytes;
  take_launch_of(at, m);
  joins_.push_back(JoinKind::Handoff);
  return true;
}

bool FusionGrowth::is_inlined() const {
  return std::any_of(joins_.begin(), joins_.end(),
                     [](JoinKind k) { return k == JoinKind::Recompute || k == JoinKind::Handoff; });
}

}  // namespace vyre::plan
