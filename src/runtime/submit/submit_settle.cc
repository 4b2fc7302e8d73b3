// Completion of submissions: times, error messages, readbacks, and buffers that become free or
// undefined.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "interp/wording.h"
#include "runtime/graph_state.h"

namespace vyre::driver {
namespace {

using Kind = SubmissionOutcome::Kind;

/// The program of a device command that failed, and "segment 2 of 4: " if it is one of several.
struct Culprit {
  const Program* program = nullptr;
  std::string segment;
};

/// Returns the note of the command that failed; for a loop, that of the command in its body.
std::optional<CommandNote> note_of(const TicketState& t, const SubmissionOutcome& o) {
  if (o.command >= t.part.notes.size()) return std::nullopt;
  const CommandNote& note = t.part.notes[o.command];
  if (!note.body || o.inside >= note.body->size()) return note;
  CommandNote inside = (*note.body)[o.inside];
  inside.command = note.command;
  return inside;
}

Culprit culprit(const TicketState& t, const CommandNote& note) {
  const ExecutableState* e =
      note.executable ? note.executable : t.executables[note.command].state();
  if (!e) return {};
  if (note.segment == none) return {e->program.get(), ""};
  return {e->segments[note.segment].program.get(),
          e->plan->is_split()
              ? fmt::format("segment {} of {}: ", note.segment + 1, e->segments.size())
              : ""};
}

Diagnostics errors_of(const TicketState& t, SubmissionOutcome& o) {
  const std::optional<CommandNote> note = note_of(t, o);
  const Culprit who = note ? culprit(t, *note) : Culprit{};
  Diagnostics errors = std::move(o.errors);
  if (o.kind == Kind::Trapped && who.program)
    errors = {interp::trapped(*who.program, o.trap.code, o.trap.invocation, o.trap.op)};
  if (o.kind == Kind::TimedOut)
    errors = {who.program
                  ? interp::timed_out(*who.program, o.stopped_at, t.time_limit)
                  : diagnose(Code::TimeLimitExceeded, {},
                             fmt::format("the submission was still running after {} seconds",
                                         t.time_limit))
                        .with_fix("raise the time limit, or submit less at once")};
  for (Diagnostic& d : errors) d.message = who.segment + d.message;
  if (!note || note->node == none) return errors;
  const bool trapped = !errors.empty() && errors[0].code == Code::Trapped;
  return t.graphs[note->command]->blame(std::move(errors), note->node, trapped);
}

/// Returns an error if a submission reads data that an earlier one did not finish writing.
std::optional<Diagnostic> unusable_input(const TicketState& t) {
  for (const TicketState::Need& need : t.needs)
    if (need.writer->finished && need.writer->failed())
      return diagnose(Code::UndefinedBuffer, {},
                      fmt::format("command {}: the buffer of {} bytes is undefined: a submission "
                                  "before that writes it failed",
                                  need.command + 1, need.bytes))
          .note("it failed with: " +
                (need.writer->out_of_memory ? "out of memory" : need.writer->errors[0].message))
          .with_fix("wait for the ticket of what writes the buffer, and upload or fill it");
  return std::nullopt;
}

}  // namespace

std::vector<uint64_t>& TicketState::runs_of(uint32_t command, size_t nodes) {
  // Commands are recorded in order: it is usually the last.
  for (auto g = report.graphs.rbegin(); g != report.graphs.rend(); ++g)
    if (g->command == command) return g->runs;
  return report.graphs.emplace_back(command, std::vector<uint64_t>(nodes)).runs;
}

void DeviceState::account(TicketState& t, const SubmissionOutcome& o) {
  SubmitReport& r = t.report;
  for (size_t i = 0; i < o.device_ns.size() && i < t.part.notes.size(); ++i) {
    const CommandNote& note = t.part.notes[i];
    r.command_ns[note.command] += o.device_ns[i];
    uint64_t* const by_kind[] = {&r.upload_ns, &r.readback_ns, &r.fill_ns, &r.fill_ns,
                                 &r.run_ns,    &r.run_ns,      &r.run_ns};
    *by_kind[size_t(note.kind)] += o.device_ns[i];
    if (note.call > 0) r.calls[note.call - 1].ns += o.device_ns[i];
  }
  size_t loop = 0;
  for (const CommandNote& note : t.part.notes) {
    if (!note.body) continue;
    if (loop == o.rounds.size()) break;  // it was not reached
    const uint64_t rounds = o.rounds[loop++];
    if (note.runs) {
      std::vector<uint64_t>& runs = t.runs_of(note.command, note.runs->size());
      for (size_t node = 0; node < runs.size(); ++node) {
        r.call_count += rounds * (*note.runs)[node];
        runs[node] += rounds * (*note.runs)[node];
      }
    }
    for (const CommandNote& inside : *note.body)
      r.launches += rounds * (inside.kind == DeviceCommand::Kind::Launch);
  }
}

SubmissionOutcome DeviceState::outcome_of(TicketState& t) {
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return t.recorded; });
    if (t.ended) return *std::exchange(t.ended, SubmissionOutcome{});
  }
  return backend->wait(t.handle);
}

