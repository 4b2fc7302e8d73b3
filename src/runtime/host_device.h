#pragma once

// A device whose memory is the host's and whose streams are queues of this process: the common part
// of the interpreter and the CPU backend. They differ in how a kernel is compiled and run.
//
// A stream runs its submissions in order on a separate thread. A thread that waits for an unstarted
// submission runs it inline: a small launch then costs no thread switch.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/backend.h"
#include "runtime/host_memory.h"

namespace vyre::driver {

class HostDevice : public BackendDevice {
 public:
  const DeviceInfo& info() const final { return info_; }

  Result<MemoryHandle> allocate(uint64_t bytes) final;
  void release(MemoryHandle memory) final;

  Result<SubmissionHandle> submit(
      uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
      std::optional<std::chrono::steady_clock::time_point> deadline) final;
  bool is_done(SubmissionHandle submission) final;
  double progress(SubmissionHandle submission) final;
  SubmissionOutcome wait(SubmissionHandle submission) final;

 protected:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  explicit HostDevice(DeviceInfo info) : info_(std::move(info)) {}
  ~HostDevice() override { close(); }

  /// The parameters of a launch that come from its submission.
  struct Surroundings {
    const Deadline& deadline;
    SubmissionOutcome& outcome;
    std::function<void(double)> progress;  // the share of this launch; from any thread
  };
  /// Runs a kernel on the calling thread (and others). `buffers`: null for a missing one. Returns
  /// false if it failed; the outcome says how.
  virtual bool launch(const DeviceLaunch& launch, const IdMap<BufferId, std::byte*>& buffers,
                      const Surroundings& around) = 0;
  /// Sets bytes of a buffer.
  virtual void fill(std::byte* at, uint64_t bytes, uint8_t value);

  /// Drops submissions that have not begun and waits for the others. A derived class calls it first
  /// in its destructor, after it told its launches to stop.
  void close();

  /// Returns the time left, in seconds for people: whole milliseconds read better.
  static double seconds_left(const std::chrono::steady_clock::time_point& deadline);

 private:
  struct Stream;
  struct Job {
    std::vector<DeviceCommand> commands;
    std::vector<SubmissionHandle> after;
    Deadline deadline;
    Stream* stream = nullptr;
    SubmissionOutcome outcome;
    bool done = false;
    std::atomic<double> fraction{0};  // of its commands
  };
  struct Stream {
    std::deque<std::shared_ptr<Job>> queue;
    bool running = false;  // a thread runs the first of the queue
    std::condition_variable changed;
    std::thread thread;
  };

  bool can_begin(const Stream& s) const;
  void run_first(std::unique_lock<std::mutex>& lock, Stream& s);
  void work(Stream& s);
  void execute(Job& job) noexcept;
  void run_commands(Job& job);
  bool run(Job& job, const DeviceCommand& c);
  bool run(Job& job, const DeviceUpload& c);
  bool run(Job& job, const DeviceReadback& c);
  bool run(Job& job, const DeviceCopy& c);
  bool run(Job& job, const DeviceFill& c);
  bool run(Job& job, const DeviceLaunch& c);
  bool run(Job& job, const DeviceLoop& c);
  bool run(Job& job, const DeviceReplay& c);
  std::byte* address(MemoryHandle h);
  std::byte* address(const MemoryRange& r) { return address(r.memory) + r.offset; }

  const DeviceInfo info_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable ended_;
  bool closing_ = false;
  MemoryHandle next_memory_ = 0;
  SubmissionHandle next_job_ = 0;
  std::map<MemoryHandle, HostMemory> memory_;
  std::map<SubmissionHandle, std::shared_ptr<Job>> jobs_;
  std::map<uint32_t, Stream> streams_;
};

}  // namespace vyre::driver
