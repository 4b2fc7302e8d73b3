#include "plan/device_costs.h"

namespace vyre::plan {

constinit const DeviceCosts cpu_costs = {
    .name = "cpu",
    .units = 2,
    .units_per_workgroup = 1,
    .lanes = 32,
    .launch_ns = 1500,
    .workgroup_ns = 4,
    .vector_ns = 0.5,
    .op_ns = 0.25,
    .narrow_op = 0.3,
    .access_ns = {0.15, 0.5, 2, 12},
    .scalar_access_ns = 0.5,
    .barrier_ns = 3,
    .tile_ns = 25,
    .tile_ns_per_byte = 0.02,
    .memory_ns_per_byte = 0.03,
    .cached_ns_per_byte = 0.012,
    .cache_bytes = 24e6,
    .margin = 1.2,
    .tile_margin = 1.1,
    .overlap_loss = 0.3,
};

constinit const DeviceCosts gpu_costs = {
    .name = "gpu",
    .units = 528,
    .units_per_workgroup = 4,
    .lanes = 32,
    .vectors_per_unit = 16,
    .launch_ns = 3000,
    .vector_ns = 50,
    .coarsening = 4,
    .op_ns = 0.6,
    .access_ns = {2.3, 2.3, 4, 16},
    .scalar_access_ns = 2.3,
    .barrier_ns = 20,
    .tile_ns = 40,
    .tile_ns_per_byte = 0.005,
    .access_latency_ns = 600,
    .memory_ns_per_byte = 1 / 4300.0,
    .cached_ns_per_byte = 1 / 8000.0,
    .cache_bytes = 40e6,
    .margin = 1.1,
    .tile_margin = 1.1,
    .overlap_loss = 1,
};

constinit const DeviceCosts interpreter_costs = {
    .name = "interp",
    .launch_ns = 2000,
    .vector_ns = 100,
    .op_ns = 15,
    .access_ns = {25, 25, 25, 25},
    .scalar_access_ns = 25,
    .barrier_ns = 100,
};

const DeviceCosts* find_costs(std::string_view name) {
  for (const DeviceCosts* costs : {&cpu_costs, &gpu_costs, &interpreter_costs})
    if (costs->name == name) return costs;
  return nullptr;
}

}  // namespace vyre::plan
