#pragma once

// Cost tables: what operations, memory traffic and launches cost on a kind of device.
//
// Passes and plans that trade one kind of work for another compare sums of these numbers. A table
// has typical values of a kind of device: no pass and no plan depends on a timed run of the user's
// program, and costs never decide what a program means. Tests name a table, so that their results
// are the same on every machine.

#include <cstdint>
#include <string_view>

namespace vyre::opt {

/// How the index of an access moves from one invocation to the next.
enum class AccessPattern : unsigned char {
  Uniform,     // all invocations of a vector access one element
  Contiguous,  // neighbours access neighbours
  Strided,     // 2 to 4 elements apart
  Gathered     // further apart, or data-dependent
};

/// Scratch buffers as tiles of shared memory (passes/handoff_profit.h). Times are in picoseconds of
/// one core (cpu) or multiprocessor (gpu), which runs the workgroup alone.
struct TileCosts {
  uint64_t cache_bytes = 0;   // limit of a buffer that stays in the cache between its uses
  uint64_t device_byte = 0;   // a byte to or from device memory
  uint64_t cached_byte = 0;   // a byte that an invocation loads or stores in a buffer
  uint64_t shared_byte = 0;   // a byte that an invocation loads or stores in shared memory
  uint64_t clear_byte = 0;    // a byte of shared memory zeroed when a workgroup begins
  uint64_t bounds_check = 0;  // per access and invocation
  uint64_t index_op = 0;      // an integer op of an invocation
  uint64_t barrier = 0;       // a workgroup barrier, per invocation
  uint64_t tile_reuse = 0;    // a workgroup stores where the previous one on the core has loaded
  // Occupancy of a core or multiprocessor; unit_shared 0: it runs one workgroup at a time.
  uint64_t unit_shared = 0;     // bytes of shared memory
  uint64_t unit_threads = 0;    // limit of resident invocations
  uint64_t hiding_threads = 0;  // resident invocations that hide the latency of memory
};

/// Kernels as a whole (plan/fusion/fusion_cost.h), in nanoseconds. A vector is a group of
/// invocations that execute one instruction together: a subgroup.
struct DeviceCosts {
  std::string_view name;

  double units = 1;                // cores; on a GPU, schedulers
  double units_per_workgroup = 1;  // that one workgroup can use
  double lanes = 1;                // invocations of a vector
  double vectors_per_unit = 1;     // under way at once, hiding each other's latency

  double launch_ns = 0;     // from the end of one launch to the begin of the next
  double workgroup_ns = 0;  // to begin a workgroup
  double vector_ns = 0;     // to begin each of its vectors
  double coarsening = 1;    // invocations that one does the work of, where kernels can be coarsened

  // For one vector, while it occupies its unit.
  double op_ns = 0;             // an operation of 32 bits
  double narrow_op = 1;         // factor for operations of 8 and 16 bits
  double access_ns[4] = {};     // a load or store, by AccessPattern
  double scalar_access_ns = 0;  // the same in a workgroup of one invocation
  double barrier_ns = 0;        // a workgroup barrier
  double tile_ns = 0;           // to clear and fill a tile of shared memory, per workgroup
  double tile_ns_per_byte = 0;
  double access_latency_ns = 0;  // from a load to its value, if nothing else hides it
  double atomic_ns = 0;          // between two atomics on one element of device memory

  double memory_ns_per_byte = 0;  // traffic of all units together
  double cached_ns_per_byte = 0;  // the same if the buffers of a kernel fit into the cache
  double cache_bytes = 0;
  /// A kernel that recomputes, or gains barriers, must be faster by this factor than the kernels
  /// that it replaces: estimates of such kernels are less certain. The second factor is for a
  /// kernel that fills a tile.
  double margin = 1, tile_margin = 1;
  double overlap_loss =
      0;  // share of the shorter of computing and memory traffic that is not hidden
  /// Whether a `for` with exits is faster than a `while` that counts. On a CPU it is not: each exit
  /// costs another mask of lanes.
  bool counts_loops = false;

  TileCosts tile;
};

/// Two CPU cores with vectors of 512 bits.
extern const DeviceCosts cpu_costs;
/// A discrete GPU of an H100's size.
extern const DeviceCosts gpu_costs;
/// The reference interpreter, which executes one invocation after the other.
extern const DeviceCosts interpreter_costs;

/// The table of that name; null if there is none.
const DeviceCosts* find_costs(std::string_view name);

}  // namespace vyre::opt
