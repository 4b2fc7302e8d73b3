#pragma once

// The reference interpreter, which defines what a program means. It runs kernels and graphs exactly
// as the specification requires, on one core, without a device. Programs must have passed the
// checker; inputs may be anything.
//
// Every entry point is a pure function of its arguments and may be called from several threads at
// once. On an error only diagnostics are returned; diagnostics/failure.h classifies their cause.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "diagnostics/result.h"
#include "ir/launch.h"
#include "ir/module.h"

namespace vyre::interp {

/// Execution order where the specification leaves it unspecified: workgroups, the lanes of a store
/// or an atomic, and the two branches of an `if` whose condition differs between lanes. A race-free
/// program without order-dependent ops gives the same bytes under each.
enum class Schedule : uint8_t { Order, Reverse, Random };

class Observer;  // observer.h

struct Options {
  uint32_t subgroup_size = 32;  // for programs that fix none; a power of two, at most 64
  Schedule schedule = Schedule::Order;
  uint64_t seed = 0;      // for Random
  double time_limit = 0;  // seconds; 0: none; less, or not a number: an error
  /// Outcome::lane_ops after which the run ends as at its time limit, but always at the same point;
  /// 0: none. Checked as rarely as the clock.
  uint64_t lane_op_limit = 0;
  uint64_t memory_limit =
      0;  // bytes of all buffers and of the values of invocations; 0: the machine's
  uint64_t output_limit = 0;  // bytes of `out` and `inout` buffers; 0: none
  /// Called occasionally, from the calling thread, with the completed fraction of the work.
  std::function<void(double fraction)> progress;
  Observer* observer = nullptr;  // notified of every access; see sanitizer.h
};

struct Outcome {
  PublicIdMap<BufferId, std::vector<std::byte>>
      buffers;  // by buffer index; filled for InOut and Out
  LaunchShape shape;
  uint64_t lane_ops = 0;  // instructions executed, times the lanes that were active
};

/// Runs one kernel.
Result<Outcome> run(const Program& program, const LaunchInputs& inputs,
                    const Options& options = {});

/// The host's inputs of a graph, by index into Graph::buffers.
struct GraphInputs {
  PublicIdMap<GraphBufferId, std::optional<std::vector<std::byte>>>
      data;  // In, InOut, Uniform, Scalar parameters
  PublicIdMap<GraphBufferId, std::optional<uint64_t>> lengths;  // Out parameters without a formula
};

struct GraphOutcome {
  PublicIdMap<GraphBufferId, std::vector<std::byte>>
      buffers;  // by buffer index; filled for InOut and Out parameters
  PublicIdMap<GraphBufferId, uint64_t> counts;  // elements of every buffer of the graph
  uint64_t calls = 0;                           // kernel calls that ran
  uint64_t lane_ops = 0;
};

/// Runs a graph, call after call. `graph` is one of the module's.
Result<GraphOutcome> run(const Module& module, const Graph& graph, const GraphInputs& inputs,
                         const Options& options = {});

}  // namespace vyre::interp
