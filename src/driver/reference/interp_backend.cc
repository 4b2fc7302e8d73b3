#include "driver/reference/interp_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "interp/launch_kernel.h"
#include "interp/interp.h"

namespace vyre::driver {
namespace {

using Steady = std::chrono::steady_clock;

uint64_t machine_bytes() { return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGE_SIZE)); }

DeviceInfo interp_info() {
  DeviceInfo i;
  i.backend = "interp";
  i.name = "reference interpreter, one core";
  i.target = "interp";
  i.driver_version = "1";
  i.limits.workgroup_invocations = 1024;
  i.limits.shared_bytes = 1ull << 30;
  i.limits.buffer_bytes = max_buffer_bytes;
  i.limits.memory_bytes = machine_bytes();
  i.limits.subgroup_sizes = {1, 2, 4, 8, 16, 32, 64};
  i.limits.default_subgroup_size = 32;
  i.limits.native_grid_barrier = true;
  i.limits.forward_progress = true;
  i.properties = {{"schedules", "order, reverse, random:SEED"},
                  {"types", "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64"},
                  {"atomics", "i32 u32 i64 u64, f32 add"},
                  {"native", "everything: this backend is the definition of every operation"},
                  {"expanded", "nothing"}};
  return i;
}

struct InterpKernel : CompiledKernel {
  interp::Options options;
};

/// A submission and how it ended. `done` is set under the device's mutex.
struct Job {
  std::vector<DeviceCommand> commands;
  std::vector<SubmissionHandle> after;
  std::optional<Steady::time_point> deadline;
  SubmissionOutcome outcome;
  bool done = false;
};

class InterpDevice : public BackendDevice {
 public:
  InterpDevice() : info_(interp_info()) {}