void DeviceState::settle(const std::shared_ptr<TicketState>& t) {
  if (t->finished) return;
  // Its inputs were written by earlier submissions, which have ended on the device but may not be
  // settled yet. Settles them oldest first, without recursion: chains may be as long as the program
  // runs.
  std::vector<std::shared_ptr<TicketState>> chain;
  try {
    const std::lock_guard lock(mutex);
    chain.push_back(t);
    std::unordered_set<const TicketState*> seen = {t.get()};
    for (size_t i = 0; i < chain.size(); ++i)
      for (size_t k = 0; k < chain[i]->needs.size(); ++k) {
        const auto& writer = chain[i]->needs[k].writer;
        if (!writer->finished && seen.insert(writer.get()).second) chain.push_back(writer);
      }
  } catch (const std::bad_alloc&) {
    return settle_up_to(t->number);
  }
  std::sort(chain.begin(), chain.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
  for (const auto& one : chain) settle_one(*one);
}

/// Settles all submissions up to this one, the oldest first. Allocates nothing.
void DeviceState::settle_up_to(uint64_t number) {
  for (;;) {
    std::shared_ptr<TicketState> oldest;
    {
      const std::lock_guard lock(mutex);
      for (const auto& [id, stream] : streams) {
        if (stream.pending.empty()) continue;
        const auto& t = stream.pending.front();  // a stream's are in order
        if (t->number <= number && (!oldest || t->number < oldest->number)) oldest = t;
      }
    }
    if (!oldest) return;
    settle_one(*oldest);
  }
}

/// Produces errors, the report and telemetry. Adds no samples if the submission failed.
void DeviceState::conclude(TicketState& t, SubmissionOutcome& o,
                           std::vector<LaunchSample>& samples) {
  account(t, o);
  if (o.kind != Kind::Done) {
    t.errors = errors_of(t, o);
    if (t.errors.empty())
      t.errors = {diagnose(Code::DeviceFailed, {},
                           fmt::format("{} failed and gave no reason", backend->info().name))
                      .with_fix("try again, or use another device")};
  }
  if (auto unusable = unusable_input(t)) t.errors = {std::move(*unusable)};
  if (!t.errors.empty()) return;
  for (const TicketState::Out& out : t.readbacks) t.report.read_back += out.staging->size();
  if (!options.telemetry) return;
  for (size_t i = 0; t.call_times && i < t.executables.size(); ++i)
    if (const ExecutableState* e = t.executables[i].state())
      samples.push_back({telemetry_key(backend->info()), e->program->op_id, e->program->name,
                         t.report.command_ns[i], t.launch_bytes[i]});
  for (const CallTime& call : t.report.calls) {
    if (call.is_loop) continue;  // its time belongs to several calls
    const auto& c = *t.graphs[call.command]->calls[call.node];
    const Program& p = c.executable.optimized();
    samples.push_back({telemetry_key(backend->info()), p.op_id, p.name, call.ns, c.bytes});
  }
}

void DeviceState::settle_one(TicketState& t) {
  std::vector<LaunchSample> samples;
  {
    const std::lock_guard own(t.mutex);
    if (t.finished) return;
    SubmissionOutcome o = outcome_of(t);
    try {
      conclude(t, o, samples);
    } catch (const std::bad_alloc&) {
      t.out_of_memory = true;
      samples.clear();
    }
    let_go(t, t.errors.empty() && !t.out_of_memory);
    t.recorder = {};  // a failed one still has scripts, which hold graphs
    t.graphs.clear();
    t.finished = true;
  }
  for (const LaunchSample& s : samples) options.telemetry(s);
}

void DeviceState::let_go(TicketState& t, bool ok) {
  const std::lock_guard lock(mutex);
  for (const uint32_t slot : t.reads) {
    --slots[slot].users;
    std::erase_if(slots[slot].readers, [&](const auto& r) { return r.get() == &t; });
  }
  for (const uint32_t slot : t.writes) {
    Slot& s = slots[slot];
    --s.users;
    if (s.writer.get() != &t) continue;  // a later writer decides: it overwrites all, or needs ours
    s.writer = nullptr;
    s.undefined |= !ok;
  }
  for (const MemoryHandle m : t.temporaries) backend->release(m);
  used -= t.temporary_bytes;
  t.needs.clear();
  auto& pending = streams[t.stream].pending;
  pending.erase(
      std::find_if(pending.begin(), pending.end(), [&](const auto& p) { return p.get() == &t; }));
}

bool DeviceState::is_done(const TicketState& t) {
  if (t.finished) return true;
  SubmissionHandle handle;
  {
    const std::lock_guard lock(mutex);
    if (!t.recorded) return false;
    if (t.ended) return true;
    handle = t.handle;
  }
  return backend->is_done(handle);
}

double DeviceState::progress(const TicketState& t) {
  if (t.finished) return 1;
  SubmissionHandle handle;
  {
    const std::lock_guard lock(mutex);
    if (!t.recorded) return 0;
    if (t.ended) return 1;
    handle = t.handle;
  }
  return backend->progress(handle);
}

void DeviceState::reap() {
  std::vector<std::shared_ptr<TicketState>> ended;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [id, stream] : streams)
      for (const auto& t : stream.pending) {  // in order: none after an unfinished one is done
        if (!t->recorded || !(t->ended || backend->is_done(t->handle))) break;
        ended.push_back(t);
      }
  }
  for (const auto& t : ended) settle(t);
  free_retired();
}

/// Settles ended submissions only if many are pending: a query of the device costs as much as a
/// launch, and most tickets are waited for anyway.
void DeviceState::reap_if_many() {
  constexpr size_t many = 64;
  size_t pending = 0;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [id, stream] : streams) pending += stream.pending.size();
  }
  if (pending >= many) reap();
}

void DeviceState::finish() {
  uint64_t last = 0;
  {
    const std::lock_guard lock(mutex);
    last = submitted;
  }
  settle_up_to(last);
}

/// No handle or ticket of the device is left, so the outcome of work under way cannot be observed.
DeviceState::~DeviceState() {
  {
    const std::lock_guard lock(mutex);
    closing = true;
  }
  changed.notify_all();
  backend->stop();  // a driving thread may wait for a launch that never ends
  for (auto& [id, stream] : streams)
    if (stream.driver.joinable()) stream.driver.join();
  backend.reset();
  // Tickets hold earlier ones; a long chain must not be destroyed recursively.
  for (auto& [id, stream] : streams)
    for (const auto& t : stream.pending) {
      t->needs.clear();
      t->after.clear();
    }
}

}  // namespace vyre::driver
