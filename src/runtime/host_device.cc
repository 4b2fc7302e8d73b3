#include "runtime/host_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <system_error>

#include "interp/launch_kernel.h"

namespace vyre::driver {

using Steady = std::chrono::steady_clock;

double HostDevice::seconds_left(const Steady::time_point& deadline) {
  const double left = std::chrono::duration<double>(deadline - Steady::now()).count();
  return std::max(std::ceil(left * 1e3) / 1e3, 1e-3);
}

// ---- Memory.

Result<MemoryHandle> HostDevice::allocate(uint64_t bytes) {
  HostMemory memory;
  if (!memory.allocate(bytes))
    return interp::out_of_memory(fmt::format("a buffer of {} bytes", bytes));
  const std::lock_guard lock(mutex_);
  const MemoryHandle h = ++next_memory_;
  memory_.emplace(h, std::move(memory));
  return h;
}

void HostDevice::release(MemoryHandle h) {
  HostMemory gone;  // freed after the lock: freeing large memory takes a while
  const std::lock_guard lock(mutex_);
  const auto it = memory_.find(h);
  gone = std::move(it->second);
  memory_.erase(it);
}

std::byte* HostDevice::address(MemoryHandle h) {
  const std::lock_guard lock(mutex_);
  return memory_.at(h).data();
}

// ---- Streams.

Result<SubmissionHandle> HostDevice::submit(uint32_t stream, std::vector<DeviceCommand> commands,
                                            std::span<const SubmissionHandle> after,
                                            Deadline deadline) {
  auto job = std::make_shared<Job>();
  job->commands = std::move(commands);
  job->after.assign(after.begin(), after.end());
  job->deadline = deadline;
  const std::lock_guard lock(mutex_);
  const SubmissionHandle handle = ++next_job_;
  Stream& s = streams_[stream];
  if (!s.thread.joinable()) {
    try {
      s.thread = std::thread([this, &s] { work(s); });
    } catch (const std::system_error&) {
      return interp::out_of_memory(fmt::format("the thread of stream {}", stream));
    }
  }
  job->stream = &s;
  s.queue.push_back(job);
  try {
    jobs_.emplace(handle, std::move(job));
  } catch (const std::bad_alloc&) {
    s.queue.pop_back();
    throw;
  }
  if (can_begin(s)) s.changed.notify_one();
  return handle;
}

bool HostDevice::is_done(SubmissionHandle h) {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(h);
  return it == jobs_.end() || it->second->done;
}

double HostDevice::progress(SubmissionHandle h) {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(h);
  return it == jobs_.end() || it->second->done ? 1.0 : it->second->fraction.load();
}

SubmissionOutcome HostDevice::wait(SubmissionHandle h) {
  std::unique_lock lock(mutex_);
  const auto job = jobs_.at(h);
  while (!job->done) {
    if (can_begin(*job->stream))
      run_first(lock, *job->stream);
    else
      ended_.wait(lock);
  }
  jobs_.erase(h);
  return std::move(job->outcome);
}

bool HostDevice::can_begin(const Stream& s) const {
  if (s.running || s.queue.empty()) return false;
  return std::all_of(s.queue.front()->after.begin(), s.queue.front()->after.end(),
                     [&](SubmissionHandle h) {
                       const auto it = jobs_.find(h);
                       return it == jobs_.end() || it->second->done;
                     });
}

void HostDevice::run_first(std::unique_lock<std::mutex>& lock, Stream& s) {
  const auto job = s.queue.front();
  s.running = true;
  lock.unlock();
  execute(*job);
  lock.lock();
  s.running = false;
  s.queue.pop_front();
  job->done = true;
  ended_.notify_all();
  for (auto& [id, other] : streams_)
    if (can_begin(other)) other.changed.notify_one();
}

void HostDevice::work(Stream& s) {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (can_begin(s))
      run_first(lock, s);
    else
      s.changed.wait(lock);
  }
}

void HostDevice::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closing_, true)) return;
    for (auto& [id, s] : streams_) s.changed.notify_all();
  }
  for (auto& [id, s] : streams_)
    if (s.thread.joinable()) s.thread.join();
}

// ---- Commands.

