#pragma once

// Random sequences of API calls, right and wrong ones, on one or more devices. Every call returns a
// value or a coded error with a fix; a sequence leaves its devices usable and without memory.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "generate/random.h"
#include "ir/module.h"
#include "runtime/device.h"

namespace vyre::driver {

/// One thread's calls. `devices` may be shared with other sequences that run at the same time.
class ApiSequence {
 public:
  /// `is_alone`: no other sequence uses the devices, so that every wrong handle is known.
  ApiSequence(uint64_t seed, std::vector<Device> devices, bool is_alone);
  /// Makes `calls` random calls.
  void run(size_t calls);
  /// Waits for what was submitted and frees what was allocated.
  void release();
  /// "" or what was wrong first.
  const std::string& problem() const { return problem_; }
  /// Calls that returned a value, and calls that returned an error.
  size_t values() const { return values_; }
  size_t errors() const { return errors_; }

 private:
  void open_device();
  void allocate();
  void free();
  void change_handle();
  void compile();
  void prepare();
  void submit();
  void wait();
  void move_handle();
  void close_device();
  void ask();

  Command command(SubmitOptions& options);
  Launch launch(SubmitOptions& options);
  LaunchGraph launch_graph();
  Argument argument();
  std::vector<std::byte>& host_bytes();
  uint64_t offset();

  Device& device();
  Buffer buffer();
  /// True for handles as allocate() returned them, until they are freed.
  bool is_live(const Buffer& buffer) const;
  template <class Handle>
  Handle handle_of(const std::vector<Handle>& handles);
  template <class Handle>
  void move_one(std::vector<Handle>& handles);
  /// Checks a result: a value, or errors with codes and fixes.
  template <class T>
  bool check(const Result<T>& result, const char* call);

  lab::Random random_;
  bool is_alone_;
  std::vector<Device> devices_;
  std::vector<Device> opened_;  // as they were opened, to free their buffers at the end
  std::vector<std::pair<Device, Buffer>> allocated_;  // and not freed
  std::vector<Buffer> buffers_;                       // valid, freed and changed ones
  bool uses_wrong_buffer_ = false;                    // the commands that are being made
  std::vector<Executable> executables_;
  std::vector<GraphExecutable> graphs_;
  std::vector<Ticket> tickets_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> hosts_;  // stay until the end
  size_t values_ = 0, errors_ = 0;
  std::string problem_;
};

/// "" or what a correct launch on the device did wrong, or the bytes that the device still uses.
std::string check_usable(Device& device);

}  // namespace vyre::driver
