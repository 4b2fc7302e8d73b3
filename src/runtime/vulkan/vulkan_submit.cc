// Submissions: queueing and completion.

#include <fmt/format.h>

#include <algorithm>

#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

namespace {

constexpr VkPipelineStageFlags all_work =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;

/// A sleeping thread is woken late, by about the time of a short launch or of some launches of a
/// sequence. Sequences of a few dozen short launches, for which this matters, end within this time.
constexpr auto spin_for = std::chrono::microseconds(200);

/// The number of cached sequences that are not in use.
constexpr size_t most_kept = 32;

}  // namespace

// ---- To the queue.

Result<VulkanDevice::Stream*> VulkanDevice::stream(uint32_t number) {
  const auto it = streams_.find(number);
  if (it != streams_.end()) return &it->second;
  auto type = made<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = made<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  if (const VkResult r = c_->vk.vkCreateSemaphore(c_->device, &info, nullptr, &semaphore);
      r != VK_SUCCESS)
    return c_->failure(r, "making a semaphore");
  Stream& s = streams_[number];
  s.semaphore = semaphore;
  return &s;
}

bool VulkanDevice::has_ended(Stream& s, uint64_t number) {
  if (s.ended >= number) return true;
  uint64_t value = 0;
  const VkResult r = c_->vk.vkGetSemaphoreCounterValue(c_->device, s.semaphore, &value);
  if (r == VK_ERROR_DEVICE_LOST) (void)c_->failure(r, "asking for a semaphore");
  if (c_->is_lost()) return true;
  s.ended = std::max(s.ended, value);
  return s.ended >= number;
}

bool VulkanDevice::others_run(const Stream& stream) {
  for (auto& [number, s] : streams_)
    if (&s != &stream && !has_ended(s, s.submitted)) return true;
  return false;
}

std::unique_ptr<Frame> VulkanDevice::take_frame() {
  if (free_frames_.empty()) return std::make_unique<Frame>(*c_, host_memory_, parameter_memory_);
  std::unique_ptr<Frame> f = std::move(free_frames_.back());
  free_frames_.pop_back();
  return f;
}

Result<> VulkanDevice::enqueue(Job& job, std::span<const SubmissionHandle> after,
                               bool wait_for_own) {
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> numbers;
  const auto wait_for = [&](Stream& s, uint64_t number) {
    if (number == 0 || has_ended(s, number)) return;
    semaphores.push_back(s.semaphore);
    numbers.push_back(number);
  };
  if (wait_for_own) {
    wait_for(*job.stream, job.stream->submitted);
    for (const SubmissionHandle h : after)
      if (const auto it = jobs_.find(h); it != jobs_.end() && it->second->stream != job.stream)
        wait_for(*it->second->stream, it->second->number);
    if (cleared_by_ && cleared_by_ != job.stream) wait_for(*cleared_by_, cleared_number_);
  }
  const std::vector<VkPipelineStageFlags> stages(semaphores.size(), all_work);
  const uint64_t number = job.stream->submitted + 1;
  auto timeline =
      made<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.waitSemaphoreValueCount = uint32_t(numbers.size());
  timeline.pWaitSemaphoreValues = numbers.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &number;
  auto info = made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &timeline;
  info.waitSemaphoreCount = uint32_t(semaphores.size());
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &job.frame->commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &job.stream->semaphore;
  VkResult r = VK_SUCCESS;
  {
    const std::lock_guard lock(c_->queue_mutex);
    r = c_->vk.vkQueueSubmit(c_->queue, 1, &info, VK_NULL_HANDLE);
  }
  if (r != VK_SUCCESS) return c_->failure(r, "submitting commands");
  job.number = job.stream->submitted = number;
  return Ok{};
}

Result<bool> VulkanDevice::begin_part(Job& job) {
  // One queue runs everything in order, so a barrier at the beginning is enough and cheaper than a
  // semaphore, unless another stream has work that the barrier would delay.
  const bool by_semaphore = others_run(*job.stream);
  Result<bool> last = record(job, !by_semaphore);
  Result<> queued = Ok{};
  if (last) queued = enqueue(job, job.after, by_semaphore);
  if (!last || !queued) {
    free_part(job);
    return last ? queued.errors() : last.errors();
  }
  job.after.clear();
  if (!unclear_.empty()) {
    unclear_.clear();
    cleared_by_ = job.stream;
    cleared_number_ = job.number;
  }
  job.on_queue = *last;
  if (job.deadline && !job.recorded.stops.empty()) {
    if (!watcher_.joinable())
      watcher_ = std::thread([this] { watch(); });
    else if (*job.deadline < wakes_)
      deadlines_changed_.notify_one();
  }
  return last;
}

