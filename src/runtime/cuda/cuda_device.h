#pragma once

// An open NVIDIA device.
//
// The thread that submits puts the submission on its CUDA stream at once; no thread has to drive
// it. The end of a submission is an event that callers query. Bytes that are read back lie in
// pinned memory until then.

#include <functional>
#include <map>
#include <mutex>

#include "runtime/cuda/cuda_job.h"
#include "runtime/cuda/device_info.h"

namespace vyre::driver::cuda {

class CudaDevice final : public BackendDevice {
 public:
  static Result<std::unique_ptr<BackendDevice>> open(const Api& api, const Properties& properties);
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return properties_.info; }
  Result<MemoryHandle> allocate(uint64_t bytes) override;
  void release(MemoryHandle memory) override;

  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                  const CompileOptions& options) override;
  bool has_native_barrier(const Program& program) override;
  bool runs_at_once(const CompiledKernel& kernel, const LaunchShape& shape) override;
  bool takes_coarse(const CompileOptions&, const LaunchShape& shape) override;
  std::shared_ptr<CompiledKernel> load_kernel(std::shared_ptr<const Program> program,
                                              const CompileOptions& options,
                                              std::span<const std::byte> bytes) override;
  Result<std::optional<Listing>> list_code(const Program& program,
                                           const CompileOptions& options) override;

  Result<SubmissionHandle> submit(
      uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
      std::optional<std::chrono::steady_clock::time_point> deadline) override;
  bool is_done(SubmissionHandle submission) override;
  double progress(SubmissionHandle submission) override;
  SubmissionOutcome wait(SubmissionHandle submission) override;
  void stop() override;

 private:
  friend class Submitter;

  CudaDevice(std::shared_ptr<Context> context, Properties properties, emit_ptx::Arch arch);
  Result<> start();

  // With the mutex held.
  Result<Stream*> stream(uint32_t number);
  Job& take_job();
  Job* find(SubmissionHandle handle);
  EventHandle take_event();  // null if there is none
  bool has_ended(Job& job);
  /// Determines how the job ended, and releases everything that the device does not need any more.
  void inspect(Job& job);
  /// Inspects the jobs that have graphs, which are then free.
  void inspect_all();
  void judge(Job& job);
  void read_times(Job& job);
  void recycle(Job& job);

  // Without it.
  bool is_behind(EventHandle event);
  void await(EventHandle event, const std::function<void()>& look = nullptr);
  void look_for_traps(Job& job);

  const std::shared_ptr<Context> context_;
  const Properties properties_;
  const emit_ptx::Arch arch_;
  Watchdog watchdog_;
  DeviceMemory memory_;
  PinnedBlocks pinned_;
  StopFlags flags_;
  ControlBlocks controls_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;                    // guards the following members
  StreamHandle side_stream_ = nullptr;  // to read control blocks of running launches
  std::map<uint32_t, Stream> streams_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<uint32_t> free_jobs_;
  std::vector<EventHandle> free_events_;
  std::vector<EventHandle> made_events_;
  GraphCache graphs_;
  WorkList scratch_list_;  // of the submission that is being made
};

}  // namespace vyre::driver::cuda
