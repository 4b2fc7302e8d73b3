// Launches, frames, barriers, release and acquire: the events that order accesses.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sanitizer/detector.h"
#include "sanitizer/sanitizer.h"

namespace vyre::interp {

bool Detector::take(uint64_t bytes, const char* what) {
  if (auto taken = launch_->memory.take(bytes, what); !taken) {
    failure_ = taken.errors()[0];
    failure_->with_fix("raise the memory limit, or sanitize a smaller launch");
    return false;
  }
  return true;
}

std::unique_ptr<Shadow> Detector::make_shadow(uint64_t elements) {
  if (!take(Shadow::bytes(elements), "the sanitizer's table of pages")) return nullptr;
  return std::make_unique<Shadow>(elements);
}

void Detector::begin_call(const Graph& graph, const GraphNode& node, const Program& kernel,
                          const IdMap<BufferId, GraphBufferId>& bound) {
  graph_ = &graph;
  call_ = &node;
  bound_ = bound;
  of_graph_.resize(graph.buffers.size());
  zeroed_.resize(graph.buffers.size());
  ++tick_;
  for (const BufferId i : kernel.buffers.ids())
    if (kernel.buffers[i].role == Role::Out && bound[i] != none) zeroed_[bound[i]] = tick_;
}

void Detector::begin_launch(const Launched& launched) {
  const Program& p = launched.program;
  launched_.emplace(launched);
  launch_ = &*launched_;
  taken_ = 0;
  group_lanes_ = launched.code.group_lanes;
  subgroup_log2_ = static_cast<uint32_t>(std::countr_zero(launched.subgroup_size));
  group_subgroups_ = (group_lanes_ + launched.subgroup_size - 1) >> subgroup_log2_;
  grid_tick_ = ++tick_;
  const auto [at, is_new] = sites_of_.try_emplace(&p);
  if (is_new) at->second = find_sites(p);
  sites_ = &at->second;
  findings_.enter(p, *sites_, launched.shape, call_);

  const auto& n = launched.shape.num_workgroups;
  const auto threads = static_cast<unsigned __int128>(n[0]) * n[1] * n[2] * group_lanes_;
  if (threads > max_threads || sites_->sites.size() >= 1u << site_bits) {
    failure_ =
        diagnose(
            Code::TooLargeToSanitize, p.loc == none ? Place{} : p.place(p.loc),
            threads > max_threads
                ? fmt::format("kernel `{}` is launched with more than 2^40 invocations", p.name)
                : fmt::format("kernel `{}` has more than 2^24 accesses to memory", p.name))
            .with_fix("sanitize a smaller launch: the same races show in a few workgroups");
    return;
  }
  watch(p, launched.shape);
}

/// Selects the checks of each buffer.
void Detector::watch(const Program& p, const LaunchShape& shape) {
  watched_.assign(p.buffers.size(), {});
  of_launch_.clear();
  of_launch_.resize(p.buffers.size());
  for (const BufferId i : p.buffers.ids()) {
    const Role role = p.buffers[i].role;
    Watched& w = watched_[i];
    w.is_shared = role == Role::Shared;
    w.is_private = role == Role::Private;
    w.races = sites_->written[i] && !w.is_private;
    w.unwritten = w.is_shared || role == Role::Out || role == Role::Scratch;
    if (w.is_shared || w.is_private || !is_parameter(role) || role == Role::Scalar) continue;
    const GraphBufferId in_graph = graph_ && bound_.contains(i) ? bound_[i] : none;
    if (in_graph == none) {
      if (!w.races && !w.unwritten) continue;
      of_launch_[i] = make_shadow(shape.counts[i]);
      w.shadow = of_launch_[i].get();
      if (!w.shadow) return;
      taken_ += Shadow::bytes(shape.counts[i]);
      w.shadow->given_by_host = role == Role::InOut;
      continue;
    }
    // After a call has had it as `out`, only later writes count.
    const bool by_host = is_host_input(graph_->buffers[in_graph].role) && zeroed_[in_graph] == 0;
    w.unwritten = !by_host;
    if (!w.races && !w.unwritten) continue;
    if (!of_graph_[in_graph]) of_graph_[in_graph] = make_shadow(shape.counts[i]);
    w.shadow = of_graph_[in_graph].get();
    if (!w.shadow) return;
    w.shadow->lasting = true;
    w.shadow->given_by_host = by_host;
    w.shadow->zeroed = zeroed_[in_graph];
  }
}

void Detector::end_launch() {
  if (!launch_) return;
  of_launch_.clear();
  launch_->memory.give(taken_);
  taken_ = 0;
}

std::shared_ptr<FrameShadow> Detector::make_frame_shadow() {
  const Program& p = launch_->program;
  const FlatCode& code = launch_->code;
  auto f = std::make_shared<FrameShadow>();
  const uint64_t subgroups = uint64_t{code.groups} * group_subgroups_;
  using Wide = unsigned __int128;
  Wide wide_bytes = (code.groups + subgroups) * sizeof(uint64_t);
  if (sites_->synchronizes)
    wide_bytes += (code.lanes + subgroups + code.groups) * sizeof(Knowledge);
  for (const BufferId i : p.buffers.ids()) {
    if (watched_[i].is_shared) wide_bytes += Shadow::bytes(launch_->shape.counts[i]);
    if (watched_[i].is_private) wide_bytes += Wide{code.lanes} * launch_->shape.counts[i];
  }
  const uint64_t bytes = saturating(wide_bytes);
  if (!take(bytes, "the sanitizer's record of a workgroup")) return nullptr;
  taken_ += bytes;
  f->groups.resize(code.groups);
  f->subgroups.resize(subgroups);
  if (sites_->synchronizes) {
    f->of_lanes.resize(code.lanes);
    f->of_subgroups.resize(subgroups);
    f->of_groups.resize(code.groups);
  }
  f->shared.resize(p.buffers.size());
  f->private_written.resize(p.buffers.size());
  for (const BufferId i : p.buffers.ids()) {
    const uint64_t count = launch_->shape.counts[i];
    if (watched_[i].is_shared) f->shared[i] = std::make_unique<Shadow>(count);
    if (watched_[i].is_private) f->private_written[i] = ZeroedMemory(code.lanes * count);
  }
  return f;
}

/// Clears the records of the writes of earlier workgroups of the frame. Large records are allocated
/// anew: that takes time only for the pages that were touched.
void Detector::clear_private(FrameShadow& f) {
  constexpr uint64_t large = 1 << 20;
  for (ZeroedMemory& written : f.private_written) {
    if (written.size() < large)
      std::fill_n(written.data(), written.size(), std::byte{0});
    else
      written = ZeroedMemory(written.size());
  }
}

void Detector::begin_frame(Frame& frame) {
  const bool is_new = !frame.shadow;
  if (is_new) frame.shadow = make_frame_shadow();
  if (!frame.shadow) return;
  FrameShadow& f = *frame.shadow;
  f.begun = ++tick_;
  std::fill(f.groups.begin(), f.groups.end(), 0);
  std::fill(f.subgroups.begin(), f.subgroups.end(), 0);
  f.learned = 0;
  forget_old(f);
  if (!is_new) clear_private(f);
  for (auto& shared : f.shared)
    if (shared) shared->released.clear();
}

/// After a grid barrier, and in a new workgroup, every acquired clock is either known to all or
/// belongs to other invocations.
void Detector::forget_old(FrameShadow& f) const {
  const uint64_t since = std::max(grid_tick_, f.begun);
  if (f.learned == since || f.of_lanes.empty()) return;
  f.learned = since;
  for (auto* list : {&f.of_lanes, &f.of_subgroups, &f.of_groups})
    for (Knowledge& k : *list) k.forget();
}

// ---- Barriers.

/// Either none or all of the unfinished lanes from … to - 1 must have arrived.
void Detector::check_arrivals(uint64_t first_thread, uint32_t from, uint32_t to,
                              const uint8_t* active, const uint8_t* dead, const Instr& instr,
                              Scope scope) {
  uint32_t arrived = none, missing = none;
  for (uint32_t l = to; l-- > from;) {
    if (active[l])
      arrived = l;
    else if (!dead || !dead[l])
      missing = l;
  }
  if (arrived != none && missing != none)
    findings_.mismatch(instr.op, scope, first_thread + arrived, first_thread + missing);
}

/// Every member of the unit knows all that any member knew.
void Detector::meet(FrameShadow& f, uint32_t group, uint32_t from, uint32_t to, Scope scope) {
  const uint32_t local = from - group * group_lanes_;
  const uint32_t first = group * group_subgroups_ + (local >> subgroup_log2_);
  Knowledge& into = scope == Scope::Subgroup ? f.of_subgroups[first] : f.of_groups[group];
  for (uint32_t l = from; l < to; ++l) {
    into.learn(f.of_lanes[l], knowledge_);
    f.of_lanes[l].forget();
  }
  if (scope == Scope::Subgroup) return;
  for (uint32_t s = first; s < first + group_subgroups_; ++s) {
    into.learn(f.of_subgroups[s], knowledge_);
    f.of_subgroups[s].forget();
  }
}

void Detector::arrive(const Frame& frame, const Instr& instr, Scope scope, const uint8_t* active,
                      const uint8_t* dead) {
  FrameShadow& f = *frame.shadow;
  forget_old(f);
  const auto first_thread = static_cast<uint64_t>(frame.first_group) * group_lanes_;
  const uint32_t size = scope == Scope::Subgroup ? 1u << subgroup_log2_ : group_lanes_;
  ++tick_;
  for (uint32_t g = 0; g < frame.group_count; ++g) {
    const uint32_t end = (g + 1) * group_lanes_;
    for (uint32_t from = g * group_lanes_; from < end; from += size) {
      const uint32_t to = std::min(from + size, end);
      if (std::find(active + from, active + to, 1) == active + to) continue;
      check_arrivals(first_thread, from, to, active, dead, instr, scope);
      if (scope == Scope::Grid) continue;  // counts when all have arrived
      const uint32_t local = from - g * group_lanes_;
      (scope == Scope::Subgroup ? f.subgroups[g * group_subgroups_ + (local >> subgroup_log2_)]
                                : f.groups[g]) = tick_;
      if (!f.of_lanes.empty()) meet(f, g, from, to, scope);
    }
  }
}

void Detector::pass_grid_barrier(const Instr* stray) {
  grid_tick_ = ++tick_;
  if (stray) findings_.grid_mismatch(stray->op);
}

// ---- Release and acquire.

void Detector::acquire(Shadow& shadow, const Watched& w, FrameShadow& f, const Turn& me,
                       uint64_t element, bool workgroup_scope) {
  const auto at = shadow.released.find(element);
  if (at == shadow.released.end()) return;
  const Released& r = at->second;
  if (r.tick < (w.is_shared ? f.begun : grid_tick_)) {
    shadow.released.erase(at);
    return;
  }
  Knowledge& mine = f.of_lanes[me.lane];
  if (!workgroup_scope) mine.learn(r.by_all, knowledge_);
  for (const auto& [group, known] : r.by_groups)
    if (group == me.group) mine.learn(known, knowledge_);
}

void Detector::release(Shadow& shadow, const Watched& w, FrameShadow& f, const Turn& me,
                       uint64_t element, bool workgroup_scope, bool replaces) {
  ++tick_;
  Knowledge known = f.of_lanes[me.lane];
  known.learn(f.of_subgroups[me.frame_subgroup], knowledge_);
  known.learn(f.of_groups[me.frame_group], knowledge_);
  known.learn(unit(Level::Invocation, me.thread), tick_, knowledge_);
  if (me.subgroup_tick > grid_tick_)
    known.learn(unit(Level::Subgroup, me.subgroup), me.subgroup_tick, knowledge_);
  if (me.group_tick > grid_tick_)
    known.learn(unit(Level::Workgroup, me.group), me.group_tick, knowledge_);

  Released& r = shadow.released[element];
  if (replaces || r.tick < (w.is_shared ? f.begun : grid_tick_)) r = {};
  r.tick = tick_;
  if (!workgroup_scope) r.by_all.learn(known, knowledge_);
  if (sites_->synchronizes_groups && !w.is_shared) {
    const auto same = std::find_if(r.by_groups.begin(), r.by_groups.end(),
                                   [&](const auto& g) { return g.first == me.group; });
    if (same == r.by_groups.end())
      r.by_groups.emplace_back(me.group, std::move(known));
    else
      same->second.learn(known, knowledge_);
  }
  constexpr uint64_t step = 1 << 20;
  if (knowledge_.bytes <= accounted_) return;
  if (take(step, "the sanitizer's record of releases")) accounted_ += step;
}

// ---- The two entry points.

Sanitized sanitize(const Program& program, const LaunchInputs& inputs, const Options& options) {
  Detector detector;
  Options observed = options;
  observed.observer = &detector;
  auto outcome = run(program, inputs, observed);
  Sanitized s;
  if (!outcome) s.errors = std::move(outcome.errors());
  s.findings = detector.report();
  return s;
}

Sanitized sanitize(const Module& module, const Graph& graph, const GraphInputs& inputs,
                   const Options& options) {
  Detector detector;
  Options observed = options;
  observed.observer = &detector;
  auto outcome = run(module, graph, inputs, observed);
  Sanitized s;
  if (!outcome) s.errors = std::move(outcome.errors());
  s.findings = detector.report();
  return s;
}

}  // namespace vyre::interp