/// Executes a submission. Throws nothing: threads of the device call it.
void HostDevice::execute(Job& job) noexcept {
  SubmissionOutcome& o = job.outcome;
  try {
    run_commands(job);
  } catch (const std::exception&) {
    o.kind = SubmissionOutcome::Kind::Failed;
    try {
      o.errors = {interp::out_of_memory("a submission under way")};
    } catch (const std::bad_alloc&) {
      o.errors.clear();
    }
  }
  job.commands.clear();  // kernels and staging memory, while no thread waits for the lock
}

void HostDevice::run_commands(Job& job) {
  SubmissionOutcome& o = job.outcome;
  auto begin = Steady::now();
  for (size_t i = 0; i < job.commands.size(); ++i) {
    o.command = i;
    const DeviceCommand& c = job.commands[i];
    if (job.deadline && begin >= *job.deadline && (c.as<DeviceLaunch>() || c.as<DeviceFill>())) {
      o.kind = SubmissionOutcome::Kind::TimedOut;
      break;
    }
    const bool ok = run(job, c);
    const auto end = Steady::now();
    o.device_ns.push_back(uint64_t(std::chrono::nanoseconds(end - begin).count()));
    begin = end;
    if (!ok) break;
  }
}

bool HostDevice::run(Job& job, const DeviceLoop& c) {
  uint64_t& rounds = job.outcome.rounds.emplace_back();
  const auto goes_on = [&] {
    if (rounds == c.rounds) return false;
    if (!c.word.memory) return true;
    const std::byte* word = address(c.word);
    return std::any_of(word, word + c.word.bytes, [](std::byte b) { return b != std::byte{0}; });
  };
  while (goes_on()) {
    if (job.deadline && Steady::now() >= *job.deadline) {
      job.outcome.kind = SubmissionOutcome::Kind::TimedOut;
      return false;
    }
    ++rounds;
    for (job.outcome.inside = 0; job.outcome.inside < c.body->size(); ++job.outcome.inside)
      if (!run(job, (*c.body)[job.outcome.inside])) return false;
  }
  return true;
}

bool HostDevice::run(Job& job, const DeviceReplay& c) {
  return run(job, DeviceLoop{c.body, 1, {}});
}

void HostDevice::fill(std::byte* at, uint64_t bytes, uint8_t value) {
  std::memset(at, value, bytes);
}

/// Returns false if the deadline passed before the end: filling memory may take seconds.
bool HostDevice::run(Job& job, const DeviceFill& c) {
  constexpr uint64_t part = 64 << 20;
  for (uint64_t at = 0; at < c.to.bytes; at += part) {
    if (at > 0 && job.deadline && Steady::now() >= *job.deadline) {
      job.outcome.kind = SubmissionOutcome::Kind::TimedOut;
      return false;
    }
    fill(address(c.to) + at, std::min(part, c.to.bytes - at), c.value);
  }
  return true;
}

bool HostDevice::run(Job&, const DeviceUpload& c) {
  if (c.to.bytes) std::memcpy(address(c.to), c.staging->data(), c.to.bytes);
  return true;
}

bool HostDevice::run(Job&, const DeviceReadback& c) {
  if (!c.from.bytes) return true;
  const std::byte* const from = address(c.from);
  c.staging->assign(from, from + c.from.bytes);
  return true;
}

bool HostDevice::run(Job&, const DeviceCopy& c) {
  if (c.to.bytes) std::memmove(address(c.to), address(c.source) + c.source_offset, c.to.bytes);
  return true;
}

bool HostDevice::run(Job& job, const DeviceCommand& c) {
  return std::visit([&](const auto& what) { return run(job, what); }, c.what);
}

bool HostDevice::run(Job& job, const DeviceLaunch& c) {
  IdMap<BufferId, std::byte*> buffers(c.buffers.size());
  {
    const std::lock_guard lock(mutex_);
    for (const BufferId i : buffers.ids()) {
      buffers[i] = c.buffers[i] ? memory_.at(c.buffers[i]).data() : nullptr;
      if (c.offsets.contains(i) && buffers[i]) buffers[i] += c.offsets[i];
    }
  }
  const auto before = double(job.outcome.command), all = double(job.commands.size());
  return launch(c, buffers, {job.deadline, job.outcome, [&](double part) {
                               job.fraction = (before + part) / all;
                             }});
}

}  // namespace vyre::driver
