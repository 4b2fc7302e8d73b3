// Submissions in parts: those with loops that test a word of the device. A part ends where the host
// must learn how the loop continues; the thread of the stream waits for it and records the next.

#include <algorithm>

#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {
namespace {

/// Limits for one command buffer. The rest of a loop goes into another part.
constexpr uint64_t most_commands = 4096;
constexpr uint64_t most_rounds = 1024;

uint64_t rounds_at_once(const DeviceLoop& loop) {
  return std::clamp<uint64_t>(most_commands / std::max<size_t>(loop.body->size(), 1), 1,
                              most_rounds);
}

}  // namespace

bool VulkanDevice::needs_host(const std::vector<DeviceCommand>& commands) {
  return std::any_of(commands.begin(), commands.end(), [](const DeviceCommand& c) {
    const auto* const loop = c.as<DeviceLoop>();
    return loop && (loop->word.memory || loop->rounds > rounds_at_once(*loop));
  });
}

bool VulkanDevice::must_hold(const Job& job) const {
  if (!job.stream->held.empty() || needs_host(job.commands)) return true;
  return std::any_of(job.after.begin(), job.after.end(), [&](SubmissionHandle h) {
    const auto it = jobs_.find(h);
    return it != jobs_.end() && !it->second->on_queue && !it->second->ended;
  });
}

Result<bool> VulkanDevice::record(Job& job, bool barrier_first) {
  job.frame = take_frame();
  job.recorded = {};
  const auto left = std::span<const DeviceCommand>(job.commands).subspan(job.next);
  const uint32_t timestamps = Recorder::timestamps(*c_, left);
  if (Result<> r = job.frame->begin(timestamps); !r) return r.errors();
  const Workshop workshop{c_, device_memory_, memory_, helpers_, profile};
  Recorder recorder(workshop, *job.frame, timestamps);
  if (barrier_first) recorder.full_barrier();
  for (const MemoryHandle h : unclear_) recorder.clear(memory_[uint32_t(h)].piece);
  if (Result<> r = record_commands(job, recorder); !r) return r.errors();
  if (Result<> r = recorder.end(); !r) return r.errors();
  job.recorded = std::move(recorder.recorded);
  if (stopped_ || job.late) job.recorded.stop();
  return job.never_began || job.next == job.commands.size();
}

Result<> VulkanDevice::record_commands(Job& job, Recorder& recorder) {
  const bool over = job.deadline && Steady::now() >= *job.deadline;
  for (; job.next < job.commands.size(); ++job.next) {
    const DeviceCommand& c = job.commands[job.next];
    if (over && (c.as<DeviceLaunch>() || c.body())) {
      job.never_began = job.next;
      return Ok{};
    }
    if (const auto* replay = c.as<DeviceReplay>()) {
      Result<std::unique_ptr<Kept>> kept = take_kept(replay->body);
      if (!kept) return kept.errors();
      recorder.replay(c.timed, job.next, **kept);
      job.kept.push_back(std::move(*kept));
      job.rounds = 1;
    } else if (const auto* loop = c.as<DeviceLoop>()) {
      const uint64_t left = loop->rounds - job.rounds;
      const uint64_t now = std::min(left, rounds_at_once(*loop));
      if (loop->word.memory) {
        if (left > 0) return recorder.batch(c, job.next, std::min(job.batch, now));
      } else {
        if (Result<> r = recorder.repeat(c, job.next, now); !r) return r;
        job.rounds += now;
        if (now < left) return Ok{};
      }
    } else {
      if (Result<> r = recorder.record(c, job.next); !r) return r;
      continue;
    }
    job.outcome.rounds.push_back(std::exchange(job.rounds, 0));
  }
  return Ok{};
}

/// Called after a part that was not the last and succeeded. Returns false if the deadline has
/// passed.
bool VulkanDevice::answer(Job& job) {
  if (const uint32_t* batch = job.recorded.batch) {
    const uint64_t max = std::get<DeviceLoop>(job.commands[job.next].what).rounds;
    job.rounds += batch[0];
    job.batch = std::min(job.batch * 2, most_rounds);
    if (batch[1] == 0 || job.rounds >= max) {
      job.outcome.rounds.push_back(std::exchange(job.rounds, 0));
      job.batch = 4;
      ++job.next;
    }
  }
  if (!stopped_ && !job.late && !(job.deadline && Steady::now() >= *job.deadline)) return true;
  if (job.next == job.commands.size()) return true;
  job.outcome.kind = SubmissionOutcome::Kind::TimedOut;
  job.outcome.command = job.next;
  return false;
}

void VulkanDevice::drive(std::unique_lock<std::mutex>& lock, Job& job) {
  using Ended = SubmissionOutcome::Kind;
  for (;;) {
    const Result<bool> last = begin_part(job);
    if (!last) {
      job.outcome.kind = Ended::Failed;
      job.outcome.errors = last.errors();
      job.outcome.command = std::min(job.next, job.commands.size() - 1);
      break;
    }
    if (*last) return;
    lock.unlock();
    const VkResult r = wait_for(job.stream->semaphore, job.number);
    if (r == VK_SUCCESS) {
      collect(job);
    } else {
      job.outcome.kind = Ended::Failed;
      job.outcome.errors = {c_->failure(r, "waiting for a submission")};
    }
    lock.lock();
    if (job.outcome.kind != Ended::Done) break;
    const bool goes_on = answer(job);
    free_part(job);
    if (!goes_on || job.next == job.commands.size()) break;
  }
  job.ended = true;
}

void VulkanDevice::drive(Stream& s) {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const auto can_begin = [&] {
      if (s.held.empty()) return false;
      const std::vector<SubmissionHandle>& after = s.held.front()->after;
      return std::all_of(after.begin(), after.end(), [&](SubmissionHandle h) {
        const auto it = jobs_.find(h);
        return it == jobs_.end() || it->second->on_queue || it->second->ended;
      });
    };
    if (!can_begin()) {
      progressed_.wait(lock);
      continue;
    }
    const std::shared_ptr<Job> job = s.held.front();
    try {
      drive(lock, *job);
    } catch (const std::bad_alloc&) {
      if (!lock.owns_lock()) lock.lock();
      job->outcome.kind = SubmissionOutcome::Kind::Failed;
      job->ended = true;
    }
    s.held.pop_front();
    progressed_.notify_all();
  }
}

Result<> VulkanDevice::hold(std::shared_ptr<Job> job) {
  Stream& s = *job->stream;
  if (!s.driver.joinable()) {
    try {
      s.driver = std::thread([this, &s] { drive(s); });
    } catch (const std::system_error&) {
      return diagnose(Code::OutOfMemory, {}, "out of memory: the thread of a stream")
          .with_fix("use fewer streams");
    }
  }
  s.held.push_back(std::move(job));
  progressed_.notify_all();
  return Ok{};
}

}  // namespace vyre::driver::vulkan
