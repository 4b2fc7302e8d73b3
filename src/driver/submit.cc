// Submissions: what the caller's commands become for the backend, and in which order.

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "driver/submit_builder.h"

namespace vyre::driver {
namespace {

void unique(std::vector<uint32_t>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

Deadline deadline_of(double seconds) {
  using Steady = std::chrono::steady_clock;
  if (!(seconds > 0)) return std::nullopt;
  const std::chrono::duration<double> limit(std::min(seconds, 1e9));
  return Steady::now() + std::chrono::duration_cast<Steady::duration>(limit);
}

/// Who must be recorded before, of other streams: the last writer of what we read or write, and
/// the readers of what we write. A stream keeps its own order.
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

/// Room for what enter() will add, so that nothing fails once the backend has the commands.
void make_room(DeviceState& d, const std::shared_ptr<TicketState>& t) {
  for (const uint32_t slot : t->reads) d.slots[slot].readers.push_back(t);
  d.streams[t->stream].pending.push_back(t);
}

void undo_room(DeviceState& d, const std::shared_ptr<TicketState>& t) {
  for (const uint32_t slot : t->reads) std::erase(d.slots[slot].readers, t);
  std::erase(d.streams[t->stream].pending, t);
}

/// From now on others wait for it.
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

}  // namespace

Result<Ticket> Device::submit(std::vector<Command> commands, const SubmitOptions& options) {
  try {
    state_->reap();
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
  t->deadline = deadline_of(how.time_limit);
  t->report.command_ns.assign(commands.size(), 0);

  const std::lock_guard lock(mutex);
  SubmissionBuilder b(*this, *t);
  for (size_t i = 0; i < commands.size(); ++i) b.add(commands[i], uint32_t(i));
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
