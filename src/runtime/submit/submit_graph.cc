// Graphs in submissions: arguments, clearing of buffers, and the sequence of launches.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/submit/memory_need.h"
#include "runtime/submit/submit_builder.h"

namespace vyre::driver {

using Kind = DeviceCommand::Kind;

namespace {

MemoryRange scratch_memory(const GraphState& s, const DeviceState& d) {
  if (s.scratch == none) return {};
  const Buffer& b = s.memory[s.scratch];
  return {d.slots[b.slot].memory, 0, b.bytes};
}

}  // namespace

// ---- The launches.

GraphScript::GraphScript(std::shared_ptr<const GraphState> graph,
                         IdMap<GraphBufferId, MemoryRange> places, GraphShape shape,
                         DeviceState& device, TicketState& ticket)
    : s_(std::move(graph)),
      places_(std::move(places)),
      shape_(std::move(shape)),
      d_(device),
      t_(ticket),
      cursor_(s_->graph(), s_->steps, shape_),
      scratch_(scratch_memory(*s_, device)) {}

CommandNote GraphScript::note(Kind kind, uint32_t node) const {
  CommandNote n;
  n.kind = kind;
  n.command = command_;
  n.node = node;
  n.call = call_;
  return n;
}

void GraphScript::fill(Part& part, const MemoryRange& where, uint32_t node) const {
  if (where.bytes == 0) return;
  part.add({DeviceFill{where}, t_.call_times}, note(Kind::Fill, node));
}

void GraphScript::clear_up_to(Part& part, uint32_t node) {
  for (; cleared_ < s_->clears.size() && s_->clears[cleared_].node <= node; ++cleared_)
    fill(part, places_[s_->clears[cleared_].buffer], node);
}

bool GraphScript::record(Part& part, uint32_t command, const Deadline& deadline,
                         double time_limit) {
  command_ = command;
  const bool begins = !std::exchange(begun_, true);
  const size_t first = part.commands.size();
  uint32_t idle_calls = 0;
  while (part.launches < Recorder::most_launches &&
         part.commands.size() < Recorder::most_commands) {
    if (!failed_.empty()) {
      // The commands recorded before come first: one of them may fail earlier.
      if (part.commands.empty()) part.errors = std::move(failed_);
      return false;
    }
    if (split_) {
      const size_t before = part.notes.size();
      const bool done = split_->record(part, command, deadline, time_limit);
      for (size_t i = before; i < part.notes.size(); ++i) {
        part.notes[i].node = split_node_;
        part.notes[i].call = call_;
      }
      if (!part.errors.empty()) part.errors = s_->blame(std::move(part.errors), split_node_, false);
      if (!done) return false;
      split_.reset();
      if (part.notes.size() == before && ++idle_calls == Recorder::max_idle_calls) return false;
    }
    if (const auto next = cursor_.loop(); next && is_for_device(*next)) {
      const Result<bool> recorded = loop(part, *next);
      if (!recorded) failed_ = recorded.errors();
      if (!recorded || *recorded) {
        cursor_.skip_loop();
        continue;
      }
    }
    const Result<GraphAction> action = cursor_.next();
    if (!action) {
      failed_ = action.errors();
      continue;
    }
    if (action->kind == GraphAction::Kind::Done) {
      if (begins) keep_for_replay(part, first);
      return true;
    }
    clear_up_to(part, action->node);
    if (action->kind == GraphAction::Kind::Read) {
      read(part, *action);
      return false;
    }
    begin_call(action->node);
    const size_t before = part.commands.size();
    const uint32_t launches = part.launches;
    if (Result<> launched = launch(part, *action); !launched)
      failed_ = std::move(launched.errors());
    if (split_ || part.launches != launches) continue;
    if (cursor_.call_launched_nothing()) {
      part.commands.resize(before);
      part.notes.resize(before);
    }
    // The caller checks the deadline and the stop flag, and holds no lock for long.
    if (part.commands.size() == before && ++idle_calls == Recorder::max_idle_calls) return false;
  }
  return false;
}

/// Keeps a graph that was recorded as one part, including the commands that the builder added
/// before it.
void GraphScript::keep_for_replay(const Part& part, size_t first) const {
  if (t_.call_times || !d_.backend->info().limits.loops) return;
  std::vector<DeviceCommand> body;
  std::vector<CommandNote> notes;
  for (const GraphBufferId b : s_->clear_first) {
    if (places_[b].bytes == 0) continue;
    body.push_back({DeviceFill{places_[b]}});
    notes.push_back(note(Kind::Fill, none));
  }
  for (size_t i = first; i < part.commands.size(); ++i) {
    if (part.commands[i].body()) return;
    body.push_back(part.commands[i]);
    notes.push_back(part.notes[i]);
  }
  GraphState::Replay replay;
  replay.places = places_;
  replay.scalars = shape_.scalars;
  replay.body = std::make_shared<const std::vector<DeviceCommand>>(std::move(body));
  replay.notes = std::make_shared<const std::vector<CommandNote>>(std::move(notes));
  replay.runs =
      std::make_shared<const std::vector<uint64_t>>(t_.runs_of(command_, s_->steps.size()));
  const std::lock_guard lock(s_->replays->mutex);
  auto& last = s_->replays->last;
  last.push_front(std::move(replay));
  if (last.size() > GraphState::Replays::most) last.pop_back();
}

/// Counts a call, also if it launches nothing.
void GraphScript::begin_call(uint32_t node) {
  SubmitReport& r = t_.report;
  ++r.call_count;
  ++t_.runs_of(command_, s_->steps.size())[node];
  call_ = 0;
  if (!t_.call_times || r.calls.size() == SubmitReport::most_calls) return;
  r.calls.push_back({command_, node, 0});
  call_ = r.calls.size();
}

/// Returns true if the device can and should run the loop without the host. All iterations must be
/// equal: no inner loops, no grids that only the device knows, no grid barriers, nothing that is
/// cleared in the first iteration only.
bool GraphScript::is_for_device(const GraphLoop& loop) const {
  if (!d_.backend->info().limits.loops || loop.rounds == 0) return false;
  for (uint32_t i = loop.node + 1; i < loop.end; ++i) {
    if (!s_->steps[i].is_call() || !s_->steps[i].node->grid.empty()) return false;
    if (!s_->calls[i]->errors.empty()) return false;
    const ExecutableState& e = *s_->calls[i]->executable.state();
    // Several launches, or one that needs all cores.
    if (e.mode == ExecutionMode::Split || e.mode == ExecutionMode::Cooperative) return false;
  }
  for (size_t i = cleared_; i < s_->clears.size() && s_->clears[i].node < loop.end; ++i)
    if (s_->clears[i].node > loop.node) return false;
  const GraphNode& node = *s_->steps[loop.node].node;
  if (node.kind == GraphNodeKind::Repeat)  // recorded separately, iterations are timed
    return !t_.call_times || loop.rounds > Recorder::most_launches / (loop.end - loop.node - 1);
  const GraphBuffer& flag = s_->graph().buffers[node.flag.buffer];
  const bool is_not_zero =
      node.bits == 0 && !is_float(value_type(flag.element)) &&
      (node.compare == Opcode::Ne || (node.compare == Opcode::Gt && !is_signed(flag.element)));
  return is_not_zero && node.flag.index < shape_.counts[node.flag.buffer];
}

/// Records a loop. Returns false if nothing would be launched: the cursor finds the end of such a
/// loop.
Result<bool> GraphScript::loop(Part& part, const GraphLoop& loop) {
  clear_up_to(part, loop.node);
  Part body;
  for (uint32_t i = loop.node + 1; i < loop.end; ++i)
    if (Result<> one = launch(body, {GraphAction::Kind::Call, i, {1, 1, 1}, {}}); !one)
      return one.errors();
  if (body.launches == 0) return false;
  DeviceLoop c;
  c.rounds = loop.rounds;
  const GraphNode& node = *s_->steps[loop.node].node;
  if (node.kind == GraphNodeKind::While) c.word = range_of(node.flag);
  c.body = std::make_shared<const std::vector<DeviceCommand>>(std::move(body.commands));
  SubmitReport& r = t_.report;
  call_ = 0;
  if (t_.call_times && r.calls.size() < SubmitReport::most_calls) {
    r.calls.push_back({command_, loop.node + 1, 0, true});
    call_ = r.calls.size();
  }
  CommandNote what = note(Kind::Loop, loop.node + 1);
  what.body = std::make_shared<const std::vector<CommandNote>>(std::move(body.notes));
  std::vector<uint64_t> runs(s_->steps.size());
  std::fill(runs.begin() + loop.node + 1, runs.begin() + loop.end, 1);
  what.runs = std::make_shared<const std::vector<uint64_t>>(std::move(runs));
  part.add({std::move(c)}, std::move(what));
  return true;
}

/// Returns the location of an existing element on the device.
MemoryRange GraphScript::range_of(const GraphElement& e) const {
  const uint64_t size = size_of(s_->graph().buffers[e.buffer].element);
  return {places_[e.buffer].memory, places_[e.buffer].offset + e.index * size, size};
}

void GraphScript::read(Part& part, const GraphAction& action) {
  DeviceReadback c{range_of(action.element), nullptr};
  c.staging = std::make_shared<std::vector<std::byte>>(c.from.bytes);
  part.polled = c.staging;
  CommandNote n = note(Kind::Readback, none);
  n.call = 0;  // of no call
  part.add({std::move(c)}, std::move(n));
}

void GraphScript::answer(std::span<const std::byte> polled) {
  if (split_) return split_->answer(polled);
  uint64_t bits = 0;
  std::memcpy(&bits, polled.data(), std::min(polled.size(), sizeof bits));
  cursor_.answer(bits);
}

/// Returns memory for the scratch buffers of a launch. Calls with a grid from the device may need
/// more than was known; such a call is never in the first part, so the device's mutex is free.
Result<MemoryRange> GraphScript::scratch(uint64_t bytes, const Program& program) {
  if (bytes <= scratch_.bytes) return MemoryRange{scratch_.memory, 0, bytes};
  if (bytes > extra_.bytes) {
    MemoryNeed need = s_->need;
    need.scratch += t_.temporary_bytes + bytes;
    if (auto beyond = beyond_memory_limit(
            need, s_->memory_limit, fmt::format("graph `{}`", s_->graph().name), s_->graph().place))
      return *beyond;
    const std::lock_guard lock(d_.mutex);
    make_room_for_one(t_.temporaries);
    Result<MemoryHandle> made =
        d_.take(bytes, fmt::format("what `{}` needs for one launch", program.name));
    if (!made) return made.errors();
    t_.temporaries.push_back(*made);
    t_.temporary_bytes += bytes;
    extra_ = {*made, 0, bytes};
  }
  return MemoryRange{extra_.memory, 0, bytes};
}

Result<> GraphScript::launch(Part& part, const GraphAction& action) {
  const GraphState::Call& call = *s_->calls[action.node];
  const GraphNode& node = *s_->steps[action.node].node;
  if (!call.errors.empty()) return call.errors;
  const auto fail = [&](Diagnostics errors) {
    return s_->blame(std::move(errors), action.node, false);
  };
  Executable executable = call.executable;
  const Program& p = *executable.state()->program;
  LaunchShape shape = call.shape;
  IdMap<BufferId, uint64_t> scalars = call.scalars;
  if (!node.grid.empty() || shape_.scalars != s_->planned.fused.shape.scalars) {
    const Result<GraphCall> bound =
        bind_call(s_->planned.fused.module, s_->graph(), shape_, node, action.grid);
    if (!bound) return fail(bound.errors());
    Result<LaunchShape> now = shape_of_launch(p, *bound, shape_);
    if (!now) return fail(now.errors());
    shape = std::move(*now);
    scalars = bound->scalars;
    if (!node.grid.empty()) {
      Result<Executable> fits = d_.fitting(executable, shape);
      if (!fits) return fail(fits.errors());
      executable = std::move(*fits);
    }
  }
  const ExecutableState& e = *executable.state();
  Result<LaunchScratch> own = scratch_of(executable, shape);
  if (!own) return fail(own.errors());
  if (s_->memory_limit > 0 && !node.grid.empty()) {
    MemoryNeed need = s_->need;
    need.working = std::max(need.working, working_bytes(*d_.backend, e, own->shape));
    if (auto beyond = beyond_memory_limit(
            need, s_->memory_limit, fmt::format("graph `{}`", s_->graph().name), s_->graph().place))
      return fail({*beyond});
  }

  DeviceLaunch c;
  if (s_->memory_limit > 0) {
    const uint64_t buffers = s_->need.total() - s_->need.working;
    c.working_limit = s_->memory_limit - std::min(buffers, s_->memory_limit - 1);
  }
  c.buffers.assign(own->offsets.size(), 0);
  c.offsets.assign(own->offsets.size(), 0);
  scalars.resize(own->offsets.size());
  for (const BufferId i : p.buffers.ids()) {
    if (!call.bound.contains(i)) break;
    if (!is_parameter(p.buffers[i].role) || call.bound[i] == none) continue;
    const MemoryRange& place = places_[call.bound[i]];
    c.buffers[i] = place.memory;
    c.offsets[i] = place.offset;
    if (p.buffers[i].role == Role::Out && !e.full_writes.covers(i, shape, scalars))
      fill(part, place, action.node);
  }
  if (shape.workgroups() == 0) return Ok{};  // outputs are zeros, and nothing is launched
  if (own->bytes > 0) {
    const Result<MemoryRange> room = scratch(own->bytes, p);
    if (!room) return fail(room.errors());
    fill(part, *room, action.node);
    for (const BufferId i : own->offsets.ids()) {
      if (p.buffers.contains(i) && p.buffers[i].role != Role::Scratch) continue;
      c.buffers[i] = room->memory;
      c.offsets[i] = room->offset + own->offsets[i];
    }
  }
  c.scalars = std::move(scalars);
  c.shape = std::move(own->shape);
  LaunchCommands made = make_launch(executable.shared_state(), std::move(c), t_.call_times);
  if (auto* script = std::get_if<std::unique_ptr<Script>>(&made)) {
    split_node_ = action.node;
    split_ = std::move(*script);
    return Ok{};
  }
  CommandNote what = note(Kind::Launch, action.node);
  what.executable = &e;
  part.add(std::get<DeviceCommand>(std::move(made)), std::move(what));
  return Ok{};
}

// ---- The command.

bool SubmissionBuilder::bind_graph(const LaunchGraph& l, const GraphState& s,
                                   IdMap<GraphBufferId, MemoryRange>& places, GraphShape& shape) {
  const Graph& g = s.graph();
  size_t wanted = 0;
  for (const GraphBuffer& b : g.buffers) wanted += b.parameter;
  if (l.arguments.size() != wanted) {
    report(diagnose(Code::WrongArgument, {},
                    fmt::format("graph `{}` takes {} arguments, not {}", g.name, wanted,
                                l.arguments.size()))
               .with_fix("give one for each parameter"));
    return false;
  }
  bool ok = true;
  std::vector<std::pair<uint32_t, GraphBufferId>> bound;  // slot, parameter
  for (const GraphBufferId i : g.buffers.ids()) {
    if (i.value() == wanted) break;  // parameters come first
    const Argument& argument = l.arguments[i.value()];
    const GraphBuffer& b = g.buffers[i];
    const ParameterInfo parameter{b.name, b.role, b.element, "graph ", g.name};
    if (auto d = misfit(argument, parameter, shape.scalars[i])) {
      report(std::move(*d));
      ok = false;
      continue;
    }
    const Buffer* buffer = std::get_if<Buffer>(&argument);
    if (!buffer) continue;
    if (!usable(*buffer, b.role != Role::Out)) {
      ok = false;
      continue;
    }
    if (buffer->bytes != shape.bytes(g, i)) {
      report(diagnose(Code::WrongArgument, {},
                      fmt::format("parameter `{}` of graph `{}` has {} bytes; the graph was "
                                  "prepared for {}",
                                  b.name, g.name, buffer->bytes, shape.bytes(g, i)))
                 .with_fix("prepare the graph for these lengths"));
      ok = false;
      continue;
    }
    for (const auto& [slot, other] : bound)
      if (slot == buffer->slot && (is_writable(b.role) || is_writable(g.buffers[other].role))) {
        report(diagnose(Code::OverlappingArguments, {},
                        fmt::format("parameters `{}` and `{}` of graph `{}` have the same buffer, "
                                    "and one is written",
                                    g.buffers[other].name, b.name, g.name))
                   .with_fix("bind different buffers"));
        ok = false;
      }
    bound.emplace_back(buffer->slot, i);
    places[i] = {d_.slots[buffer->slot].memory, 0, buffer->bytes};
    if (is_writable(b.role))
      writes(*buffer, b.role == Role::Out);
    else
      reads(*buffer);
  }
  return ok && same_sizes(s, shape);
}

/// Returns true if lengths and grids equal those it was prepared for. Scalars may differ.
bool SubmissionBuilder::same_sizes(const GraphState& s, const GraphShape& shape) {
  const GraphShape& planned = s.planned.fused.shape;
  if (shape.scalars == planned.scalars) return true;
  const Graph& given = s.given.graphs[0];
  IdMap<GraphBufferId, std::optional<uint64_t>> counts(given.buffers.size()),
      scalars(given.buffers.size());
  for (const GraphBufferId i : given.buffers.ids()) {
    if (!given.buffers[i].parameter) break;
    if (given.buffers[i].role == Role::Scalar)
      scalars[i] = shape.scalars[i];
    else
      counts[i] = shape.counts[i];
  }
  const Result<GraphShape> now = resolve_graph(given, counts, scalars);
  bool same = now && now->counts == s.planned.plan.counts;
  const GraphShape before{s.planned.plan.counts, s.planned.plan.scalars};
  for_each_call(given.nodes, [&](const GraphNode& call) {
    if (!same || !call.grid.empty()) return;
    const Result<GraphCall> a = bind_call(s.given, given, before, call);
    const Result<GraphCall> b = bind_call(s.given, given, *now, call);
    same = bool(a) == bool(b) && (!a || (a->shape.num_workgroups == b->shape.num_workgroups &&
                                         a->shape.counts == b->shape.counts));
  });
  if (!same)
    report(diagnose(Code::WrongArgument, {},
                    fmt::format("a scalar of graph `{}` changes a length or a grid", given.name))
               .with_fix("prepare the graph for these scalars"));
  return same;
}

/// Submits a graph as it was recorded before, if the device keeps recordings.
bool SubmissionBuilder::replay(const GraphState& s, const IdMap<GraphBufferId, MemoryRange>& places,
                               const GraphShape& shape) {
  if (t_.call_times) return false;
  const std::lock_guard lock(s.replays->mutex);
  for (const GraphState::Replay& r : s.replays->last) {
    if (r.scalars != shape.scalars || r.places != places) continue;
    CommandNote note;
    note.body = r.notes;
    note.runs = r.runs;
    add_replay(r.body, true, std::move(note));
    return true;
  }
  return false;
}

void SubmissionBuilder::one(const LaunchGraph& l) {
  const std::shared_ptr<const GraphState>& s = l.graph.shared_state();
  if (!s) return report(empty_handle("the graph", "prepare one with Device::prepare()"));
  if (s->device != d_.id)
    return report(diagnose(Code::ForeignBuffer, {},
                           fmt::format("graph `{}` was prepared for device {}, this is device {}",
                                       s->graph().name, s->device, d_.id))
                      .with_fix("prepare the graph on this device"));
  const Graph& g = s->graph();
  IdMap<GraphBufferId, MemoryRange> places(g.buffers.size());
  GraphShape shape = s->planned.fused.shape;
  if (!bind_graph(l, *s, places, shape)) return;
  for (const GraphBufferId i : g.buffers.ids()) {
    if (g.buffers[i].parameter) continue;
    const GraphState::Home& home = s->homes[i];
    places[i] = {d_.slots[s->memory[home.index].slot].memory, home.offset, shape.bytes(g, i)};
  }
  if (d_.options.memory_limit > 0 &&
      !leaves_room(s->need.working, fmt::format("graph `{}`", g.name)))
    return;
  for (const Buffer& b : s->memory) writes(b, true);  // no data of an earlier run is read
  if (replay(*s, places, shape)) {
    t_.graphs[number_] = s;
    return;
  }
  for (const GraphBufferId b : s->clear_first)
    fill(places[b].memory, places[b].offset, places[b].bytes, 0);
  t_.graphs[number_] = s;
  t_.recorder.add(number_,
                  std::make_unique<GraphScript>(s, std::move(places), std::move(shape), d_, t_));
}

}  // namespace vyre::driver
