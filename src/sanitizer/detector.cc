// Accesses: bounds, never-written memory, races.

#include "sanitizer/detector.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace vyre::interp {
namespace {

constexpr uint64_t nowhere = ~0ull;
constexpr uint64_t work_between_looks = 1 << 17;  // elements and past accesses visited
constexpr uint32_t most_of_a_site = 1024;         // unordered accesses kept, with acq_rel atomics

template <class I>
void widen(const void* from, uint32_t lanes, uint32_t plus, uint64_t* to) {
  const I* index = static_cast<const I*>(from);
  for (uint32_t l = 0; l < lanes; ++l) {
    // A negative one becomes larger than any length, as in interp_memory.cc.
    const auto at = std::is_signed_v<I> ? static_cast<uint64_t>(static_cast<int64_t>(index[l]))
                                        : static_cast<uint64_t>(index[l]);
    to[l] = !std::is_signed_v<I> && at + plus < at ? nowhere : at + plus;
  }
}

}  // namespace

void Detector::find_places(const Touched& t, const Instr& instr, const SiteOfOp& op) {
  places_.resize(std::max<size_t>(places_.size(), t.lanes));
  switch (op.index) {
    case Type::I32: return widen<int32_t>(t.index, t.lanes, instr.plus, places_.data());
    case Type::I64: return widen<int64_t>(t.index, t.lanes, instr.plus, places_.data());
    case Type::U64: return widen<uint64_t>(t.index, t.lanes, instr.plus, places_.data());
    default: return widen<uint32_t>(t.index, t.lanes, instr.plus, places_.data());
  }
}

Detector::Turn Detector::turn(const Frame& frame, uint32_t lane) const {
  const FrameShadow& f = *frame.shadow;
  Turn t;
  t.lane = lane;
  t.frame_group = lane / group_lanes_;
  const uint32_t local = lane - t.frame_group * group_lanes_;
  t.frame_subgroup = t.frame_group * group_subgroups_ + (local >> subgroup_log2_);
  t.group = static_cast<uint64_t>(frame.first_group) + t.frame_group;
  t.first = t.group * group_lanes_;
  t.thread = t.first + local;
  t.subgroup = t.group * group_subgroups_ + (local >> subgroup_log2_);
  t.group_tick = f.groups[t.frame_group];
  t.subgroup_tick = f.subgroups[t.frame_subgroup];
  t.knows = !f.of_lanes.empty() &&
            (!f.of_lanes[lane].empty() || !f.of_subgroups[t.frame_subgroup].empty() ||
             !f.of_groups[t.frame_group].empty());
  return t;
}

Next Detector::touch(const Frame& frame, const Instr& instr, const Touched& t) {
  if (failure_) return Next::Stop;
  const SiteOfOp& op = sites_->of_op[instr.op];
  find_places(t, instr, op);
  const Watched& w = watched_[instr.buffer];
  if (!w.shadow && !w.is_shared && !w.is_private) {
    check_bounds(frame, instr, t);
    return tired(t.lanes);
  }
  forget_old(*frame.shadow);
  for (uint32_t k = 0; k < t.lanes; ++k) {
    const uint32_t lane = t.order ? t.order[k] : k;
    if (t.all || t.active[lane]) touch_lane(frame, instr, t, lane);
    if (failure_) return Next::Stop;
  }
  return tired(t.lanes);
}

Next Detector::tired(uint64_t work) {
  work_ += work;
  if (work_ - looked_ < work_between_looks) return Next::GoOn;
  looked_ = work_;
  return Next::LookAtClock;
}

/// The only check for memory that is only read.
void Detector::check_bounds(const Frame& frame, const Instr& instr, const Touched& t) {
  const SiteOfOp& op = sites_->of_op[instr.op];
  const View& view = frame.views[instr.buffer];
  const uint64_t length = op.bytes ? view.bytes : view.count;
  const uint64_t size = op.bytes ? op.bytes : 1;
  for (uint32_t l = 0; l < t.lanes; ++l) {
    const uint64_t at = places_[l];
    if (at < length && length - at >= size) continue;
    if (!t.all && !t.active[l]) continue;
    findings_.out_of_bounds(op.site, instr.op, turn(frame, l).thread, at, is_signed(op.index),
                            length);
  }
}

