#pragma once

// Commands in the driver's form: functions, addresses and blocks of parameters. Direct execution on
// a stream and graphs use the same list.

#include <memory>
#include <span>
#include <vector>

#include "runtime/backend.h"
#include "runtime/cuda/cuda_kernel.h"

namespace vyre::driver::cuda {

/// The part that a graph is built for. Two lists with equal parts differ only in numbers that can
/// be updated in an instantiated graph.
struct WorkShape {
  enum class Kind : uint8_t { Fill, Copy, Launch, Loop } kind = Kind::Fill;
  bool cooperative = false;
  bool uses_control = false;
  bool uses_stop = false;
  uint32_t element_bytes = 1;  // Fill
  uint32_t body = 0;           // Loop: the number of following works that are in it
  FunctionHandle function = nullptr;
  std::array<unsigned, 3> grid = {0, 0, 0}, block = {0, 0, 0};
  unsigned shared_bytes = 0;
  uint32_t parameter_bytes = 0;
  bool operator==(const WorkShape&) const = default;
};

struct WorkData {
  DevicePointer to = 0, from = 0;  // Loop: `to` is the word, or 0
  uint64_t bytes = 0;
  uint64_t rounds = 0;  // Loop
  uint8_t value = 0;
  bool operator==(const WorkData&) const = default;
};

struct Work {
  WorkShape shape;
  WorkData data;
  uint32_t parameters = 0;  // Launch: where its block is in WorkList::parameters
  uint32_t control = 0;     // Launch, Loop: the number of its control block, if it has one
  uint32_t command = 0, inside = 0;
};

/// Works in order; those of a loop's body follow it. The blocks of parameters have zeros for the
/// addresses of the control block and stop flag.
struct WorkList {
  std::vector<Work> works;
  std::vector<std::byte> parameters;
  uint32_t controls = 0;  // control blocks
  uint32_t launches = 0;
  bool uses_stop = false;
  bool has_loop = false;

  void clear();
  bool same_shape(const WorkList& other) const;
  bool same_data(const WorkList& other) const;
  uint64_t shape_hash() const;
};

/// Adds a Fill, Copy, Launch or Loop (with its body). A command without effect adds nothing.
/// Returns an error only if a launch needs code that cannot be made.
Result<> add_work(WorkList& list, const DeviceCommand& command, uint32_t number);
/// Adds the body of a loop, once.
Result<> add_body(WorkList& list, const std::vector<DeviceCommand>& body, uint32_t number);

/// Returns true if the grid can be launched as it is.
bool fits_grid(const std::array<uint64_t, 3>& workgroups);

/// Returns true if the ranges overlap. Such a copy goes through temporary memory, so it is not one
/// work.
bool overlaps(const DeviceCopy& copy);

/// Writes the two addresses into a launch's block of parameters.
void set_addresses(std::byte* parameters, DevicePointer control, DevicePointer stop);

/// Enqueues anything but a loop.
Status enqueue(const Api& api, const Work& work, std::byte* parameters, StreamHandle stream);

KernelNode kernel_node(const Work& work, void** parameters);
MemsetNode memset_node(const Work& work);
CopyNode copy_node(const Work& work);

}  // namespace vyre::driver::cuda
