#include "plan/fusion/fusion_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/check.h"
#include "check/check_limits.h"
#include "plan/fusion/fuse_handoff.h"

namespace vyre::plan {
namespace {

constexpr uint64_t most_ops = 100'000;      // of a joined kernel
constexpr uint32_t most_inlined_loads = 8;  // of a buffer that is recomputed at its loads
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
  shared_ = tables_ = ops_ = 0;
  tile_ = none;
  tile_bytes_ = 0;
  bodies_.clear();
  for (const BufferUse& use : summary(call).uses) touch(c, use);
  add_costs(call);
  add_body(call);
}

void FusionGrowth::add_costs(uint32_t call) {
  const CallSummary& s = summary(call);
  observes_subgroup_ |= s.subgroup;
  if (s.traps && !traps_) trapping_ = call;
  traps_ |= s.traps;
  pure_ &= s.pure;
  endless_ |= s.endless;
  shared_ += s.shared_bytes;
  tables_ += s.table_bytes;
  ops_ += s.ops;
  buffers_ += s.own_buffers;
  for (const Buffer& b : calls_.calls[call].kernel->buffers) buffers_ += b.role == Role::Scalar;
  if (calls_.calls[call].kernel->subgroup) subgroup_ = calls_.calls[call].kernel->subgroup;
}

void FusionGrowth::touch(const FusionCall& call, const BufferUse& use) {
  const GraphBufferId m = call.memory[use.buffer];
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
      (summary(uint32_t(&call - calls_.calls.data())).needs_uniform & bit_of(use.buffer)) != 0;
}

// ---- Appending.

bool FusionGrowth::fits_limits(uint32_t call, std::string& why) const {
  const CallSummary& s = summary(call);
  const auto over = [&](uint64_t has, uint64_t max, std::string_view what) {
    why = fmt::format("the fused kernel would have {} {}, and the limit is {}", has, what, max);
    return false;
  };
  uint64_t buffers = list_.size() + buffers_ + s.own_buffers + s.uses.size() + spare_buffers;
  for (const Buffer& b : calls_.calls[call].kernel->buffers) buffers += b.role == Role::Scalar;
  if (buffers > limits::buffers) return over(buffers, limits::buffers, "buffers and scalars");
  if (ops_ + s.ops > most_ops) return over(ops_ + s.ops, most_ops, "operations");
  if (tables_ + s.table_bytes > limits::table_bytes)
    return over(tables_ + s.table_bytes, limits::table_bytes, "bytes of tables");
  const uint64_t most = options_.shared_bytes ? options_.shared_bytes : limits::common_shared_bytes;
  if (s.shared_bytes && shared_ && shared_ + s.shared_bytes > most)
    return over(shared_ + s.shared_bytes, most, "bytes of shared memory");
  return true;
}

bool FusionGrowth::may_follow(const FusionCall& call, const BufferUse& use, bool& handed_over,
                              std::string& why) const {
  const GraphBufferId m = call.memory[use.buffer];
  const Touched* t = find(m);
  if (!t) return true;
  const uint32_t at = uint32_t(&call - calls_.calls.data());
  const std::string& name = graph_.buffers[m].name;
  const Role role = call.kernel->buffers[use.buffer].role;
  if (t->gone) {
    why = fmt::format("{} uses `{}`, which the fused kernel no longer stores", stage(at), name);
    return false;
  }
  const bool is_role_changed = t->writable || is_writable(role);
  const bool needs_uniform =
      t->must_stay_uniform || (summary(at).needs_uniform & bit_of(use.buffer)) != 0;
  if (is_role_changed && needs_uniform) {
    why = fmt::format("a barrier depends on loads of `{}`, which must stay read-only", name);
    progress_ = Progress::Inapplicable;
    return false;
  }
  if (role == Role::Out && calls_.reserved[m]) {
    why = fmt::format("`{}` must be cleared before {}", name, stage(at));
    return false;
  }
  if (role == Role::Out) handed_over = true;
  if (!t->writes && !use.writes) return true;
  if (!(t->used && (use.reads || use.writes))) return true;
  if (t->atomics || use.atomics) {
    why = fmt::format("{} accesses `{}` by atomics, and {} uses it, too",
                      stage(t->atomics ? last_user(m, true) : at), name,
                      stage(t->atomics ? at : last_user(m, false)));
    return false;
  }
  handed_over = true;
  IndexForm both = t->form;
  const FusionCall& launch = calls_.calls[launch_];
  if (!t->one_form || !use.one_form || !merge(both, use.form) ||
      !is_own_element(both, launch.kernel->workgroup, launch.shape.num_workgroups)) {
    why = why_crossing(at, m);
    // Equal indices that overlap are the cause; different ones are for the other kinds of join.
    const bool is_same =
        t->one_form && use.one_form && merge(both, use.form) && both.rest.low == both.rest.high;
    progress_ = is_same ? Progress::Checked : Progress::Inapplicable;
    return false;
  }
  return true;
}

/// The last call of the group that uses the buffer, or that may write it.
uint32_t FusionGrowth::last_user(GraphBufferId buffer, bool writes) const {
  for (uint32_t c = last_ + 1; c-- > first_;) {
    const FusionCall& call = calls_.calls[c];
    for (const BufferId b : call.memory.ids())
      if (call.memory[b] == buffer && (!writes || is_writable(call.kernel->buffers[b].role)))
        return c;
  }
  return last_;
}

std::string FusionGrowth::why_crossing(uint32_t at, GraphBufferId buffer) const {
  const Touched& t = touched_[buffer];
  return fmt::format("an element of `{}` may be used by several invocations of {} and {}",
                     graph_.buffers[buffer].name, stage(last_user(buffer, t.writes)), stage(at));
}

bool FusionGrowth::append(uint32_t at, std::string& why) {
  const FusionCall &call = calls_.calls[at], &launch = calls_.calls[launch_];
  const CallSummary& s = summary(at);
  progress_ = Progress::Inapplicable;
  const auto refuse = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  if (call.kernel->workgroup != launch.kernel->workgroup)
    return refuse(fmt::format("workgroups of {} have {} invocations, those of {} have {}",
                              stage(launch_), sizes_text(launch.kernel->workgroup), stage(at),
                              sizes_text(call.kernel->workgroup)));
  if (call.shape.num_workgroups != launch.shape.num_workgroups)
    return refuse(fmt::format("{} launches {} workgroups, {} launches {}", stage(launch_),
                              sizes_text(launch.shape.num_workgroups), stage(at),
                              sizes_text(call.shape.num_workgroups)));
  const uint32_t size = call.kernel->subgroup;
  if (size != subgroup_ && !((size == 0 && !s.subgroup) || (subgroup_ == 0 && !observes_subgroup_)))
    return refuse(why_other_subgroup(at));
  progress_ = Progress::Decided;
  if (traps_ && s.traps)
    return refuse(fmt::format("both {} and {} may trap", stage(trapping_), stage(at)));
  if (traps_ && s.endless)
    return refuse(fmt::format("{} may trap, and a loop of {} has no known bound", stage(trapping_),
                              stage(at)));
  bool handed_over = false;
  for (const BufferUse& use : s.uses)
    if (!may_follow(call, use, handed_over, why)) return false;
  for (const BufferUse& use : s.uses) touch(call, use);
  add_costs(at);
  add_body(at);
  joins_.push_back(handed_over ? JoinKind::SameInvocation : JoinKind::Independent);
  last_ = at;
  return true;
}

std::string FusionGrowth::why_other_subgroup(uint32_t at) const {
  const auto text = [](uint32_t size) {
    return size ? fmt::format("subgroups of {}", size) : "subgroups of the device's size";
  };
  return fmt::format("{} needs {}, {} needs {}", stage(launch_), text(subgroup_), stage(at),
                     text(calls_.calls[at].kernel->subgroup));
}

// ---- Buffers that need no memory.

/// True if the buffer's contents before the group are not read, and its contents after the group
/// are not needed.
bool FusionGrowth::is_fresh(GraphBufferId buffer, const Touched& t, uint32_t last) const {
  if (calls_.reserved[buffer] || calls_.is_live_after(last, buffer)) return false;
  if (t.starts_as_zeros) return true;
  return !in_loop_ && calls_.is_only_used_in(buffer, first_, last);
}

bool FusionGrowth::is_elidable(GraphBufferId buffer, const Touched& t, uint32_t last) const {
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

GraphBufferId FusionGrowth::uncleared() const {
  for (const GraphBufferId m : list_)
    if (touched_[m].cleared_again && !is_elidable(m, touched_[m], last_)) return m;
  return none;
}

std::vector<GraphBufferId> FusionGrowth::elided() const {
  std::vector<GraphBufferId> list = early_;
  if (last_ != first_)
    for (const GraphBufferId m : list_)
      if (!touched_[m].gone && is_elidable(m, touched_[m], last_)) list.push_back(m);
  std::sort(list.begin(), list.end());
  return list;
}

uint64_t FusionGrowth::bytes() const {
  uint64_t sum = 0;
  for (const GraphBufferId m : list_) {
    const Touched& t = touched_[m];
    if (t.gone || (first_ != last_ && is_elidable(m, t, last_))) continue;
    sum += t.bytes * (uint64_t{t.reads_first} + t.writes);
  }
  return sum;
}

// ---- Recomputation at loads.

/// Returns the one buffer that the group hands to the call, if the call writes nothing that the
/// group uses; else none and the reason in `why`. The reason is "" if the group hands nothing to
/// the call, or the call updates what it wrote.
GraphBufferId FusionGrowth::handed_buffer(uint32_t at, std::string& why) const {
  const FusionCall& call = calls_.calls[at];
  GraphBufferId handed = none, updated = none, other = none;
  for (const BufferUse& use : summary(at).uses) {
    const GraphBufferId m = call.memory[use.buffer];
    const Touched* t = find(m);
    if (!t) continue;
    if (is_writable(call.kernel->buffers[use.buffer].role) || t->gone)
      updated = m;
    else if (t->writable && handed != none && handed != m)
      other = m;
    else if (t->writable)
      handed = m;
  }
  why.clear();
  if (handed == none) return none;
  const auto name = [&](GraphBufferId m) -> const std::string& { return graph_.buffers[m].name; };
  if (updated != none && touched_[updated].writable) return none;
  if (updated != none)
    why = fmt::format("{} overwrites `{}`, which {} reads", stage(at), name(updated),
                      stage(last_user(updated, false)));
  else if (other != none)
    why =
        fmt::format("{} reads both `{}` and `{}` of the group; only one can be recomputed or tiled",
                    stage(at), name(handed), name(other));
  return why.empty() ? handed : none;
}

/// Returns why the buffer must be in memory even though the call recomputes the elements that it
/// reads.
std::string FusionGrowth::why_not_fresh(uint32_t at, GraphBufferId buffer) const {
  if (std::string why = why_live_after(calls_, graph_, at, buffer); !why.empty()) return why;
  const std::string& name = graph_.buffers[buffer].name;
  for (uint32_t c = first_; c-- > 0;)
    for (const GraphBufferId m : calls_.calls[c].memory)
      if (m == buffer)
        return fmt::format("{} updates `{}`, which {} uses before it",
                           stage(last_user(buffer, true)), name, stage(c));
  return fmt::format("{} updates `{}` in place, so values of earlier iterations may remain",
                     stage(last_user(buffer, true)), name);
}

/// True if only this call needs the buffer, and it is all that the group so far writes.
bool FusionGrowth::becomes_gone(uint32_t at, GraphBufferId buffer, std::string& why) const {
  if (!is_fresh(buffer, touched_[buffer], at)) {
    why = why_not_fresh(at, buffer);
    return false;
  }
  for (const GraphBufferId m : list_) {
    const Touched& t = touched_[m];
    if (m == buffer || t.gone || !t.writable) continue;
    if (is_elidable(m, t, at)) continue;
    why = fmt::format("{} also writes `{}`", stage(last_user(m, true)), graph_.buffers[m].name);
    return false;
  }
  return true;
}

/// Returns why the buffer is not stored once by each invocation at an index that its global_id.x
/// determines.
std::string FusionGrowth::why_not_one_store(GraphBufferId buffer) const {
  const Touched& t = touched_[buffer];
  const IndexForm& f = t.form;
  const FusionCall& launch = calls_.calls[launch_];
  const std::string writer = stage(last_user(buffer, true));
  if (t.reads) return fmt::format("{} also loads it", writer);
  if (!t.simple) return fmt::format("{} stores it by other than plain stores", writer);
  if (t.stores != 1) return fmt::format("{} store operations write it, and only one may", t.stores);
  if (launch.invocations(1) != 1 || launch.invocations(2) != 1)
    return fmt::format(
        "{} is launched in more than one dimension ({} workgroups of {} invocations)",
        stage(launch_), sizes_text(launch.shape.num_workgroups),
        sizes_text(launch.kernel->workgroup));
  if (f.rest.low == f.rest.high && f.factors[0] > 0 &&
      std::all_of(f.factors.begin() + 1, f.factors.end(), [](int64_t x) { return x == 0; }))
    return "";
  return fmt::format("the index at which {} stores it is not a * global_id.x + b", writer);
}

/// From here on the kernel is launched as the call; buffers that it had read it may now read
/// anywhere.
void FusionGrowth::take_launch_of(uint32_t at, GraphBufferId gone) {
  for (const GraphBufferId m : list_) {
    Touched& t = touched_[m];
    t.one_form = false;
    if (m != gone && !t.writable) continue;
    if (!t.gone) early_.push_back(m);
    t.gone = true;
  }
  launch_ = at;
  for (const BufferUse& use : summary(at).uses) {
    const GraphBufferId m = calls_.calls[at].memory[use.buffer];
    if (const Touched* t = find(m); t && t->gone) continue;
    touch(calls_.calls[at], use);
  }
  add_costs(at);
  add_body(at);
  last_ = at;
}

/// Returns the one buffer that the group hands to the call, or none and the reason in `why`.
GraphBufferId FusionGrowth::begin_join(uint32_t at, std::string& why) {
  progress_ = Progress::Inapplicable;
  const GraphBufferId m = handed_buffer(at, why);
  if (!why.empty()) progress_ = Progress::Checked;
  if (m != none) progress_ = Progress::Limited;
  return m;
}

bool FusionGrowth::recompute(uint32_t at, std::string& why) {
  const FusionCall& call = calls_.calls[at];
  const auto refuse = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  const GraphBufferId m = begin_join(at, why);
  if (m == none) return false;
  if (!pure_ || endless_) return refuse(why_not_pure());
  const std::string& name = graph_.buffers[m].name;
  if (is_inlined())
    return refuse(fmt::format("{} already contains a recomputed or tiled call; these do not nest",
                              stage(launch_)));
  progress_ = Progress::Checked;
  const Touched& t = touched_[m];
  if (!becomes_gone(at, m, why)) return false;
  for (const GraphBufferId other : list_)
    if (other != m && touched_[other].writable && !touched_[other].gone &&
        std::any_of(call.memory.begin(), call.memory.end(),
                    [&](GraphBufferId b) { return b == other; }))
      return refuse(
          fmt::format("{} also needs `{}` of the group", stage(at), graph_.buffers[other].name));
  if (const std::string text = why_not_one_store(m); !text.empty())
    return refuse(fmt::format("`{}` cannot be recomputed: {}", name, text));
  const BufferUse* load = nullptr;
  for (const BufferUse& use : summary(at).uses)
    if (call.memory[use.buffer] == m) {
      if (load) return refuse(fmt::format("{} takes `{}` twice", stage(at), name));
      load = &use;
    }
  if (!load->only_plain)
    return refuse(fmt::format("{} reads `{}` by other than plain loads", stage(at), name));
  if (load->loads > most_inlined_loads)
    return refuse(
        fmt::format("{} loads `{}` at {} places of its code, and recomputation takes at "
                    "most {}",
                    stage(at), name, load->loads, most_inlined_loads));
  if (t.must_stay_uniform || (summary(at).needs_uniform & bit_of(load->buffer)))
    return refuse(fmt::format("a barrier depends on loads of `{}`", name));
  if (const uint64_t ops = ops_ * std::max(1u, load->loads) + summary(at).ops; ops > most_ops)
    return refuse(
        fmt::format("recomputing `{}` makes a kernel of {} operations, and the limit is {}", name,
                    ops, most_ops));
  recompute_bodies(at, load->buffer, m);
  take_launch_of(at, m);
  pure_ = pure_ && summary(at).pure;
  joins_.push_back(JoinKind::Recompute);
  return true;
}

/// Returns the effect of the group besides computing its elements, and the call that has it.
std::string FusionGrowth::why_not_pure() const {
  for (uint32_t c = first_; c <= last_; ++c)
    if (std::string what = impurity(*calls_.calls[c].kernel); !what.empty())
      return fmt::format("{} has {}, and so cannot be recomputed", stage(c), what);
  return "the group cannot be recomputed";
}

// ---- Both ways.

bool FusionGrowth::extend(JoinKind kind, std::string& why) {
  const uint32_t at = last_ + 1;
  progress_ = Progress::Decided;
  if (at > end_) {
    why = at < calls_.calls.size() ? why_loop_border(calls_, at)
                                   : fmt::format("{} is the last call", stage(last_));
    return false;
  }
  for (const uint32_t c : {last_, at})
    if (!calls_.calls[c].alone.empty()) {
      why = fmt::format("{} is not fused: {}", stage(c), calls_.calls[c].alone);
      return false;
    }
  if (at - first_ >= options_.most_calls) {
    why = fmt::format("a group has at most {} calls", options_.most_calls);
    return false;
  }
  for (const uint32_t c : {last_, at})
    if (summary(c).grid_barrier) {
      why = fmt::format("{} has a grid barrier", stage(c));
      return false;
    }
  if (!fits_limits(at, why)) return false;
  switch (kind) {
    case JoinKind::Independent:
    case JoinKind::SameInvocation: return append(at, why);
    case JoinKind::Recompute: return recompute(at, why);
    case JoinKind::Handoff: return handoff(at, why);
  }
  return false;
}

bool FusionGrowth::extend(std::string& why) {
  if (extend(JoinKind::SameInvocation, why)) return true;
  if (progress_ == Progress::Decided) return false;
  Progress closest = progress_;
  const std::vector<JoinKind> before = joins_;
  double least = 0;
  std::optional<JoinKind> fastest;
  const bool tile_first = reads_in_a_loop(last_ + 1);  // of two reasons that come equally close
  for (const bool tile : {tile_first, !tile_first}) {
    const JoinKind kind = tile ? JoinKind::Handoff : JoinKind::Recompute;
    std::string text;
    if (extend(kind, text)) {
      const double ns = nanoseconds();
      if (!fastest || ns < least) {
        fastest = kind;
        least = ns;
      }
      replay(before);
      continue;
    }
    // If a group suits neither kind, the reason against recomputation is more useful.
    const bool says_more = progress_ == closest && progress_ == Progress::Limited && !tile;
    if (progress_ <= closest && !says_more) continue;
    closest = progress_;
    why = std::move(text);
  }
  return fastest && extend(*fastest, why);
}

/// True if the invocations of a call iterate over several elements of the buffer from the group.
bool FusionGrowth::reads_in_a_loop(uint32_t at) const {
  std::string why;
  const GraphBufferId m = handed_buffer(at, why);
  if (m == none) return false;
  for (const BufferUse& use : summary(at).uses)
    if (calls_.calls[at].memory[use.buffer] == m) return use.loaded > use.loads;
  return false;
}

/// Rebuilds the group that begins with the same call and has these joins.
void FusionGrowth::replay(std::span<const JoinKind> joins) {
  begin(first_, {first_, end_, in_loop_});
  std::string why;
  for (const JoinKind kind : joins) extend(kind, why);
}

bool FusionGrowth::handoff(uint32_t at, std::string& why) {
  const auto refuse = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  const GraphBufferId m = begin_join(at, why);
  if (m == none) return false;
  if (first_ != last_)
    return refuse(
        fmt::format("only a single call can fill a tile of shared memory, and {} are fused",
                    last_ - first_ + 1));
  if (traps_) return refuse(fmt::format("{} may trap", stage(trapping_)));
  progress_ = Progress::Checked;
  if (!becomes_gone(at, m, why)) return false;
  for (const GraphBufferId other : list_)
    if (other != m && touched_[other].writable)
      return refuse(fmt::format("{} also writes `{}`", stage(last_user(other, true)),
                                graph_.buffers[other].name));
  const FusionCall &producer = calls_.calls[first_], &consumer = calls_.calls[at];
  const auto place = [&](const FusionCall& call) {
    return uint32_t(std::find(call.memory.begin(), call.memory.end(), m) - call.memory.begin());
  };
  if (std::count(consumer.memory.begin(), consumer.memory.end(), m) != 1)
    return refuse(fmt::format("{} takes `{}` twice", stage(at), graph_.buffers[m].name));
  const auto key = std::tuple(producer.kernel, place(producer), consumer.kernel, place(consumer));
  auto found = windows_.find(key);
  if (found == windows_.end()) {
    Window w;
    const auto window = find_handoff_window(*producer.kernel, place(producer), *consumer.kernel,
                                            place(consumer), default_handoff_budget, w.why_not);
    if (window) {
      // Whether the kernel is possible is known only when it is made; such groups are rare enough
      // to try.
      const JoinOutcome joined =
          fuse_handoff(*producer.kernel, place(producer), *consumer.kernel, place(consumer));
      w.possible = joined.joined && !has_errors(check(joined.joined->program));
      if (!w.possible)
        w.why_not = joined.joined ? "the checker rejects the fused kernel" : joined.why_not;
      if (joined.joined) w.limits = joined.joined->limits;
      w.invocations = window->invocations;
      w.bytes = window->bytes;
    }
    found = windows_.emplace(key, std::move(w)).first;
  }
  const Window& w = found->second;
  if (!w.possible)
    return refuse(fmt::format("`{}` cannot be tiled: {}", graph_.buffers[m].name, w.why_not));
  for (const JoinedLimit& limit : w.limits) {
    const LaunchShape& shape = (limit.of.kernel == 0 ? producer : consumer).shape;
    const bool groups = limit.of.kind == JoinedParameter::Kind::NumWorkgroups;
    if ((groups ? shape.num_workgroups[limit.of.index] : shape.counts[limit.of.index]) > limit.most)
      return refuse(fmt::format("{} of {} exceed {}, so that indices of 32 bits would wrap",
                                groups ? "workgroups" : "elements",
                                stage(limit.of.kernel == 0 ? first_ : at), limit.most));
  }
  const uint64_t most = options_.shared_bytes ? options_.shared_bytes : limits::common_shared_bytes;
  if (shared_ + summary(at).shared_bytes + w.bytes > most)
    return refuse(fmt::format("a tile of `{}` makes {} bytes of shared memory, and the limit is {}",
                              graph_.buffers[m].name, shared_ + summary(at).shared_bytes + w.bytes,
                              most));
  bodies_[0].invocations = double(w.invocations);
  tile_ = m;
  tile_bytes_ = w.bytes;
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
