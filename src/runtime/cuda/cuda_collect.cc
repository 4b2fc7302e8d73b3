// Completion of submissions.

#include <algorithm>
#include <cstring>
#include <thread>

#include "runtime/cuda/cuda_device.h"

namespace vyre::driver::cuda {

using Steady = std::chrono::steady_clock;
using emit_ptx::ControlBlock;
using Kind = SubmissionOutcome::Kind;

namespace {

/// Polling is fast and waking a thread is slow: the wait for short work polls without sleeping.
constexpr auto awake = std::chrono::microseconds(500);
constexpr auto nap = std::chrono::microseconds(50);

/// A launch after a trapped one uses that one's incomplete results and may never end. A long wait
/// therefore looks for traps at this interval.
constexpr auto look_after = std::chrono::milliseconds(100);

/// Moves the bytes of one piece. Pieces usually come in order: each is then appended, because
/// memory that is resized first is zeroed first.
void empty(Job::Back& back) {
  if (back.bytes == 0) return;
  const size_t end = back.offset + back.bytes;
  if (back.to->size() == back.offset) {
    back.to->insert(back.to->end(), back.from, back.from + back.bytes);
  } else {
    if (back.to->size() < end) back.to->resize(end);
    std::memcpy(back.to->data() + back.offset, back.from, back.bytes);
  }
  back.bytes = 0;
}

}  // namespace

/// Returns true if the event is complete. An event that cannot be queried counts as complete: later
/// queries would fail too.
bool CudaDevice::is_behind(EventHandle event) {
  const Status s = context_->api.event_query(event);
  if (s == Status::NotReady) return false;
  if (s != Status::Success)
    context_->failed(is_sticky(s) ? s : Status::Unknown, "work was waited for");
  return true;
}

/// Waits for an event. A long wait calls `look` at intervals.
void CudaDevice::await(EventHandle event, const std::function<void()>& look) {
  const Current current(*context_);
  const auto begin = Steady::now();
  auto next_look = begin + look_after;
  while (!context_->is_lost() && !is_behind(event)) {
    const auto now = Steady::now();
    if (now - begin < awake) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(nap);
    if (!look || now < next_look) continue;
    look();
    next_look = now + look_after;
  }
}

bool CudaDevice::has_ended(Job& job) {
  if (job.is_done) return true;
  return job.is_done = context_->is_lost() || !job.end || is_behind(job.end);
}

bool CudaDevice::is_done(SubmissionHandle handle) {
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  Job* const job = find(handle);
  return !job || has_ended(*job);
}

double CudaDevice::progress(SubmissionHandle handle) {
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  Job* const job = find(handle);
  if (!job || has_ended(*job)) return 1;
  size_t passed = 0;
  while (passed < job->marks.size() &&
         context_->api.event_query(job->marks[passed]) == Status::Success)
    ++passed;
  return passed < 2 ? 0 : double(passed - 1) / double(job->marks.size());
}

SubmissionOutcome CudaDevice::wait(SubmissionHandle handle) {
  const Current current(*context_);
  std::unique_lock lock(mutex_);
  Job& job = *find(handle);
  // wait() is called once per submission, so no other thread recycles the job meanwhile.
  if (!has_ended(job)) {
    lock.unlock();
    const auto look = [&] { look_for_traps(job); };
    for (Job::Back& back : job.backs) {
      if (!back.ready) continue;
      await(back.ready, look);
      if (!context_->is_lost()) empty(back);
    }
    await(job.end, look);
    lock.lock();
    job.is_done = true;
  }
  inspect(job);
  if (!job.backs.empty() && !context_->is_lost()) {
    lock.unlock();
    for (Job::Back& back : job.backs) empty(back);
    lock.lock();
  }
  SubmissionOutcome outcome = std::move(job.outcome);
  recycle(job);
  return outcome;
}

/// If a launch has trapped and later launches of the job follow it, sets their stop flags.
void CudaDevice::look_for_traps(Job& job) {
  const std::lock_guard lock(mutex_);
  if (job.is_inspected || job.checks.size() < 2) return;
  const Api& api = context_->api;
  if (!side_stream_ && api.stream_create(&side_stream_, stream_non_blocking) != Status::Success) {
    side_stream_ = nullptr;
    return;
  }
  const PinnedBlocks::Block block = pinned_.take(false);
  if (!block.data) return;
  const auto has_trapped = [&](const ControlRange& range, uint32_t count) {
    const uint32_t n = std::min<uint32_t>(count, PinnedBlocks::small_bytes / sizeof(ControlBlock));
    if (n == 0 ||
        api.copy_to_host(block.data, range.device, n * sizeof(ControlBlock), side_stream_) !=
            Status::Success ||
        api.stream_synchronize(side_stream_) != Status::Success)
      return false;
    const auto* const blocks = reinterpret_cast<const ControlBlock*>(block.data);
    return std::any_of(blocks, blocks + n,
                       [](const ControlBlock& b) { return b.trapped != ~uint64_t{0}; });
  };
  bool found = has_trapped(job.controls, job.controls_used);
  for (const Graph* g : job.graphs)
    found = found || has_trapped(g->controls(), g->controls().count);
  pinned_.give_back(block);
  if (!found) return;
  if (job.flag.host) flags_.set(job.flag);
  for (const Graph* g : job.graphs)
    if (g->flag().host) flags_.set(g->flag());
}

// ---- With the mutex held.

/// Finds the first command in order that trapped or was stopped.
void CudaDevice::judge(Job& job) {
  SubmissionOutcome& o = job.outcome;
  const auto ends = [&](Kind kind, const Job::Check& c) {
    o.kind = kind;
    o.command = c.command;
    o.inside = c.inside;
  };
  // A loop's check precedes those of the launches of its body, but the loop was stopped after them.
  const Job::Check* stopped_loop = nullptr;
  for (const Job::Check& c : job.checks) {
    if (stopped_loop && c.command != stopped_loop->command) break;
    const ControlBlock& b = *c.block;
    if (c.is_loop) {
      if (was_stopped(b)) stopped_loop = &c;
    } else if (b.trapped != ~uint64_t{0}) {
      ends(Kind::Trapped, c);
      o.trap = {b.code, {b.x, b.y, b.z}, OpId(b.op)};
      return;
    } else if (b.stopped_at) {
      ends(Kind::TimedOut, c);
      o.stopped_at = OpId(b.stopped_at - 1);
      return;
    }
  }
  if (stopped_loop) return ends(Kind::TimedOut, *stopped_loop);
  bool late = job.flag.host && job.flag.host->load(std::memory_order_relaxed);
  for (const Graph* g : job.graphs)
    late |= g->flag().host && g->flag().host->load(std::memory_order_relaxed);
  if (!late || !job.last_launch) return;
  o.kind = Kind::TimedOut;
  o.command = *job.last_launch;
}

void CudaDevice::inspect(Job& job) {
  if (job.is_inspected) return;
  job.is_inspected = true;
  SubmissionOutcome& o = job.outcome;
  job.watches.clear();  // later submissions may use the flags from now on
  if (context_->is_lost()) {
    o.kind = Kind::Failed;
    o.errors = {context_->loss()};
    for (Graph* g : job.graphs) --g->users;
    job.graphs.clear();
    return;
  }
  const bool decided = job.is_decided;
  const SubmissionOutcome before = decided ? o : SubmissionOutcome();
  judge(job);
  const bool is_clean = std::none_of(job.checks.begin(), job.checks.end(), [](const auto& c) {
    return c.block->trapped != ~uint64_t{0} || c.block->stopped_at;
  });
  // A trap before the command that could not begin is the first failure.
  if (decided && (o.kind == Kind::Done || o.command > before.command)) o = before;
  for (const Job::Check& c : job.checks)
    if (c.is_loop) job.rounds.emplace_back(c.command, rounds_begun(*c.block));
  std::sort(job.rounds.begin(), job.rounds.end());
  for (const auto& [command, n] : job.rounds) o.rounds.push_back(n);
  read_times(job);
  for (Graph* g : job.graphs) {
    --g->users;
    Diagnostics errors;
    if (!is_clean && g->controls().count) g->is_broken = !controls_.clean(g->controls(), errors);
  }
  job.graphs.clear();
  if (job.controls.count) controls_.give_back(job.controls, is_clean);
  if (job.flag.host) flags_.give_back(job.flag);
}

void CudaDevice::inspect_all() {
  for (const auto& job : jobs_)
    if (!job->graphs.empty() && job->end && has_ended(*job)) inspect(*job);
}

void CudaDevice::read_times(Job& job) {
  std::vector<uint64_t>& ns = job.outcome.device_ns;
  ns.assign(job.commands.size(), 0);
  for (size_t i = 0; i < job.units.size() && i + 1 < job.marks.size(); ++i) {
    float ms = 0;
    if (context_->api.event_elapsed(&ms, job.marks[i], job.marks[i + 1]) == Status::Success)
      ns[job.units[i]] = uint64_t(double(ms) * 1e6);
  }
}

void CudaDevice::recycle(Job& job) {
  for (const PinnedBlocks::Block& block : job.blocks) pinned_.give_back(block);
  if (!context_->is_lost())
    for (void* memory : job.registered) context_->api.host_unregister(memory);
  for (const DevicePointer memory : job.temporaries) memory_.release(memory);
  for (const std::vector<EventHandle>* events : {&job.marks, &job.extra_events})
    free_events_.insert(free_events_.end(), events->begin(), events->end());
  const auto slot = static_cast<uint32_t>(job.handle) - 1;
  job.handle = 0;
  job.commands.clear();
  job.deadline.reset();
  job.marks.clear();
  job.units.clear();
  job.end = nullptr;
  job.checks.clear();
  job.controls = {};
  job.controls_used = 0;
  job.flag = {};
  job.last_launch.reset();
  job.blocks.clear();
  job.block_used = 0;
  job.backs.clear();
  job.extra_events.clear();
  job.registered.clear();
  job.temporaries.clear();
  job.rounds.clear();
  job.outcome = {};
  job.is_decided = job.is_done = job.is_inspected = false;
  free_jobs_.push_back(slot);
}

}  // namespace vyre::driver::cuda