Result<SubmissionHandle> VulkanDevice::submit(uint32_t stream_number,
                                              std::vector<DeviceCommand> commands,
                                              std::span<const SubmissionHandle> after,
                                              std::optional<Steady::time_point> deadline) {
  if (c_->is_lost()) return c_->lost_diagnostic("submitting commands");
  const std::lock_guard lock(mutex_);
  const Result<Stream*> s = stream(stream_number);
  if (!s) return s.errors();
  auto job = std::make_shared<Job>();
  job->stream = *s;
  job->deadline = deadline;
  job->commands = std::move(commands);
  job->after.assign(after.begin(), after.end());
  job->outcome.device_ns.assign(job->commands.size(), 0);
  if (must_hold(*job)) {
    if (Result<> r = hold(job); !r) return r.errors();
  } else if (Result<bool> r = begin_part(*job); !r) {
    return r.errors();
  }
  const SubmissionHandle h = ++next_job_;
  jobs_.emplace(h, std::move(job));
  return h;
}

void VulkanDevice::free_part(Job& job) {
  job.recorded = {};
  if (job.frame) {
    job.frame->recycle();
    free_frames_.push_back(std::move(job.frame));
  }
  for (std::unique_ptr<Kept>& k : job.kept) kept_.push_back(std::move(k));
  job.kept.clear();
  while (kept_.size() > most_kept) kept_.pop_front();
}

Result<std::unique_ptr<Kept>> VulkanDevice::take_kept(const CommandBody& body) {
  const auto it =
      std::find_if(kept_.rbegin(), kept_.rend(), [&](const auto& k) { return k->body == body; });
  if (it != kept_.rend()) {
    std::unique_ptr<Kept> found = std::move(*it);
    kept_.erase(std::next(it).base());
    return found;
  }
  auto made_now = std::make_unique<Kept>(*c_, host_memory_, parameter_memory_);
  if (Result<> r = made_now->frame.begin(0); !r) return r.errors();
  const Workshop workshop{c_, device_memory_, memory_, helpers_, profile};
  Recorder recorder(workshop, made_now->frame, 0);
  if (Result<> r = recorder.record_body(*body); !r) return r.errors();
  made_now->body = body;
  made_now->recorded = std::move(recorder.recorded);
  return made_now;
}

// ---- Deadlines.

void VulkanDevice::watch() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const auto now = Steady::now();
    wakes_ = Steady::time_point::max();
    for (auto& [handle, job] : jobs_) {
      if (!job->deadline || job->late || job->ended || job->recorded.stops.empty()) continue;
      if (has_ended(*job->stream, job->number)) continue;
      if (*job->deadline <= now) {
        job->late = true;
        job->recorded.stop();
      } else {
        wakes_ = std::min(wakes_, *job->deadline);
      }
    }
    if (wakes_ == Steady::time_point::max())
      deadlines_changed_.wait(lock);
    else
      deadlines_changed_.wait_until(lock, wakes_);
  }
}

void VulkanDevice::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (auto& [handle, job] : jobs_) job->recorded.stop();
}

// ---- The end.

bool VulkanDevice::is_done(SubmissionHandle h) {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(h);
  if (it == jobs_.end() || it->second->ended) return true;
  return it->second->on_queue && has_ended(*it->second->stream, it->second->number);
}

SubmissionOutcome VulkanDevice::wait(SubmissionHandle h) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Job> job = jobs_.at(h);
  progressed_.wait(lock, [&] { return job->on_queue || job->ended; });
  if (!job->ended) {
    lock.unlock();
    const VkResult r = wait_for(job->stream->semaphore, job->number);
    if (r != VK_SUCCESS || c_->is_lost()) {
      job->outcome.kind = SubmissionOutcome::Kind::Failed;
      job->outcome.errors = {r != VK_SUCCESS ? c_->failure(r, "waiting for a submission")
                                             : c_->lost_diagnostic("waiting for a submission")};
    } else {
      collect(*job);
    }
    lock.lock();
    job->stream->ended = std::max(job->stream->ended, job->number);
  }
  free_part(*job);
  jobs_.erase(h);
  return std::move(job->outcome);
}

