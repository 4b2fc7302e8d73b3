// Submissions that cannot be given to the backend when they are made: those with a loop that only
// the device can count, and those after them. One thread per stream with such submissions processes
// them in order. A submission never waits for a later one, so the threads cannot deadlock.

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

/// Returns the outcome of a submission whose commands could not be recorded. Throws nothing.
SubmissionOutcome out_of_memory() {
  try {
    return failed({diagnose(Code::OutOfMemory, {}, "out of memory while commands were recorded")
                       .with_fix("free memory")});
  } catch (const std::bad_alloc&) {
    return failed({});
  }
}

/// Returns a timeout if the deadline has passed since a word was read in time: the last launch
/// counts as the one that was running.
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
  } catch (const std::exception&) {  // cannot create a thread
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

/// Submits part after part, until the last is with the backend, or one fails: then returns its
/// outcome.
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
  return failed({});  // the device is closing, so no caller sees this outcome
}

}  // namespace vyre::driver
