#include "runtime/cuda/submitter.h"

#include <fmt/format.h>

namespace vyre::driver::cuda {

using Steady = std::chrono::steady_clock;

bool Submitter::check(Status status, std::string_view what) {
  if (status == Status::Success) [[likely]]
    return true;
  fail({context_.failed(status, what)});
  return false;
}

void Submitter::fail(Diagnostics errors) {
  if (job_.is_decided) return;
  job_.is_decided = true;
  job_.outcome.kind = SubmissionOutcome::Kind::Failed;
  job_.outcome.command = command_;
  job_.outcome.errors = std::move(errors);
}

void Submitter::time_is_over(uint32_t command) {
  if (job_.is_decided) return;
  job_.is_decided = true;
  job_.outcome.kind = SubmissionOutcome::Kind::TimedOut;
  job_.outcome.command = command;
}

void Submitter::mark() {
  const EventHandle event = d_.take_event();
  if (!event) return fail({context_.failed(Status::OutOfMemory, "an event was made")});
  job_.marks.push_back(event);
  check(api_.event_record(event, stream_.handle), "an event was recorded");
}

/// Records an event after the current work of the stream; returns null on failure. It lives as long
/// as the job.
EventHandle Submitter::record_event() {
  const EventHandle event = d_.take_event();
  if (!event) {
    fail({context_.failed(Status::OutOfMemory, "an event was made")});
    return nullptr;
  }
  job_.extra_events.push_back(event);
  return check(api_.event_record(event, stream_.handle), "an event was recorded") ? event : nullptr;
}

bool Submitter::wait_for_stream() {
  const EventHandle event = record_event();
  if (!event) return false;
  d_.await(event);
  job_.extra_events.pop_back();
  d_.free_events_.push_back(event);
  if (context_.is_lost()) fail({context_.loss()});
  return !is_decided();
}

/// Orders the stream after all work on memory and control blocks on the memory stream.
bool Submitter::order_memory() {
  return check(d_.memory_.order(stream_.handle, stream_.memory_epoch), "a stream was ordered");
}

void Submitter::begin(std::span<const SubmissionHandle> after) {
  if (!order_memory()) return;
  for (const SubmissionHandle h : after) {
    Job* const other = d_.find(h);
    if (!other || other->is_done || !other->end) continue;
    check(api_.stream_wait(stream_.handle, other->end, 0), "a stream was ordered");
  }
}

void Submitter::run(std::span<const SubmissionHandle> after) {
  begin(after);
  const auto n = static_cast<uint32_t>(job_.commands.size());
  const bool is_measured = std::any_of(job_.commands.begin(), job_.commands.end(),
                                       [](const DeviceCommand& c) { return c.measured; });
  if (!is_measured) {
    unit(0, n);
    return end();
  }
  if (!is_decided()) mark();
  for (uint32_t i = 0; i < n && !is_decided();) {
    uint32_t last = i + 1;
    if (!job_.commands[i].timed)
      while (last < n && !job_.commands[last].timed) ++last;
    job_.units.push_back(i);
    unit(i, last);
    mark();
    i = last;
  }
  end();
}

/// Adds the commands that share one time, in order; adjacent ones that can be works are grouped.
void Submitter::unit(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last && !is_decided();) {
    const DeviceCommand& c = job_.commands[i];
    command_ = i;
    if (is_work(c)) {
      uint32_t end = i + 1;
      while (end < last && is_work(job_.commands[end])) ++end;
      works(i, end);
      i = end;
      continue;
    }
    if (const auto* what = c.as<DeviceUpload>()) upload(*what);
    if (const auto* what = c.as<DeviceReadback>()) readback(*what);
    if (const auto* what = c.as<DeviceCopy>()) copy_overlapping(*what, i);
    if (const auto* what = c.as<DeviceLoop>()) loop_by_host(*what, i);
    if (const auto* what = c.as<DeviceReplay>()) replay(*what, i);
    ++i;
  }
}

/// Reads the control blocks back and records the end event. Also for a submission that failed: its
/// work on the stream must have ended before its memory is reused.
void Submitter::end() {
  bool is_behind = !job_.marks.empty() && !is_decided();  // the last mark is after everything
  const auto read = [&](const ControlRange& range, uint32_t count) {
    if (!count || context_.is_lost()) return;
    is_behind = false;
    check(api_.copy_to_host(range.host, range.device, count * sizeof(emit_ptx::ControlBlock),
                            stream_.handle),
          "control blocks were read");
  };
  read(job_.controls, job_.controls_used);
  for (const Graph* g : job_.graphs) read(g->controls(), g->controls().count);
  EventHandle last = is_behind ? job_.marks.back() : nullptr;
  if (!is_behind && !context_.is_lost()) {
    last = record_event();
    if (!last) api_.stream_synchronize(stream_.handle);
  }
  job_.end = last;
}

// ---- The device's side.

Result<SubmissionHandle> CudaDevice::submit(uint32_t number, std::vector<DeviceCommand> commands,
                                            std::span<const SubmissionHandle> after,
                                            std::optional<Steady::time_point> deadline) {
  if (context_->is_lost()) return context_->loss();
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  const Result<Stream*> s = stream(number);
  if (!s) return s.errors();
  Job& job = take_job();
  job.commands = std::move(commands);
  job.deadline = deadline;
  Submitter(*this, job, **s).run(after);
  return job.handle;
}

Result<Stream*> CudaDevice::stream(uint32_t number) {
  Stream& s = streams_[number];
  if (!s.handle) {
    const Status made = context_->api.stream_create(&s.handle, stream_non_blocking);
    if (made != Status::Success) {
      s.handle = nullptr;
      return context_->failed(made, fmt::format("stream {} was made", number));
    }
  }
  return &s;
}

Job& CudaDevice::take_job() {
  if (free_jobs_.empty()) {
    free_jobs_.push_back(static_cast<uint32_t>(jobs_.size()));
    jobs_.push_back(std::make_unique<Job>());
  }
  const uint32_t slot = free_jobs_.back();
  free_jobs_.pop_back();
  Job& job = *jobs_[slot];
  job.handle = uint64_t{++job.generation} << 32 | (slot + 1);
  return job;
}

Job* CudaDevice::find(SubmissionHandle handle) {
  const auto slot = static_cast<uint32_t>(handle) - 1;
  return slot < jobs_.size() && jobs_[slot]->handle == handle ? jobs_[slot].get() : nullptr;
}

EventHandle CudaDevice::take_event() {
  if (free_events_.empty()) {
    EventHandle made = nullptr;
    if (context_->api.event_create(&made, event_default) != Status::Success) return nullptr;
    made_events_.push_back(made);
    return made;
  }
  const EventHandle event = free_events_.back();
  free_events_.pop_back();
  return event;
}

}  // namespace vyre::driver::cuda