  ~InterpDevice() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (auto& [id, s] : streams_) s.thread.join();
  }

  const DeviceInfo& info() const override { return info_; }

  Result<MemoryHandle> allocate(uint64_t bytes) override {
    try {
      auto memory = std::make_unique<std::vector<std::byte>>(bytes);
      const std::lock_guard lock(mutex_);
      const MemoryHandle h = ++next_memory_;
      memory_.emplace(h, std::move(memory));
      return h;
    } catch (const std::exception&) {  // bad_alloc, length_error
      return interp::out_of_memory(fmt::format("a buffer of {} bytes", bytes));
    }
  }
  void release(MemoryHandle h) override {
    const std::lock_guard lock(mutex_);
    memory_.erase(h);
  }

  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program, const CompileOptions& options) override {
    auto kernel = std::make_shared<InterpKernel>();
    kernel->options.subgroup_size = options.subgroup_size ? options.subgroup_size : info_.limits.default_subgroup_size;
    for (const std::string& e : options.extra) {
      if (e == "schedule=reverse") kernel->options.schedule = interp::Schedule::Reverse;
      constexpr std::string_view random = "schedule=random:";
      if (e.starts_with(random)) {
        kernel->options.schedule = interp::Schedule::Random;
        std::from_chars(e.data() + random.size(), e.data() + e.size(), kernel->options.seed);
      }
    }
    const auto size = interp::subgroup_size(*program, kernel->options);
    if (!size) return size.errors();
    kernel->subgroup_size = *size;
    return std::shared_ptr<CompiledKernel>(std::move(kernel));
  }

  Result<SubmissionHandle> submit(uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
                                  std::optional<Steady::time_point> deadline) override {
    auto job = std::make_shared<Job>();
    job->commands = std::move(commands);
    job->after.assign(after.begin(), after.end());
    job->deadline = deadline;
    SubmissionHandle handle;
    {
      const std::lock_guard lock(mutex_);
      handle = ++next_job_;
      jobs_.emplace(handle, job);
      Stream& s = streams_[stream];
      s.queue.push_back(job);
      if (!s.thread.joinable()) s.thread = std::thread([this, &s] { work(s); });
    }
    changed_.notify_all();
    return handle;
  }

  bool is_done(SubmissionHandle h) override {
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(h);
    return it == jobs_.end() || it->second->done;
  }

  SubmissionOutcome wait(SubmissionHandle h) override {
    std::unique_lock lock(mutex_);
    const auto job = jobs_.at(h);
    changed_.wait(lock, [&] { return job->done; });
    jobs_.erase(h);
    return std::move(job->outcome);
  }

 private:
  struct Stream {
    std::deque<std::shared_ptr<Job>> queue;
    std::thread thread;
  };

  bool is_ready(const Job& job) const {
    for (SubmissionHandle h : job.after)
      if (const auto it = jobs_.find(h); it != jobs_.end() && !it->second->done) return false;
    return true;
  }

  void work(Stream& s) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return closing_ || (!s.queue.empty() && is_ready(*s.queue.front())); });
      if (s.queue.empty()) return;  // closing: what was submitted is finished first
      if (!is_ready(*s.queue.front())) {
        changed_.wait(lock, [&] { return is_ready(*s.queue.front()); });
      }
      const auto job = s.queue.front();
      lock.unlock();
      execute(*job);
      lock.lock();
      s.queue.pop_front();
      job->done = true;
      changed_.notify_all();
    }
  }

  std::vector<std::byte>& memory(MemoryHandle h) {
    const std::lock_guard lock(mutex_);
    return *memory_.at(h);
  }

  void execute(Job& job) {
    SubmissionOutcome& o = job.outcome;
    for (size_t i = 0; i < job.commands.size(); ++i) {
      const auto begin = Steady::now();
      o.command = i;
      const bool ok = run(job, job.commands[i]);
      o.device_ns.push_back(uint64_t(std::chrono::nanoseconds(Steady::now() - begin).count()));
      if (!ok) return;
    }
  }

  bool run(Job& job, DeviceCommand& c) {
    using Kind = DeviceCommand::Kind;
    switch (c.kind) {
      case Kind::Upload:
        if (c.bytes) std::memcpy(memory(c.memory).data() + c.offset, c.staging->data(), c.bytes);
        return true;
      case Kind::Readback:
        if (c.bytes) std::memcpy(c.staging->data(), memory(c.memory).data() + c.offset, c.bytes);
        return true;
      case Kind::Copy:
        if (c.bytes) std::memmove(memory(c.memory).data() + c.offset, memory(c.source).data() + c.source_offset, c.bytes);
        return true;
      case Kind::Fill:
        if (c.bytes) std::memset(memory(c.memory).data() + c.offset, c.value, c.bytes);
        return true;
      case Kind::Launch: return launch(job, c);
    }
    return true;
  }

  bool launch(Job& job, DeviceCommand& c) {
    const Program& p = *c.program;
    interp::Options options = static_cast<const InterpKernel&>(*c.kernel).options;
    SubmissionOutcome& o = job.outcome;
    if (job.deadline) {
      const double left = std::chrono::duration<double>(*job.deadline - Steady::now()).count();
      options.time_limit = std::max(std::ceil(left * 1e3) / 1e3, 1e-3);  // whole milliseconds read better
    }
    std::vector<interp::View> views(p.buffers.size());
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      if (!is_parameter(p.buffers[i].role) || p.buffers[i].role == Role::Scalar) continue;
      const uint64_t bytes = c.shape.counts[i] * size_of(p.buffers[i].element);
      views[i] = {c.buffers[i] ? memory(c.buffers[i]).data() : nullptr, c.shape.counts[i], bytes, 0};
    }
    interp::Clock clock(options);
    interp::Memory budget(options);
    const Result<uint64_t> r = interp::launch_kernel(p, c.shape, std::move(views), c.scalars, options, clock, budget);
    if (r) return true;
    o.kind = SubmissionOutcome::Kind::Failed;
    o.errors = r.errors();  // the interpreter words its own traps and time-outs; others follow it
    return false;
  }

  const DeviceInfo info_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  bool closing_ = false;
  MemoryHandle next_memory_ = 0;
  SubmissionHandle next_job_ = 0;
  std::map<MemoryHandle, std::unique_ptr<std::vector<std::byte>>> memory_;
  std::map<SubmissionHandle, std::shared_ptr<Job>> jobs_;
  std::map<uint32_t, Stream> streams_;
};

class InterpBackend : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::string_view summary() const override { return "reference interpreter, one core"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {interp_info()}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override { return std::unique_ptr<BackendDevice>(std::make_unique<InterpDevice>()); }
};

}  // namespace

Backend* interp_backend() {
  static InterpBackend backend;
  return &backend;
}

}  // namespace vyre::driver
