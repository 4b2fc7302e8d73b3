// Submissions that cannot be given to the backend when they are made: those with a loop that only
// the device can count, and those behind them. A thread for each stream that has such submissions
// goes through them in order. Nobody waits for a later submission, so the threads cannot block each
// other.

#include <fmt/format.h>

#include <algorithm>

#include "runtime/device_state.h"

namespace vyre::driver {
namespace {

using Kind = SubmissionOutcome::Kind;

SubmissionOutcome failed(Diagnostics errors) {
  SubmissionOutcome o;
  o.kind = Kind::Failed;
  o.errors = std::move(errors);
  return o;
}

/// How a submission ends whose commands could not be recorded. Throws nothing.
SubmissionOutcome out_of_memory() {
  try {
    return failed({diagnose(Code::OutOfMemory, {}, "out of memory while commands were recorded")
                       .with_fix("free memory")});
  } catch (const std::bad_alloc&) {
    return failed({});
  }
}

/// A word was read in time, but the time is over now: the last launch is the one that was running.
std::optional<SubmissionOutcome> time_is_over(const TicketState& t) {
  if (!t.deadline || std::chrono::steady_clock::now() < *t.deadline) return std::nullopt;
  SubmissionOutcome o;
  o.kind = Kind::TimedOut;
  for (size_t i = 0; i < t.part.notes.size(); ++i)
    if (t.part.notes[i].segment != none || t.part.notes[i].node != none) o.command = i;
  return o;
}

}  // namespace

void DeviceState::hold(std::shared_ptr<TicketState> ticket) {
  StreamState& stream = streams[ticket->stream];
  stream.held.push_back(std::move(ticket));
  try {
    if (!stream.driver.joinable()) stream.driver = std::thread([this, &stream] { work(stream); });
  } catch (const std::exception&) {  // no thread to be had
    stream.held.pop_back();
    throw std::bad_alloc();
  }
  changed.notify_all();
}

void DeviceState::work(StreamState& stream) {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return closing || !stream.held.empty(); });
    if (closing) return;
    const std::shared_ptr<TicketState> t = stream.held.front();
    for (const auto& o : t->after) {
      changed.wait(lock, [&] { return closing || o->recorded; });
      if (closing) return;
    }
    SubmissionHandle last = 0;
    std::optional<SubmissionOutcome> ended;
    try {
      std::vector<SubmissionHandle> after;
      for (const auto& o : t->after)
        if (!o->ended) after.push_back(o->handle);
      lock.unlock();
      ended = drive(*t, std::move(after), last);
    } catch (const std::exception&) {
      ended = out_of_memory();
    }
    if (!lock.owns_lock()) lock.lock();
    t->after.clear();
    t->ended = std::move(ended);
    t->handle = last;
    t->recorded = true;
    stream.held.pop_front();
    changed.notify_all();
  }
}

/// Part after part, until the last is with the backend, or one fails: then how it ended.
std::optional<SubmissionOutcome> DeviceState::drive(TicketState& t,
                                                    std::vector<SubmissionHandle> after,
                                                    SubmissionHandle& last) {
  for (; !closing; t.part = t.recorder.next(t.deadline, t.time_limit)) {
    if (!t.part.errors.empty()) return failed(std::move(t.part.errors));
    Result<SubmissionHandle> handle =
        backend->submit(t.stream, std::exchange(t.part.commands, {}), after, t.deadline);
    if (!handle) return failed(handle.errors());
    t.report.launches += t.part.launches;
    after.clear();
    if (t.part.is_last) {
      last = *handle;
      return std::nullopt;
    }
    SubmissionOutcome o = backend->wait(*handle);
    if (o.kind != Kind::Done) return o;
    account(t, o);
    if (auto over = time_is_over(t)) return over;
    if (!t.part.polled) continue;
    t.recorder.answer(*t.part.polled);
  }
  return failed({});  // nobody will know
}

}  // namespace vyre::driver
