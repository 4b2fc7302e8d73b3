// Submissions: translates the caller's commands for the backend and orders them.

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "interp/interp_limits.h"
#include "runtime/submit/submit_builder.h"

namespace vyre::driver {
namespace {

void unique(std::vector<uint32_t>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

Deadline deadline_of(double seconds, double used) {
  using Steady = std::chrono::steady_clock;
  if (!(seconds > 0)) return std::nullopt;
  const std::chrono::duration<double> limit(std::clamp(seconds - used, 0.0, 1e9));
  return Steady::now() + std::chrono::duration_cast<Steady::duration>(limit);
}

/// Finds the submissions of other streams that must be recorded first: the last writer of each
/// buffer that this one reads or writes, and the readers of each buffer that it writes. A stream
/// keeps its own order.
void find_predecessors(const DeviceState& d, TicketState& t) {
  const auto wait_for = [&](const std::shared_ptr<TicketState>& other) {
    if (other && other->stream != t.stream &&
        std::find(t.after.begin(), t.after.end(), other) == t.after.end())
      t.after.push_back(other);
  };
  for (const uint32_t slot : t.reads) wait_for(d.slots[slot].writer);
  for (const uint32_t slot : t.writes) {
    wait_for(d.slots[slot].writer);
    for (const auto& r : d.slots[slot].readers) wait_for(r);
  }
}

/// Reserves memory for everything that enter() adds, so that nothing fails once the backend has the
/// commands.
void make_room(DeviceState& d, const std::shared_ptr<TicketState>& t) {
  for (const uint32_t slot : t->reads) d.slots[slot].readers.push_back(t);
  d.streams[t->stream].pending.push_back(t);
}

void undo_room(DeviceState& d, const std::shared_ptr<TicketState>& t) {
  for (const uint32_t slot : t->reads) std::erase(d.slots[slot].readers, t);
  std::erase(d.streams[t->stream].pending, t);
}

/// Registers the submission: from now on others wait for it.
void enter(DeviceState& d, const std::shared_ptr<TicketState>& t,
           const std::vector<uint32_t>& redefined) {
  for (const uint32_t slot : redefined) d.slots[slot].undefined = false;
  for (const uint32_t slot : t->reads) {
    Slot& s = d.slots[slot];
    ++s.users;
    std::erase_if(s.readers, [&](const auto& r) { return r->stream == t->stream && r != t; });
  }
  for (const uint32_t slot : t->writes) {
    Slot& s = d.slots[slot];
    ++s.users;
    s.writer = t;
    s.readers.clear();
  }
}

/// Returns the sizes of a launch, if its arguments have the right number and kinds.
std::optional<LaunchShape> shape_of(const Launch& l) {
  const Program& p = l.executable.optimized();
  const size_t n = p.buffers.size();
  IdMap<BufferId, std::optional<uint64_t>> counts(n), scalars(n);
  size_t next = 0;
  for (const BufferId i : p.buffers.ids()) {
    const vyre::Buffer& b = p.buffers[i];
    if (b.role == Role::Scratch) counts[i] = scratch_length(l, b.name);
    if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
    if (next == l.arguments.size()) return std::nullopt;
    const Argument& a = l.arguments[next++];
    if (const Buffer* buffer = std::get_if<Buffer>(&a))
      counts[i] = buffer->bytes / size_of(b.element);
    else
      scalars[i] = convert_exactly(std::get<Scalar>(a), b.element);
  }
  Result<LaunchShape> shape = resolve_launch(p, counts, scalars, l.grid);
  return shape ? std::optional(std::move(*shape)) : std::nullopt;
}

/// Returns false if the alternative mode certainly does not fit this launch. This decides for most
/// launches before their sizes are computed.
bool may_need_other(const Launch& l, const ExecutableState::Alternative& other,
                    const DeviceLimits& limits) {
  if (other.mode == ExecutionMode::Split || other.always || l.grid) return true;
  return std::any_of(l.arguments.begin(), l.arguments.end(), [&](const Argument& a) {
    const Buffer* const buffer = std::get_if<Buffer>(&a);
    return buffer && buffer->bytes >= limits.coarse_from;
  });
}

/// Selects the mode of each launch: launches with grid barriers and too many waiting workgroups run
/// split, large ones of small kernels run coarsened. Called before the device is locked, because
/// the alternative may have to be compiled. Errors in arguments are reported later, with all
/// others.
Result<> fit_launches(DeviceState& d, std::vector<Command>& commands) {
  for (Command& c : commands) {
    auto* const l = std::get_if<Launch>(&c);
    if (!l || !l->executable.state() || !l->executable.state()->alternative) continue;
    if (l->executable.state()->device != d.id) continue;
    if (!may_need_other(*l, *l->executable.state()->alternative, d.backend->info().limits))
      continue;
    const std::optional<LaunchShape> shape = shape_of(*l);
    if (!shape) continue;
    Result<Executable> e = d.fitting(l->executable, *shape);
    if (!e) return e.errors();
    l->executable = std::move(*e);
  }
  return Ok{};
}

}  // namespace

Result<Ticket> Device::submit(std::vector<Command> commands, const SubmitOptions& options) {
  if (Result<> open = require_open(); !open) return open.errors();
  try {
    if (Result<> valid = interp::check_time_limit(options.time_limit); !valid)
      return valid.errors();
    state_->reap_if_many();
    if (Result<> fits = fit_launches(*state_, commands); !fits) return fits.errors();
    Result<std::shared_ptr<TicketState>> made = state_->submit(commands, options);
    if (!made) return made.errors();
    Ticket ticket;
    ticket.device_ = state_;
    ticket.state_ = std::move(*made);
    return ticket;
  } catch (const std::bad_alloc&) {
    return diagnose(Code::OutOfMemory, {},
                    fmt::format("out of memory: a submission of {} commands", commands.size()))
        .with_fix("upload and read back less at once, or free memory");
  }
}

Result<std::shared_ptr<TicketState>> DeviceState::submit(const std::vector<Command>& commands,
                                                         const SubmitOptions& how) {
  auto t = std::make_shared<TicketState>();
  t->stream = how.stream;
  t->time_limit = how.time_limit;
  t->times = how.times;
  t->call_times = how.call_times && how.times;
  t->deadline = deadline_of(how.time_limit, how.time_used);
  t->report.command_ns.assign(commands.size(), 0);

  const std::lock_guard lock(mutex);
  SubmissionBuilder b(*this, *t, commands.size());
  b.add(commands);
  if (how.output_limit && b.output_bytes > how.output_limit)
    b.errors.push_back(diagnose(Code::ReadbackLimit, {},
                                fmt::format("{} bytes are read back; the limit is {}",
                                            b.output_bytes, how.output_limit))
                           .with_fix("read back less, or raise the limit"));
  if (!b.errors.empty()) return b.errors;
  unique(t->writes);
  unique(t->reads);
  unique(b.redefined);
  t->number = ++submitted;
  find_predecessors(*this, *t);
  t->part = t->recorder.next(t->deadline, t->time_limit);

  Result<> begun = Ok{};
  try {
    make_room(*this, t);
    begun = begin(t);
  } catch (const std::exception&) {
    undo_room(*this, t);
    throw;
  }
  if (!begun) {
    undo_room(*this, t);
    return begun.errors();
  }
  b.keep();
  enter(*this, t, b.redefined);
  return t;
}

Result<> DeviceState::begin(const std::shared_ptr<TicketState>& t) {
  const bool can_begin =
      streams[t->stream].held.empty() &&
      std::all_of(t->after.begin(), t->after.end(), [](const auto& o) { return o->recorded; });
  if (!can_begin || !t->part.is_last) {
    hold(t);
    return Ok{};
  }
  std::vector<SubmissionHandle> after;
  for (const auto& o : t->after)
    if (!o->ended) after.push_back(o->handle);
  if (!t->times)
    for (DeviceCommand& c : t->part.commands) c.measured = false;
  Result<SubmissionHandle> handle =
      backend->submit(t->stream, std::exchange(t->part.commands, {}), after, t->deadline);
  if (!handle) return handle.errors();
  t->handle = *handle;
  t->recorded = true;
  t->report.launches += t->part.launches;
  t->after.clear();
  return Ok{};
}

}  // namespace vyre::driver
