#pragma once

// The calls of a graph in the form that fusion needs: their bindings and launches, as far as they
// are known before the graph runs, and the buffers that are needed after each call.

#include <string>
#include <vector>

#include "ir/graph_launch.h"
#include "ir/module.h"

namespace vyre::plan {

struct FusionCall {
  uint32_t node = 0;
  const Program* kernel = nullptr;
  IdMap<BufferId, GraphBufferId> memory;  // the graph's buffer or scalar, or none
  IdMap<BufferId, GraphArg> args;
  IdMap<BufferId, uint64_t> scalars;  // bits
  LaunchShape shape;
  /// "" or why it stays alone: its launch is known only when it is reached, or fails, or is empty.
  std::string alone;

  uint64_t invocations(int d) const { return shape.num_workgroups[d] * kernel->workgroup[d]; }
};

/// Calls [first, last] that follow each other without a loop's begin or end between.
struct Stretch {
  uint32_t first = 0, last = 0;  // into FusionCalls::calls
  bool in_loop = false;
};

struct FusionCalls {
  GraphSteps steps;  // of the graph
  std::vector<FusionCall> calls;
  std::vector<Stretch> stretches;
  IdMap<GraphBufferId, bool> reserved;  // parameters, flags of loops, device grids

  FusionCalls(const Module& module, const Graph& graph, const GraphShape& shape);

  /// True if the contents of the buffer are needed after the call.
  bool is_live_after(uint32_t call, GraphBufferId buffer) const {
    return bit(after_, call, buffer);
  }
  /// True if all accesses of the buffer are in the calls [first, last].
  bool is_only_used_in(GraphBufferId buffer, uint32_t first, uint32_t last) const {
    return first_use_[buffer] >= first && last_use_[buffer] <= last;
  }

 private:
  bool bit(const std::vector<uint64_t>& bits, uint32_t call, GraphBufferId buffer) const {
    const uint32_t b = buffer.value();
    return all_live_ || (bits[call * words_ + b / 64] >> (b % 64) & 1) != 0;
  }
  void find_live(const Graph& graph);

  static constexpr size_t most_words = size_t{16} << 20;  // sets of a hostile graph
  bool all_live_ = false;
  size_t words_ = 0;
  std::vector<uint64_t> after_;                          // by call, then by buffer
  IdMap<GraphBufferId, uint32_t> first_use_, last_use_;  // the call
};

}  // namespace vyre::plan