void Detector::touch_lane(const Frame& frame, const Instr& instr, const Touched& t, uint32_t lane) {
  const SiteOfOp& op = sites_->of_op[instr.op];
  const Watched& w = watched_[instr.buffer];
  const View& view = frame.views[instr.buffer];
  FrameShadow& f = *frame.shadow;
  const uint64_t at = places_[lane];
  const uint64_t length = op.bytes ? view.bytes : view.count;
  const uint64_t size = op.bytes ? op.bytes : 1;
  uint32_t site = op.site;
  if (at >= length || length - at < size) {
    findings_.out_of_bounds(site, instr.op, turn(frame, lane).thread, at, is_signed(op.index),
                            length);
    return;
  }
  uint64_t first = at, last = at;
  if (op.bytes) {
    const uint64_t element = size_of(launch_->program.buffers[instr.buffer].element);
    first = at / element;
    last = (at + size - 1) / element;
  }
  if (w.is_private) {
    for (uint64_t e = first; e <= last; ++e)
      if (!touch_private(f, instr, view, lane, e))
        findings_.never_written(site, instr.op, turn(frame, lane).thread, e);
    return;
  }
  Shadow* const shadow = w.is_shared ? f.shared[instr.buffer].get() : w.shadow;
  if (!shadow) return;
  Turn me = turn(frame, lane);
  const bool atomic = instr.what == Do::Atomic;
  bool modifies = op.modifies;
  if (op.failed_site != none) {
    const bool wide = size_of(launch_->program.op(instr.op).type) == 8;
    const auto* old = static_cast<const std::byte*>(t.old);
    const auto* expected = static_cast<const std::byte*>(t.expected);
    const size_t bytes = wide ? 8 : 4;
    modifies = std::memcmp(old + lane * bytes, expected + lane * bytes, bytes) == 0;
    if (!modifies) site = op.failed_site;
  }
  uint32_t value = 0;
  if (atomic && sites_->order_matters[instr.buffer]) {
    if (sites_->sites[site].update != AtomicUpdate::None) value = value_of(instr, t, lane);
    check_order(*shadow, w, f, me, first, site, value);
  }
  const bool reads = atomic && !op.replaces;
  const bool narrow = sites_->sites[site].workgroup_scope;
  if (op.acq_rel && reads) {
    acquire(*shadow, w, f, me, first, narrow);
    me.knows = true;
  }
  for (uint64_t e = first; e <= last; ++e)
    touch_element(*shadow, w, f, me, e, site, instr.op, value);
  if (atomic && modifies && op.acq_rel)
    release(*shadow, w, f, me, first, narrow, op.replaces);
  else if ((op.replaces || instr.what == Do::Store) && !shadow->released.empty())
    shadow->released.erase(first);  // no later access can read this release
}

/// Returns false for a read of an element that was not written.
bool Detector::touch_private(FrameShadow& f, const Instr& instr, const View& view, uint32_t lane,
                             uint64_t element) {
  std::byte& written = f.private_written[instr.buffer].data()[lane * view.count + element];
  if (instr.what != Do::Store) return written != std::byte{0};
  written = std::byte{1};
  return true;
}

void Detector::touch_element(Shadow& shadow, const Watched& w, FrameShadow& f, const Turn& me,
                             uint64_t element, uint32_t site, OpId op, uint32_t value) {
  const Site& s = sites_->sites[site];
  Cell* cell = shadow.find(element);
  const uint64_t zeroed = w.is_shared ? f.begun : shadow.zeroed;
  if (w.unwritten && !shadow.given_by_host && !s.writes && !s.atomic &&
      (!cell || cell->written == 0 || cell->written < zeroed))
    findings_.never_written(site, op, me.thread, element);
  if (!w.races) return;
  if (!cell) {
    const uint64_t bytes = Shadow::page_cells * sizeof(Cell);
    if (!take(bytes, "the sanitizer's record of who touched which element")) return;
    if (!shadow.lasting) taken_ += bytes;
    cell = shadow.make(element);
  }
  if (s.writes) cell->written = tick_;

  const uint64_t oldest = horizon(w, f, me);
  const uint32_t count = cell->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Past past = shadow.at(*cell, i);
    if (past.tick < oldest) continue;
    const bool ordered = past.thread() == me.thread || before(past, me, f);
    if (!ordered && conflict(past.site(), site, past.thread() - me.first < group_lanes_))
      findings_.race(element, past.thread(), past.site(), me.thread, site);
    if (ordered && past.site() == site) continue;
    if (kept != i) shadow.at(*cell, kept) = past;
    ++kept;
  }
  work_ += count;
  if (kept != count) shadow.shrink(*cell, kept);
  remember(shadow, *cell, me, site, value);
}

/// Accesses before this tick happen before all later ones.
uint64_t Detector::horizon(const Watched& w, const FrameShadow& f, const Turn& me) const {
  return w.is_shared ? std::max({me.group_tick, f.begun, grid_tick_}) : grid_tick_;
}

/// Compares an atomic with the earlier ones on its element. The atomic's own acquire does not order
/// them: it could have executed first.
void Detector::check_order(Shadow& shadow, const Watched& w, const FrameShadow& f, const Turn& me,
                           uint64_t element, uint32_t site, uint32_t value) {
  Cell* const cell = shadow.find(element);
  if (!cell) return;
  const uint64_t oldest = horizon(w, f, me);
  for (uint32_t i = 0; i < cell->count; ++i) {
    const Past& past = shadow.at(*cell, i);
    if (past.tick < oldest || past.thread() == me.thread) continue;
    const bool is_final = order_matters(past.site(), site, past.value == value);
    if (!is_final && !gives_value_of(past.site(), site) && !gives_value_of(site, past.site()))
      continue;
    const bool one_group = past.thread() - me.first < group_lanes_;
    if (conflict(past.site(), site, one_group) || before(past, me, f)) continue;
    findings_.order(is_final ? OrderOf::FinalValue : OrderOf::OldValue, element, past.thread(),
                    sites_->sites[past.site()].order_site, me.thread,
                    sites_->sites[site].order_site);
  }
  work_ += cell->count;
}

