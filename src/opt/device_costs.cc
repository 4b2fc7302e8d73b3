#include "opt/device_costs.h"

namespace vyre::opt {

namespace {

constexpr TileCosts host_tile = {.cache_bytes = 256 << 10,
                                 .device_byte = 30,
                                 .cached_byte = 0,
                                 .shared_byte = 0,
                                 .clear_byte = 10,
                                 .bounds_check = 12,
                                 .index_op = 2,
                                 .barrier = 30,
                                 .tile_reuse = 4000};

}  // namespace

// `tile`: measured on one core of a server CPU: 35 ps for each byte of 64 MiB that is written and
// read once; 2 to 4 ns for each workgroup that reuses a 256-byte tile; 5 to 27 ps for each bounds
// check (bench/natural/handoffs.vyre). The rest was fitted to the graphs of bench/programs.txt on
// two cores (AMD Zen 5, AVX-512).
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
    .tile = host_tile,
};

// From data sheets of a data-center GPU: 132 multiprocessors at 1.7 GHz share 4.8 TB/s and an L2
// cache of 50 MB; each has 4 schedulers of 32 lanes, 228 KiB of shared memory at 128 bytes per
// cycle, and 2,048 threads. `atomic_ns`: measured on an H200, 16 elements of u64 that 2^24
// invocations add to.
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
    .atomic_ns = 3,
    .memory_ns_per_byte = 1 / 4300.0,
    .cached_ns_per_byte = 1 / 8000.0,
    .cache_bytes = 40e6,
    .margin = 1.1,
    .tile_margin = 1.1,
    .overlap_loss = 1,
    .counts_loops = true,
    .tile = {.cache_bytes = 32 << 20,
             .device_byte = 27,
             .cached_byte = 10,
             .shared_byte = 5,
             .clear_byte = 5,
             .bounds_check = 9,
             .index_op = 5,
             .barrier = 30,
             .tile_reuse = 0,
             .unit_shared = 228 << 10,
             .unit_threads = 2048,
             .hiding_threads = 1024},
};

constinit const DeviceCosts interpreter_costs = {
    .name = "interp",
    .launch_ns = 2000,
    .vector_ns = 100,
    .op_ns = 15,
    .access_ns = {25, 25, 25, 25},
    .scalar_access_ns = 25,
    .barrier_ns = 100,
    .tile = host_tile,
};

const DeviceCosts* find_costs(std::string_view name) {
  for (const DeviceCosts* costs : {&cpu_costs, &gpu_costs, &interpreter_costs})
    if (costs->name == name) return costs;
  return nullptr;
}

}  // namespace vyre::opt
