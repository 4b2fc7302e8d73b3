#include "sanitizer/findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::interp {
namespace {

// The maximum number of findings of one kind: a program could consist of racing lines.
constexpr size_t max_pairs = 1000;

std::string text(const std::array<uint64_t, 3>& id) {
  return fmt::format("({}, {}, {})", id[0], id[1], id[2]);
}

std::string times(uint64_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

std::string verb(const Site& s) {
  if (!s.atomic) return s.writes ? "writes" : "reads";
  return s.writes ? "atomically updates" : "atomically reads";
}
std::string noun(const Site& s) {
  if (!s.atomic) return s.writes ? "write" : "read";
  std::string what = s.writes ? "atomic update" : "atomic read";
  return s.workgroup_scope ? what + " at workgroup scope" : what;
}

std::string signed_text(uint64_t index, bool is_signed) {
  return is_signed ? fmt::format("{}", static_cast<int64_t>(index)) : fmt::format("{}", index);
}

/// The atomic form of a plain access of an element.
std::string atomic_form(const Site& s, const Buffer& b) {
  const bool loads = contains(info(Opcode::AtomicLoad).types, b.element);
  if (!loads) return "make both accesses atomic";
  return s.writes ? fmt::format("write it with `atomic_store({}[i], v)`", b.name)
                  : fmt::format("read it with `atomic_load({}[i])`", b.name);
}

std::string fix_for(const Site& a, const Site& b, const Buffer& buffer, bool one_group) {
  if (a.atomic && b.atomic) return "use the device's scope: drop `workgroup` from the atomics";
  if (a.atomic || b.atomic)
    return fmt::format("{}, or put `barrier {}` between them",
                       atomic_form(a.atomic ? b : a, buffer), one_group ? "workgroup" : "grid");
  const std::string order =
      one_group ? "put `barrier workgroup` between the two accesses"
                : "put `barrier grid` between the two accesses, or make two kernels of this one";
  if (a.op == b.op) return "let one invocation write each element, or use an atomic";
  return order + ", or let one invocation do both";
}

}  // namespace

void Findings::enter(const Program& program, const Sites& sites, const LaunchShape& shape,
                     const GraphNode* call) {
  const auto [at, is_new] = stage_of_.try_emplace({&program, call}, stages_.size());
  if (is_new) stages_.push_back({&program, &sites, call});
  stage_ = at->second;
  shape_ = &shape;
  for (Pairs* pairs : {&races_, &orders_, &old_values_}) pairs->last = nullptr;
}

Invocation Findings::locate(uint64_t thread) const {
  const auto& size = stages_[stage_].program->workgroup;
  const uint64_t x = std::max(1u, size[0]), y = std::max(1u, size[1]), z = std::max(1u, size[2]);
  const uint64_t lane = thread % (x * y * z), group = thread / (x * y * z);
  const uint64_t gx = shape_->num_workgroups[0], gy = shape_->num_workgroups[1];
  Invocation i;
  i.group = {group % gx, group / gx % gy, group / gx / gy};
  i.id = {i.group[0] * x + lane % x, i.group[1] * y + lane / x % y, i.group[2] * z + lane / x / y};
  return i;
}

/// Returns whether the invocation is one that only fills up the last workgroups.
bool Findings::past_end(const Invocation& i) const {
  for (int d = 0; d < 3; ++d)
    if (i.id[d] >= shape_->invocations_wanted[d]) return true;
  return false;
}

Findings::Conflict* Findings::Pairs::find(const Pair& key) {
  if (last && last_key == key) return last;
  if (of.size() >= max_pairs && !of.contains(key)) {
    ++left_out;
    return nullptr;
  }
  last = &of[key];
  last_key = key;
  return last;
}

void Findings::add(Pairs& pairs, uint64_t element, uint64_t thread_a, uint32_t site_a,
                   uint64_t thread_b, uint32_t site_b) {
  if (site_b < site_a || (site_a == site_b && thread_b < thread_a)) {
    std::swap(site_a, site_b);
    std::swap(thread_a, thread_b);
  }
  Conflict* const c = pairs.find({stage_, site_a, site_b});
  if (!c) return;
  const std::array<uint64_t, 2> threads = {thread_a, thread_b};
  if (++c->count != 1 && std::tie(c->element, c->threads) <= std::tie(element, threads)) return;
  c->element = element;
  c->threads = threads;
  c->who = {locate(thread_a), locate(thread_b)};
}

void Findings::race(uint64_t element, uint64_t thread_a, uint32_t site_a, uint64_t thread_b,
                    uint32_t site_b) {
  add(races_, element, thread_a, site_a, thread_b, site_b);
}

void Findings::order(OrderOf what, uint64_t element, uint64_t thread_a, uint32_t site_a,
                     uint64_t thread_b, uint32_t site_b) {
  add(what == OrderOf::FinalValue ? orders_ : old_values_, element, thread_a, site_a, thread_b,
      site_b);
}

bool Findings::raise(Single& one, uint64_t thread, OpId op, uint64_t at) {
  if (++one.count != 1 && one.thread <= thread) return false;
  one.thread = thread;
  one.op = op;
  one.at = at;
  return true;
}

void Findings::out_of_bounds(uint32_t site, OpId op, uint64_t thread, uint64_t index,
                             bool is_signed, uint64_t length) {
  const Invocation who = locate(thread);
  if (past_end(who)) {
    PastEnd& p = past_end_[stage_];
    if (p.count++ == 0 || thread < p.lowest) p.lowest = thread, p.who = who;
    return;
  }
  Single& one = outside_[{stage_, site}];
  if (!raise(one, thread, op, index)) return;
  one.is_signed = is_signed;
  one.length = length;
  one.who = who;
}

void Findings::never_written(uint32_t site, OpId op, uint64_t thread, uint64_t element) {
  Single& one = unwritten_[{stage_, site}];
  if (raise(one, thread, op, element)) one.who = locate(thread);
}

void Findings::mismatch(OpId barrier, Scope scope, uint64_t arrived, uint64_t missing) {
  Mismatch& m = mismatches_[{stage_, barrier}];
  if (m.count++ != 0) return;
  m.scope = scope;
  m.arrived = locate(arrived);
  m.missing = locate(missing);
}

void Findings::grid_mismatch(OpId barrier) {
  Mismatch& m = mismatches_[{stage_, barrier}];
  if (m.count++ != 0) return;
  m.scope = Scope::Grid;
  m.known = false;
}

// ---- Diagnostics.

Place Findings::place(const Stage& stage, OpId op) const {
  const LocId loc = stage.program->op(op).loc;
  return loc == none ? Place{} : stage.program->place(loc);
}

/// The op, the chain of calls and the call of the graph.
void Findings::finish(const Stage& stage, OpId op, Diagnostic& d) const {
  d.op = mnemonic(stage.program->op(op).code);
  if (const LocId loc = stage.program->op(op).loc; loc != none)
    stage.program->add_call_notes(loc, d);
  if (stage.call && stage.call->place.line != 0)
    d.note(fmt::format("`{}` is called here", stage.program->name), stage.call->place);
}

Diagnostic Findings::describe(const Pair& key, const Conflict& r) const {
  const Stage& stage = stages_[std::get<0>(key)];
  const Program& p = *stage.program;
  // The diagnostic points to the later line: there the value differs from the expected one.
  const Site& other = stage.sites->sites[std::get<1>(key)];
  const Site& here = stage.sites->sites[std::get<2>(key)];
  const bool one_group = r.who[0].group == r.who[1].group;
  const bool one_site = std::get<1>(key) == std::get<2>(key);
  const Buffer& b = p.buffers[here.buffer];
  const std::string element = fmt::format("`{}[{}]`", b.name, r.element);
  Diagnostic d = diagnose(
      Code::DataRace, place(stage, here.op),
      one_site ? fmt::format("data race on {}: invocations {} and {} both do this {}", element,
                             text(r.who[0].id), text(r.who[1].id), noun(here))
               : fmt::format("data race on {}: invocation {} {} it here, invocation {} {} it{}",
                             element, text(r.who[1].id), verb(here), text(r.who[0].id), verb(other),
                             place(stage, other.op).line == 0
                                 ? std::string(" elsewhere")
                                 : fmt::format(" in line {}", place(stage, other.op).line)));
  add_pair_notes(key, r, noun(other), d);
  return d.with_fix(fix_for(other, here, b, one_group));
}

/// Adds the location of the other access, that nothing orders the two, and the number of
/// occurrences.
void Findings::add_pair_notes(const Pair& key, const Conflict& r, std::string_view other,
                              Diagnostic& d) const {
  const Stage& stage = stages_[std::get<0>(key)];
  const Program& p = *stage.program;
  if (std::get<1>(key) != std::get<2>(key)) {
    const OpId op = stage.sites->sites[std::get<1>(key)].op;
    d.note(fmt::format("the {} by invocation {}", other, text(r.who[0].id)), place(stage, op));
    if (const LocId loc = p.op(op).loc; loc != none) p.add_call_notes(loc, d);
  }
  d.note(r.who[0].group == r.who[1].group
             ? fmt::format("no barrier, release or acquire orders the two; both are in "
                           "workgroup {}",
                           text(r.who[0].group))
             : fmt::format("no barrier, release or acquire orders the two; they are in "
                           "workgroups {} and {}",
                           text(r.who[0].group), text(r.who[1].group)));
  d.note(fmt::format("seen {} in kernel `{}`", times(r.count), p.name));
  finish(stage, stage.sites->sites[std::get<2>(key)].op, d);
}

Diagnostic Findings::describe_order(OrderOf what, const Pair& key, const Conflict& r) const {
  const Stage& stage = stages_[std::get<0>(key)];
  const Program& p = *stage.program;
  const Site& other = stage.sites->sites[std::get<1>(key)];
  const Site& here = stage.sites->sites[std::get<2>(key)];
  const auto title = [&](const Site& s) { return fmt::format("`{}`", mnemonic(p.op(s.op).code)); };
  const std::string element = fmt::format("`{}[{}]`", p.buffers[here.buffer].name, r.element);
  const uint32_t line = place(stage, other.op).line;
  const std::string subject =
      what == OrderOf::FinalValue
          ? fmt::format("the final value of {}", element)
          : fmt::format("the value that {} on {} gives",
                        title(here.gives_value && !here.acq_rel ? here : other), element);
  const std::string pair =
      std::get<1>(key) == std::get<2>(key)
          ? fmt::format("invocations {} and {} both do this {}", text(r.who[0].id),
                        text(r.who[1].id), title(here))
          : fmt::format("invocation {} does this {}, invocation {} the {}{}", text(r.who[1].id),
                        title(here), text(r.who[0].id), title(other),
                        line == 0 ? std::string() : fmt::format(" in line {}", line));
  Diagnostic d = diagnose(what == OrderOf::FinalValue ? Code::OrderDependent : Code::OldValueOrder,
                          place(stage, here.op),
                          fmt::format("{} depends on the order of execution: {}", subject, pair));
  add_pair_notes(key, r, title(other), d);
  if (what == OrderOf::OldValue) return d;
  return d.with_fix(
      "let one invocation write the element, use atomics that commute, or put a barrier between "
      "the two");
}

Diagnostic Findings::describe_outside(const One& key, const Single& one) const {
  const Stage& stage = stages_[key.first];
  const Site& s = stage.sites->sites[key.second];
  const Buffer& b = stage.program->buffers[s.buffer];
  const bool bytes = stage.program->op(one.op).code == Opcode::LoadAs;
  Diagnostic d = diagnose(
      Code::OutOfBounds, place(stage, one.op),
      fmt::format("`{}` has {} {}, and {} {} was {}{}", b.name, one.length,
                  bytes ? "bytes" : "elements", bytes ? "a value at byte" : "element",
                  signed_text(one.at, one.is_signed), s.writes ? "written" : "read",
                  one.count == 1
                      ? std::string()
                      : fmt::format("; {} accesses of this line were out of bounds", one.count)));
  d.note(fmt::format("first by invocation {} of kernel `{}`; {}", text(one.who.id),
                     stage.program->name,
                     s.atomic   ? "the atomic was dropped and gave 0"
                     : s.writes ? "the write was dropped"
                                : "the read gave 0"));
  finish(stage, one.op, d);
  return d.with_fix("guard the access with `if`, if it is not meant");
}

Diagnostic Findings::describe_unwritten(const One& key, const Single& one) const {
  const Stage& stage = stages_[key.first];
  const Site& s = stage.sites->sites[key.second];
  const Buffer& b = stage.program->buffers[s.buffer];
  Diagnostic d = diagnose(Code::NeverWritten, place(stage, one.op),
                          fmt::format("`{}[{}]` is read, but nothing has written it: it is the 0 "
                                      "it started with",
                                      b.name, one.at));
  d.note(fmt::format("first by invocation {} of kernel `{}`; seen {}", text(one.who.id),
                     stage.program->name, times(one.count)));
  finish(stage, one.op, d);
  return d.with_fix("write the element first; storing 0 says that 0 is meant");
}

Diagnostic Findings::describe(const StageOp& key, const Mismatch& m) const {
  const Stage& stage = stages_[key.first];
  Diagnostic d = diagnose(
      Code::BarrierMismatch, place(stage, key.second),
      m.known ? fmt::format("invocation {} waits at this {} barrier, but invocation {} does not "
                            "come to it",
                            text(m.arrived.id), name(m.scope), text(m.missing.id))
              : "some workgroups wait at this grid barrier, but others do not come to it");
  d.note(fmt::format("seen {} in kernel `{}`", times(m.count), stage.program->name));
  finish(stage, key.second, d);
  return d.with_fix("take the barrier out of the `if` or loop that not all invocations go through");
}

/// A value that is read in a race may or may not have been written before: the race is the finding.
bool Findings::in_race(const One& key) const {
  return std::any_of(races_.of.begin(), races_.of.end(), [&](const auto& r) {
    const auto& [stage, a, b] = r.first;
    return stage == key.first && (a == key.second || b == key.second);
  });
}

Diagnostics Findings::report() const {
  Diagnostics list;
  const auto left_out = [&](const Pairs& pairs, std::string_view what) {
    if (pairs.left_out != 0)
      list.back().note(
          fmt::format("{} {} of further pairs of lines are left out", pairs.left_out, what));
  };
  for (const auto& [key, r] : races_.of) list.push_back(describe(key, r));
  left_out(races_, "races");
  for (const auto& [key, m] : mismatches_) list.push_back(describe(key, m));
  for (const auto& [key, r] : orders_.of)
    list.push_back(describe_order(OrderOf::FinalValue, key, r));
  left_out(orders_, "conflicts");
  for (const auto& [key, one] : outside_) list.push_back(describe_outside(key, one));
  for (const auto& [key, one] : unwritten_)
    if (!in_race(key)) list.push_back(describe_unwritten(key, one));
  for (const auto& [stage, p] : past_end_) {
    const Program& program = *stages_[stage].program;
    Diagnostic d = diagnose(
        Code::OutOfBounds, program.loc == none ? Place{} : program.place(program.loc),
        fmt::format("invocations past the end of the grid, from {} on, made {} accesses out of "
                    "bounds",
                    text(p.who.id), p.count));
    d.severity = Severity::Note;
    d.note("they fill up the last workgroup; their reads gave 0 and their writes were dropped");
    list.push_back(std::move(d));
  }
  for (const auto& [key, r] : old_values_.of)
    if (!orders_.of.contains(key)) list.push_back(describe_order(OrderOf::OldValue, key, r));
  left_out(old_values_, "old values");
  return list;
}

}  // namespace vyre::interp