/// The value of an atomic (for a cas together with the expected value), as a Past stores it.
uint32_t Detector::value_of(const Instr& instr, const Touched& t, uint32_t lane) const {
  const size_t bytes = size_of(launch_->program.op(instr.op).type);
  uint64_t value = 0, expected = 0;
  std::memcpy(&value, static_cast<const std::byte*>(t.value) + lane * bytes, bytes);
  if (t.expected == t.value) return value_tag(value);
  std::memcpy(&expected, static_cast<const std::byte*>(t.expected) + lane * bytes, bytes);
  return value_tag(value ^ std::rotl(expected * 0x9e3779b97f4a7c15, 32));
}

/// Adds the access to those of its site that are unordered with it, or omits it where the proof in
/// sanitizer.h allows it.
void Detector::remember(Shadow& shadow, Cell& cell, const Turn& me, uint32_t site, uint32_t value) {
  const Past now(me.thread, site, tick_, value);
  uint32_t mine[2] = {0, 0}, found = 0;
  if (!sites_->synchronizes) {
    for (uint32_t i = 0; i < cell.count && found < 2; ++i)
      if (shadow.at(cell, i).site() == site) mine[found++] = i;
    if (found == 2) {
      Past &a = shadow.at(cell, mine[0]), &b = shadow.at(cell, mine[1]);
      const uint32_t apart = distance(a.thread(), b.thread());
      if (distance(a.thread(), me.thread) > apart)
        b = now;
      else if (distance(b.thread(), me.thread) > apart)
        a = now;
      return;
    }
  } else if (cell.count >= most_of_a_site) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < cell.count; ++i) same += shadow.at(cell, i).site() == site;
    if (same >= most_of_a_site) return;
  }
  const uint64_t before = shadow.list_bytes();
  shadow.append(cell, now);
  if (shadow.list_bytes() == before) return;
  const uint64_t more = shadow.list_bytes() - before;
  if (take(more, "the sanitizer's lists of unordered accesses"))
    taken_ += shadow.lasting ? 0 : more;
}

/// 3: other workgroups; 2: other subgroups; 1: other lanes.
uint32_t Detector::distance(uint64_t a, uint64_t b) const {
  if (a / group_lanes_ != b / group_lanes_) return 3;
  return a % group_lanes_ >> subgroup_log2_ != b % group_lanes_ >> subgroup_log2_ ? 2 : a != b;
}

bool Detector::before(const Past& past, const Turn& me, const FrameShadow& f) const {
  const uint64_t local = past.thread() - me.first;  // wraps if it is in another workgroup
  if (local < group_lanes_) {
    if (past.tick < me.group_tick) return true;
    const bool same = me.group * group_subgroups_ + (local >> subgroup_log2_) == me.subgroup;
    if (same && past.tick < me.subgroup_tick) return true;
  }
  if (!me.knows) return false;
  const uint64_t thread = past.thread(), group = thread / group_lanes_;
  const uint64_t units[] = {
      unit(Level::Invocation, thread),
      unit(Level::Subgroup, group * group_subgroups_ + (thread % group_lanes_ >> subgroup_log2_)),
      unit(Level::Workgroup, group)};
  const Knowledge* const known[] = {&f.of_lanes[me.lane], &f.of_subgroups[me.frame_subgroup],
                                    &f.of_groups[me.frame_group]};
  for (const Knowledge* k : known)
    for (const uint64_t u : units)
      if (past.tick < k->of(u)) return true;
  return false;
}

bool Detector::conflict(uint32_t a, uint32_t b, bool one_group) const {
  const Site &x = sites_->sites[a], &y = sites_->sites[b];
  if (!x.writes && !y.writes) return false;
  if (!x.atomic || !y.atomic) return true;
  return !one_group && (x.workgroup_scope || y.workgroup_scope);
}

/// Returns whether the final value of an element depends on the order of two atomics. One of them
/// has changed it. A cas with acq_rel beside a store is a lock: it waits for the store.
bool Detector::order_matters(uint32_t a, uint32_t b, bool same_value) const {
  const Site &x = sites_->sites[a], &y = sites_->sites[b];
  const auto is_lock = [](const Site& cas, const Site& store) {
    return cas.update == AtomicUpdate::Cas && cas.acq_rel && store.update == AtomicUpdate::Write;
  };
  if (!x.atomic || !y.atomic || (!x.writes && !y.writes)) return false;
  return !commute(x.update, y.update, same_value) && !is_lock(x, y) && !is_lock(y, x);
}

/// Returns whether the old value that atomic `a` returns depends on whether `b` executed before.
/// With acq_rel it does so intentionally: that is how invocations are ordered.
bool Detector::gives_value_of(uint32_t a, uint32_t b) const {
  const Site &x = sites_->sites[a], &y = sites_->sites[b];
  return x.gives_value && !x.acq_rel && y.atomic && y.writes;
}

}  // namespace vyre::interp
