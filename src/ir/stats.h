#pragma once

// Totals of a program, for selection, limits and reports.

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace vyre {

struct ProgramStats {
  uint64_t ops = 0;
  uint64_t memory_ops = 0;
  uint64_t atomics = 0;
  uint64_t control_ops = 0;
  uint64_t top_level_regions = 0;
  uint64_t max_nesting = 0;
  uint64_t shared_bytes = 0;   // one workgroup's
  uint64_t private_bytes = 0;  // one invocation's
  uint64_t table_bytes = 0;
  uint64_t static_device_bytes = 0;  // buffers whose length is a constant
  bool runtime_sized = false;        // some buffer's length is known only at launch
  uint64_t ir_bytes = 0;             // memory of the IR
};

ProgramStats stats(const Program& program);

struct Graph;
/// Bytes of memory that a program or graph takes, or, while it grows, takes soon (bytes_of_vector).
/// Takes constant time but for the tables and strings of a program, which it leaves out, and for a
/// graph whose number of nodes is not passed.
uint64_t memory_of(const Program& program);
uint64_t memory_of(const Graph& graph);
uint64_t memory_of(const Graph& graph, uint64_t num_nodes);

}  // namespace vyre
