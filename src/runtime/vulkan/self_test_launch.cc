#include "runtime/vulkan/self_test_launch.h"

#include <cstring>

namespace vyre::driver::vulkan {
namespace {

/// The memory of a launch's buffers.
class Memories {
 public:
  explicit Memories(VulkanDevice& device) : d_(device) {}
  Memories(const Memories&) = delete;
  ~Memories() {
    for (const MemoryHandle m : handles)
      if (m) d_.release(m);
  }

  Result<> take(const Program& p, const LaunchShape& shape) {
    handles.resize(p.buffers.size());
    for (const BufferId b : p.buffers.ids()) {
      if (!is_parameter(p.buffers[b].role) || p.buffers[b].role == Role::Scalar) continue;
      Result<MemoryHandle> m = d_.allocate(shape.counts[b] * size_of(p.buffers[b].element));
      if (!m) return m.errors();
      handles[b] = *m;
    }
    return Ok{};
  }

  IdMap<BufferId, MemoryHandle> handles;

 private:
  VulkanDevice& d_;
};

/// Returns the uploads, the launch, and readbacks into `results`.
std::vector<DeviceCommand> commands_of(const TestLaunch& l, const LaunchShape& shape,
                                       const IdMap<BufferId, MemoryHandle>& memory,
                                       IdMap<BufferId, Staging>& results) {
  const auto& buffers = l.program->buffers;
  std::vector<DeviceCommand> commands, readbacks;
  DeviceLaunch launch;
  launch.program = l.program;
  launch.kernel = l.kernel;
  launch.buffers = memory;
  launch.scalars.assign(buffers.size(), 0);
  launch.shape = shape;
  for (const BufferId b : buffers.ids()) {
    const auto& data = l.inputs.data[b];
    if (buffers[b].role == Role::Scalar)
      std::memcpy(&launch.scalars[b], data->data(), data->size());
    else if (data)
      commands.push_back({DeviceUpload{{memory[b], 0, data->size()},
                                       std::make_shared<std::vector<std::byte>>(*data)}});
    if (!is_host_output(buffers[b].role)) continue;
    const uint64_t bytes = shape.counts[b] * size_of(buffers[b].element);
    results[b] = std::make_shared<std::vector<std::byte>>(bytes);
    readbacks.push_back({DeviceReadback{{memory[b], 0, bytes}, results[b]}});
  }
  commands.push_back({std::move(launch)});
  commands.insert(commands.end(), readbacks.begin(), readbacks.end());
  for (DeviceCommand& c : commands) c.timed = false;
  return commands;
}

}  // namespace

Result<TestEnd> run_test(VulkanDevice& d, const TestLaunch& l) {
  const Result<LaunchShape> shape = resolve_launch(*l.program, l.inputs);
  if (!shape) return shape.errors();
  Memories memory(d);
  if (Result<> taken = memory.take(*l.program, *shape); !taken) return taken.errors();
  IdMap<BufferId, Staging> results(memory.handles.size());
  const Result<SubmissionHandle> submitted =
      d.submit(0, commands_of(l, *shape, memory.handles, results), {}, l.deadline);
  if (!submitted) return submitted.errors();
  const SubmissionOutcome o = d.wait(*submitted);
  if (o.kind == SubmissionOutcome::Kind::Failed) return o.errors;
  TestEnd end{o.kind, o.stopped_at, {}};
  for (const Staging& r : results)
    end.buffers.push_back(r ? std::move(*r) : std::vector<std::byte>());
  return end;
}

}  // namespace vyre::driver::vulkan
