#pragma once

// The execution of a graph: its launches with the calls fused in them and their times, and the
// memory of its intermediates over the launches. Plain data for `graph` of a run report;
// describe_graph() derives it from the plan of the run.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/graph_plan.h"

namespace vyre::report {

/// Launches [first, last], from 0.
using LaunchRange = std::pair<uint32_t, uint32_t>;

struct GraphReport {
  /// A call of the graph before fusion.
  struct Call {
    uint32_t node = 0;
    uint64_t stage = 0;  // number among the calls, from 1
    std::string kernel;
  };
  struct Elided {
    GraphBufferId buffer{0};
    std::string name;
    uint64_t bytes = 0;
    bool is_gone = false;  // no other launch uses it: it never reaches device memory
  };
  /// A buffer of the graph before fusion, if launches load from it or store to it.
  struct Buffer {
    GraphBufferId buffer{0};
    std::string name;
    uint64_t bytes = 0;
    bool is_input = false, is_output = false;  // the host passes it, reads it back
  };
  struct Launch {
    uint32_t node = 0;  // of the graph after fusion
    std::string kernel;
    uint32_t depth = 0;  // loops around it
    std::vector<Call> calls;
    std::vector<std::string> joins;  // for each call but the first
    std::vector<Elided> elided;
    std::vector<GraphBufferId> reads, writes;  // buffers that it loads from and stores to
    uint64_t traffic_bytes = 0;                // for `reads` and `writes`, each time it runs
    std::array<uint64_t, 3> grid = {0, 0, 0}, num_workgroups = {0, 0, 0};
    uint64_t avoided_bytes =
        0;              // of memory traffic, each time it runs (plan/fusion/fusion_traffic.h)
    uint64_t runs = 0;  // the number of executions in the first repeat
    // For the first repeat, over the calls that were timed individually.
    uint64_t times = 0, total_ns = 0, min_ns = 0, max_ns = 0;
    // For the buffers in slots that are live during it: their total size, and the end of the
    // highest one.
    uint64_t live_bytes = 0, slot_bytes = 0;
  };
  struct Loop {
    bool is_while = false;
    LaunchRange launches;
  };
  struct Refusal {
    uint32_t node = 0;
    uint64_t stage = 0;
    std::string why;
  };
  /// An intermediate. Numbers of buffers are those of the graph before fusion.
  struct Intermediate {
    GraphBufferId buffer{0};
    std::string name;
    uint64_t bytes = 0;
    uint64_t allocated = 0;  // rounded up
    plan::Placement at;
    std::vector<LaunchRange> live;
  };
  struct Clear {
    uint32_t launch = 0;
    GraphBufferId buffer{0};
    std::string name;
  };

  uint64_t plan_ns = 0;
  uint64_t calls = 0;           // of the graph's text
  uint64_t ran = 0, timed = 0;  // launches of the first repeat; those of them that were timed
  /// The execution of the first repeat, loops included.
  struct Executed {
    uint64_t calls = 0;     // of the graph before fusion
    uint64_t launches = 0;  // that executed the calls: as `ran`
    uint64_t avoided_launches = 0, avoided_bytes = 0;
    uint64_t traffic_bytes = 0;
  };
  Executed executed;
  std::vector<Launch> launches;
  std::vector<Buffer> buffers;  // that launches use, by number
  std::vector<Loop> loops;  // outer ones before those in them; those without launches are left out
  std::vector<Refusal> refusals;
  uint64_t avoided_launches = 0, avoided_bytes = 0;  // by the plan: each loop body counts once

  // Allocated bytes. `peak_unplanned`: with separate memory for every intermediate.
  uint64_t peak = 0, peak_unplanned = 0;
  uint64_t parameters = 0, scratch = 0;
  std::vector<uint64_t> slots;
  std::vector<Intermediate> placed;  // of the graph after fusion
  std::vector<Intermediate> gone;    // those eliminated by fusion
  std::vector<Clear> clears;
  uint64_t before = 0, after = 0, live_sum = 0;  // for buffers in slots: plan::ReusePlan
};

/// The data that only the run knows.
struct GraphRunFacts {
  uint64_t plan_ns = 0;
  uint64_t device_peak = 0;                                 // all device memory of the run
  uint64_t parameters = 0, scratch = 0, intermediates = 0;  // parts of it; driver::MemoryNeed
  uint64_t unplanned_intermediates = 0;
  std::vector<uint64_t> runs;  // executions of each launch in the first repeat, by node of the plan
  std::vector<std::pair<uint32_t, uint64_t>> times;  // (node of the planned graph, ns), in order
};

/// `module` and `graph` as they were passed to the planner.
GraphReport describe_graph(const plan::PlannedGraph& planned, const Module& module,
                           const Graph& graph, const GraphRunFacts& run);

/// A summary of the first repeat: "3 launches for 5 calls; 4 KiB of memory traffic avoided; at most
/// 12 KiB on the device, 20 KiB without the plan".
std::string summary_line(const GraphReport& graph);

}  // namespace vyre::report
