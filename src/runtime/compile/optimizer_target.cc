#include "runtime/compile/optimizer_target.h"

#include "opt/device_costs.h"
#include "runtime/telemetry.h"

namespace vyre::driver {
namespace {

opt::CapabilitySet capabilities_of(const DeviceLimits& limits) {
  opt::CapabilitySet c;
  if (limits.vector_access) c |= opt::capability(opt::Capability::VectorAccess);
  if (limits.shared_bytes > 0) c |= opt::capability(opt::Capability::SharedMemory);
  if (limits.native_grid_barrier) c |= opt::capability(opt::Capability::GridBarrier);
  return c;
}

}  // namespace

std::string telemetry_key(const DeviceInfo& device) { return device.backend + ": " + device.name; }

uint64_t parameter_bytes(const Program& p, const LaunchShape& shape) {
  uint64_t bytes = 0;
  for (const BufferId i : p.buffers.ids())
    if (is_parameter(p.buffers[i].role)) bytes += shape.counts[i] * size_of(p.buffers[i].element);
  return bytes;
}

opt::Target optimizer_target(const DeviceInfo& info, uint64_t launch_bytes) {
  opt::Target target;
  target.capabilities = capabilities_of(info.limits);
  target.shared_bytes = info.limits.shared_bytes;
  target.launch_bytes = launch_bytes;
  target.device = telemetry_key(info);
  target.costs = opt::find_costs(info.costs);
  return target;
}

}  // namespace vyre::driver
