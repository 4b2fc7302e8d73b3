#pragma once

// Summary of a call for fusion: the elements of its buffers that each invocation accesses, and the
// conditions that prevent its fusion with others.
//
// Lengths, scalars and the grid of the call are known, so an index is followed as an exact number:
//
//   index = Σ coefficient · id + rest,   low <= rest <= high
//
// over the ids of the invocation. An unsupported value is a rest as wide as its type. A guard (`if
// i < n`, an early return) narrows the ids for the ops that it guards.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/fusion/call_work.h"
#include "plan/fusion/fusion_calls.h"

namespace vyre::plan {

struct Interval {
  int64_t low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

/// Coefficients by id: global x y z, local x y z, workgroup x y z.
using IdFactors = std::array<int64_t, 9>;

struct IndexForm {
  IdFactors factors = {};
  Interval rest;
  std::array<Interval, 3> global = {};  // range of the global ids at this place
};

/// All accesses of a call to one of its buffers.
struct BufferUse {
  BufferId buffer{0};  // of the kernel
  bool reads = false, writes = false;
  bool atomics = false;
  bool only_plain = true;          // load and store only
  bool store_in_test = false;      // a store in the test of a `while`
  uint32_t loads = 0, stores = 0;  // ops
  uint64_t loaded = 0;             // loads of one invocation, by the trips that are known
  bool one_form = true;            // all accesses have the same coefficients
  IndexForm form;  // of all accesses: their coefficients, and everything that the rest can be
};

struct CallSummary {
  std::vector<BufferUse> uses;  // of parameters that are bound to buffers of the graph
  bool traps = false;
  bool endless = false;  // a loop whose trips have no bound that is known before it runs
  bool grid_barrier = false, barrier = false, subgroup = false;
  bool pure = true;  // only loads, stores and arithmetic
  uint64_t shared_bytes = 0, table_bytes = 0;
  uint32_t own_buffers = 0;  // scratch, shared and private arrays, tables
  uint64_t ops = 0;
  CallWork work;               // of one invocation
  bool coarsens = false;       // alone, the driver may launch it with fewer invocations (coarsen.h)
  uint64_t needs_uniform = 0;  // kernel buffers by bit that must stay read-only for its barriers
};

CallSummary summarize(const FusionCall& call);

/// True if no two invocations access the same element, if each accesses the elements of the form.
bool is_own_element(const IndexForm& form, const std::array<uint32_t, 3>& workgroup,
                    const std::array<uint64_t, 3>& num_workgroups);

/// Merges the forms; false if their coefficients differ.
bool merge(IndexForm& form, const IndexForm& other);

}  // namespace vyre::plan