VkResult VulkanDevice::wait_for(VkSemaphore semaphore, uint64_t number) {
  if (!c_->physical.is_cpu()) {  // a CPU device's threads need the core
    const auto until = Steady::now() + spin_for;
    uint64_t value = 0;
    do {
      const VkResult r = c_->vk.vkGetSemaphoreCounterValue(c_->device, semaphore, &value);
      if (r != VK_SUCCESS || value >= number) return r;
    } while (Steady::now() < until);
  }
  auto info = made<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &number;
  // Waits repeatedly: not every driver reports a lost device to waiting threads. If waiting fails
  // for another reason (no memory), the work continues and its memory must stay valid.
  for (;;) {
    VkResult r = c_->vk.vkWaitSemaphores(c_->device, &info, 1'000'000'000);
    if (r == VK_SUCCESS || r == VK_ERROR_DEVICE_LOST) return r;
    if (c_->is_lost()) return VK_ERROR_DEVICE_LOST;
    if (r == VK_TIMEOUT) continue;
    uint64_t value = 0;
    r = c_->vk.vkGetSemaphoreCounterValue(c_->device, semaphore, &value);
    if (r == VK_ERROR_DEVICE_LOST || (r == VK_SUCCESS && value >= number)) return r;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Reports a loop that the device ended on its own.
Diagnostic VulkanDevice::cut_loop(const Job& job, const Recorded::Told& told) const {
  const auto& c = std::get<DeviceLaunch>(job.commands[told.command].inner(told.inside).what);
  const OpId op((told.block->stopped_at & ~emit_spirv::cut_loop) - 1);
  const Place place =
      c.program->ops.contains(op) ? c.program->place(c.program->ops[op].loc) : Place{};
  return diagnose(Code::NotExact, place,
                  fmt::format("kernel `{}` has a loop that runs longer than {} lets loops run",
                              c.program->name, info_.name))
      .note("the device ended it by itself; vyre knows from its self-test that it does that")
      .with_fix("split the work into more invocations or launches, or use another device");
}

void VulkanDevice::collect(Job& job) {
  using Kind = SubmissionOutcome::Kind;
  SubmissionOutcome& o = job.outcome;
  read_times(job);
  if (auto d = c_->complaint()) {
    o.kind = Kind::Failed;
    o.errors = {*d};
    return;
  }
  for (const Recorded::Told& t : job.recorded.told) {
    const emit_spirv::ControlBlock& b = *t.block;
    if (b.stopped_at & emit_spirv::cut_loop) {
      o.kind = Kind::Failed;
      o.errors = {cut_loop(job, t)};
    } else if (b.trapped != ~uint64_t{0}) {
      o.kind = Kind::Trapped;
      o.trap = {b.code, {b.x, b.y, b.z}, OpId(b.op)};
    } else if (b.stopped_at != 0) {
      o.kind = Kind::TimedOut;
      o.stopped_at = OpId(b.stopped_at - 1);
    } else {
      continue;
    }
    o.command = t.command;
    o.inside = t.inside;
    return;
  }
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    late = job.late;
  }
  if (job.never_began || late) {
    o.kind = Kind::TimedOut;
    o.command = job.never_began             ? *job.never_began
                : job.recorded.told.empty() ? o.device_ns.size() - 1
                                            : job.recorded.told.back().command;
    return;
  }
  for (const Recorded::Readback& r : job.recorded.readbacks) r.to->assign(r.from, r.from + r.bytes);
}

void VulkanDevice::read_times(Job& job) {
  const uint32_t n = job.recorded.timestamps;
  if (n < 2) return;
  std::vector<uint64_t> ticks(n);
  if (c_->vk.vkGetQueryPoolResults(c_->device, job.frame->queries, 0, n, n * sizeof(uint64_t),
                                   ticks.data(), sizeof(uint64_t),
                                   VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) != VK_SUCCESS)
    return;
  const uint32_t bits = c_->physical.timestamp_bits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const double period = c_->physical.properties.limits.timestampPeriod;
  for (size_t i = 0; i < job.recorded.stamped.size() && i + 1 < n; ++i)
    job.outcome.device_ns[job.recorded.stamped[i]] +=
        uint64_t(double((ticks[i + 1] - ticks[i]) & mask) * period);
}

}  // namespace vyre::driver::vulkan
