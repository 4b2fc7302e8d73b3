#pragma once

// A Vulkan device that implements the backend interface: memory by handle, kernels, and submissions
// to one queue; each stream has its own timeline semaphore.
//
// A submission is one command buffer, and ends when its stream's semaphore reaches its number. The
// thread that waits for it collects the results: bytes read back, traps, times. A thread that is
// created with the first deadline enforces deadlines: it sets the stop flags of late submissions.

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/backend.h"
#include "runtime/vulkan/device_profile.h"
#include "runtime/vulkan/vulkan_recorder.h"

namespace vyre::driver::vulkan {

class VulkanDevice : public BackendDevice {
 public:
  VulkanDevice(std::shared_ptr<Context> context, DeviceInfo info);
  ~VulkanDevice() override;

  const DeviceInfo& info() const override { return info_; }
  Result<MemoryHandle> allocate(uint64_t bytes) override;
  void release(MemoryHandle memory) override;
  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                  const CompileOptions& options) override;
  bool takes_coarse(const CompileOptions& options, const LaunchShape& shape) override;
  std::shared_ptr<CompiledKernel> load_kernel(std::shared_ptr<const Program> program,
                                              const CompileOptions& options,
                                              std::span<const std::byte> bytes) override;
  Result<std::optional<Listing>> list_code(const Program& program,
                                           const CompileOptions& options) override;
  Result<SubmissionHandle> submit(
      uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
      std::optional<std::chrono::steady_clock::time_point> deadline) override;
  bool is_done(SubmissionHandle submission) override;
  double progress(SubmissionHandle submission) override { return is_done(submission) ? 1 : 0; }
  SubmissionOutcome wait(SubmissionHandle submission) override;
  void stop() override;

  /// The profile that kernels are compiled for; found by the self-test, which starts from the
  /// capabilities that the device reports.
  emit_exact::Profile profile;
  /// Ops that the device computes wrong in every legalization (V0735): opcode names, with the
  /// finding.
  std::map<std::string, std::string> inexact;
  /// Returns the emitter options for kernels with these options.
  Result<emit_spirv::EmitOptions> options_for(const CompileOptions& options) const;
  /// Changed before the device is shared.
  DeviceInfo& describe() { return info_; }
  Context& context() { return *c_; }

 private:
  using Steady = std::chrono::steady_clock;

  struct Job;
  struct Stream {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    uint64_t submitted = 0;                 // the last number
    uint64_t ended = 0;                     // known to have ended
    std::deque<std::shared_ptr<Job>> held;  // jobs that cannot be on the queue yet
    std::thread driver;                     // runs these; created when needed
  };
  /// A submission. Most are on the queue when submit() returns. One with a loop that only the
  /// device can count is recorded in parts by the thread of its stream (vulkan_parts.cc), and later
  /// submissions of the stream wait.
  struct Job {
    Stream* stream = nullptr;
    std::vector<DeviceCommand> commands;  // that are not recorded, from `next` on
    size_t next = 0;
    uint64_t rounds = 0;  // completed iterations of the loop at `next`
    uint64_t batch = 4;   // iterations of the next batch
    std::vector<SubmissionHandle> after;
    std::optional<Steady::time_point> deadline;
    // The part that is on the queue.
    uint64_t number = 0;
    std::unique_ptr<Frame> frame;
    Recorded recorded;
    std::vector<std::unique_ptr<Kept>> kept;  // sequences in it

    SubmissionOutcome outcome;
    bool late = false;                  // it was not done at its deadline
    std::optional<size_t> never_began;  // the launch that would have begun past the deadline
    bool on_queue = false;              // the whole submission
    bool ended = false;                 // ended before all of it was on the queue: see `outcome`
  };

  Result<Stream*> stream(uint32_t number);
  std::optional<Diagnostic> inexact_op(const Program& program) const;
  std::unique_ptr<Frame> take_frame();
  /// Releases what the part on the queue used. The part has ended or was never submitted.
  void free_part(Job& job);
  Result<std::unique_ptr<Kept>> take_kept(const CommandBody& body);
  VkResult wait_for(VkSemaphore semaphore, uint64_t number);
  /// Records the next part; returns true for the last one.
  Result<bool> record(Job& job, bool barrier_first);
  Result<> record_commands(Job& job, Recorder& recorder);
  /// Records the next part and submits it to the queue.
  Result<bool> begin_part(Job& job);
  static bool needs_host(const std::vector<DeviceCommand>& commands);
  bool must_hold(const Job& job) const;
  Result<> hold(std::shared_ptr<Job> job);
  void drive(Stream& stream);
  void drive(std::unique_lock<std::mutex>& lock, Job& job);
  bool answer(Job& job);
  /// True if streams other than `stream` have work under way.
  bool others_run(const Stream& stream);
  Result<> enqueue(Job& job, std::span<const SubmissionHandle> after, bool wait_for_own);
  bool has_ended(Stream& stream, uint64_t number);
  /// Collects the results of the part on the queue, which has ended.
  void collect(Job& job);
  void read_times(Job& job);
  Diagnostic cut_loop(const Job& job, const Recorded::Told& told) const;
  void watch();

  const std::shared_ptr<Context> c_;
  DeviceInfo info_;

  std::mutex mutex_;  // guards everything below
  MemoryPool device_memory_, host_memory_, parameter_memory_;
  std::vector<Memory> memory_;  // by the low half of its handle; the first entry is unused
  std::vector<uint32_t> free_memory_;
  std::vector<MemoryHandle> unclear_;  // not cleared yet: the next submission does it
  Stream* cleared_by_ = nullptr;       // the last that did, and its number
  uint64_t cleared_number_ = 0;
  std::map<uint32_t, Stream> streams_;
  std::map<SubmissionHandle, std::shared_ptr<Job>> jobs_;
  SubmissionHandle next_job_ = 0;
  std::vector<std::unique_ptr<Frame>> free_frames_;
  std::deque<std::unique_ptr<Kept>> kept_;  // not in use; the most recently used is last
  HelperKernels helpers_;
  std::condition_variable progressed_;  // of held jobs

  bool stopped_ = false, closing_ = false;
  std::condition_variable deadlines_changed_;
  Steady::time_point wakes_ = Steady::time_point::max();
  std::thread watcher_;
};

}  // namespace vyre::driver::vulkan
