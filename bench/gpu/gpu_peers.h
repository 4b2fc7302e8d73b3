#pragma once

// The implementations that run a case: vyre on a backend, and nvcc's code through the driver API. A
// peer keeps its buffers; a launch allocates nothing.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu_cases.h"
#include "runtime/cuda/cuda_api.h"
#include "runtime/device.h"

namespace bench {

class Peer {
 public:
  virtual ~Peer() = default;
  /// All buffers as the case has them.
  virtual void reset() = 0;
  /// So many launches, one after the other; nanoseconds of one of them by the device's own clock.
  virtual double launch(uint32_t count) = 0;
  virtual std::vector<std::byte> read(size_t buffer) = 0;
};

/// A failed measurement: the row reports it, and the other measurements continue.
struct Failure {
  std::string what;
};

/// Fails with a Failure.
template <class T>
T take(vyre::Result<T> result, const std::string& what) {
  if (!result) throw Failure{what + ": " + vyre::render(result.errors(), {})};
  return std::move(*result);
}

/// A program that is inside of this one, read and checked.
vyre::Module load_module(const std::string& name);
vyre::Module parse_module(const std::string& text);

/// `stoppable`: loops poll the stop flag, as a user's do.
std::unique_ptr<Peer> vyre_peer(const Case& c, vyre::driver::Device device, bool stoppable = true);

namespace cuda = vyre::driver::cuda;

/// The device's primary context, which our backend has too, and a stream of our own.
class Cuda {
 public:
  /// Null and why.
  static std::shared_ptr<Cuda> open(std::string& missing);
  ~Cuda();

  const cuda::Api& api;
  cuda::ContextHandle context = nullptr;
  cuda::StreamHandle stream = nullptr;

  void check(cuda::Status status, const char* what) const;
  /// Loads a module from embedded machine code or PTX; callers time it.
  cuda::ModuleHandle load(const void* image) const;
  cuda::FunctionHandle function(cuda::ModuleHandle module, const std::string& name) const;
  /// The twins with the same arithmetic, and those with nvcc's defaults; null without nvcc.
  cuda::ModuleHandle same = nullptr, own = nullptr;
  /// The baselines of plain.cu, with the same arithmetic.
  cuda::ModuleHandle plain = nullptr;

 private:
  explicit Cuda(const cuda::Api& a) : api(a) {}
};

/// Buffers of the twins; one for all of a case's twins.
struct CudaMemory {
  CudaMemory(std::shared_ptr<Cuda> cuda, const Case& c);
  ~CudaMemory();
  std::shared_ptr<Cuda> cuda;
  std::vector<cuda::DevicePointer> buffers;
};

std::unique_ptr<Peer> cuda_peer(const Case& c, std::shared_ptr<CudaMemory> memory,
                                const TwinLaunch& twin, cuda::ModuleHandle module);

}  // namespace bench
