#pragma once

// Puts one submission on its stream. Used with the device's mutex held.

#include "runtime/cuda/cuda_device.h"

namespace vyre::driver::cuda {

class Submitter {
 public:
  Submitter(CudaDevice& device, Job& job, Stream& stream)
      : d_(device), job_(job), stream_(stream), context_(*device.context_), api_(context_.api) {}

  /// Runs the whole submission. An error on the way decides how the job ends.
  void run(std::span<const SubmissionHandle> after);

 private:
  using Kind = DeviceCommand::Kind;

  // submitter.cc
  void begin(std::span<const SubmissionHandle> after);
  void end();
  void mark();
  void unit(uint32_t first, uint32_t last);
  bool check(Status status, std::string_view what);
  void fail(Diagnostics errors);
  void time_is_over(uint32_t command);
  bool is_decided() const { return job_.is_decided; }

  bool order_memory();
  EventHandle record_event();
  bool wait_for_stream();

  // submit_work.cc
  bool is_work(const DeviceCommand& command) const;
  bool may_begin(uint32_t number);
  void works(uint32_t first, uint32_t last);
  void replay(const DeviceReplay& replay, uint32_t number);
  void copy_overlapping(const DeviceCopy& copy, uint32_t number);
  /// Runs loops where the driver has no conditional nodes.
  void loop_by_host(const DeviceLoop& loop, uint32_t number);
  bool goes_on(const DeviceLoop& loop, uint64_t rounds, std::byte* slot);
  void run_list(WorkList& list, uint32_t first, uint32_t last);
  /// Launches a graph. `base` is added to the numbers of the commands in the list.
  void run_graph(Graph& graph, const WorkList& list, uint32_t base);
  void run_directly(WorkList& list, uint32_t base);
  bool add_overlapping(WorkList& list, const DeviceCopy& copy, uint32_t number);
  bool take_controls(uint32_t count);
  bool take_flag();
  void watch(const StopFlag& flag);

  // submit_bytes.cc
  void upload(const DeviceUpload& upload);
  void readback(const DeviceReadback& readback);
  std::byte* small_slot(size_t bytes);
  std::byte* large_block();

  CudaDevice& d_;
  Job& job_;
  Stream& stream_;
  Context& context_;
  const Api& api_;
  uint32_t command_ = 0;  // the current command
};

}  // namespace vyre::driver::cuda
