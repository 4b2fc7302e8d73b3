#pragma once

// A CUDA driver without a GPU, for tests: libfake_cuda.so has the driver's functions, does memory,
// streams, events, graphs and modules on host memory, and passes kernels to the executor that the
// test sets. It is stricter than a real driver: addresses outside of allocations, calls without a
// context and launches that do not fit are errors.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_types.h"

namespace vyre::fake_cuda {

struct DeviceConfig {
  std::string name = "Fake H200";
  int capability = 90;
  int multiprocessors = 132;
  size_t memory_bytes = size_t{1} << 30;
  bool pools = true;
  bool cooperative = true;
  int shared_bytes_optin = 227 << 10;
};

struct Config {
  int driver_version = 13000;
  std::vector<DeviceConfig> devices = {DeviceConfig()};
  /// Not 0: the linker refuses all code with this status, and writes its log.
  int jit_status = 0;
  std::string jit_log;
  /// Registers per thread that the compiler prefers for a kernel, and the fewest that suffice.
  int registers = 16, least_registers = 16;
};

/// A launch of something that is not the driver's own.
struct Launch {
  const std::string& text;  // the PTX of its module
  const std::byte* parameters;
  size_t parameter_bytes;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  bool cooperative;
  const std::atomic<int>& error;  // not 0: the context is lost, and the launch ends
};

/// False: the kernel "crashed", which is a sticky error.
using Executor = std::function<bool(const Launch&)>;

class Control {
 public:
  virtual ~Control() = default;
  /// Resets the driver to `config`. Precondition: no object of the driver is in use.
  virtual void reset(const Config& config) = 0;
  virtual void set_executor(Executor executor) = 0;
  /// The `nth` call of `function` from now on (1: the next) gives `status`; `times` of them do.
  /// `any_function` stands for all functions without a named fault, except those that release.
  virtual void fail(const std::string& function, int nth, int status, int times = 1) = 0;
  virtual bool has_fault() const = 0;  // that no call has raised yet
  virtual uint64_t calls(const std::string& function) const = 0;
  virtual void forget_calls() = 0;
  /// Device memory that is allocated now, and modules that are loaded.
  virtual size_t memory_used() const = 0;
  virtual size_t modules() const = 0;
  virtual size_t pinned() const = 0;  // pieces of pinned host memory
  virtual size_t graphs() const = 0;  // instantiated
  /// Objects that were created and not released: 0 after all users have ended.
  virtual size_t objects() const = 0;
};

inline constexpr const char* any_function = "";

inline constexpr const char* control_symbol = "vyre_fake_cuda_control";
using ControlFunction = Control* (*)();

}  // namespace vyre::fake_cuda
