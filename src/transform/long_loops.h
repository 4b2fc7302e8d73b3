#pragma once

// Finds the loops that must poll the stop flag, and makes polling cheap.
//
// A poll in each iteration of a short body costs more than the body, and prevents the device's
// compiler from unrolling it. A counted loop that may run for long is therefore divided into
// chunks:
//
//   for i in lo..hi step s { body }
//
//   for c in lo..hi step n * s {                                 // polls; n iterations per chunk
//     for i in c..min(min(c, max - n * s) + n * s, hi) step s {  // does not poll
//       body
//     }
//   }
//
// where max is the largest number of the index's type, so that the sum does not wrap. A `break`
// leaves the inner loop, which then also carries a flag that ends the outer one. A `while` is
// divided the same way, if the emitter requests it:
//
//   while true {                                                 // polls
//     for _ in 0..n { if !condition { break }  body }            // does not poll
//     if left { break }
//   }
//
// Its inner loop has a constant number of iterations, so emitters unroll it. Other loops that may
// run for long count their back-edges and poll periodically.

#include <vector>

#include "ir/program.h"

namespace vyre {

/// By op: 0 if the op is not a loop that polls; else the amount by which each of its back-edges
/// decreases the counter of back-edges until the next poll.
using PollWeights = IdMap<OpId, uint8_t>;

/// The initial value of the counter of back-edges. An invocation polls when it is 0 or less.
inline constexpr uint32_t back_edges_per_poll = 256;

struct LongLoopOptions {
  uint64_t unpolled_trips = 1 << 16;  // a loop with at most as many iterations does not poll
  uint32_t chunk_ops = 4096;          // that a chunk executes at most
  bool breaks = true;                 // divides loops that a `break` leaves, too
  bool whiles = false;                // divides `while` loops; needs `breaks`
  uint32_t max_depth = 32;  // deeper loops are not divided: compilers of devices limit nesting
};

/// Divides the loops that may run for long into chunks, and returns which of the changed program's
/// loops poll. Loops stay as they are if another loop inside polls, if invocations wait for each
/// other inside, if the body has many ops, or if the step is not known to be positive. The new ops
/// have the location of the loop that they divide. `program` has no function ops. Runs in time
/// linear in the number of ops.
PollWeights divide_long_loops(Program& program, const LongLoopOptions& options = {});

/// Returns which loops poll, without changing any. Runs in time linear in the number of ops.
PollWeights find_long_loops(const Program& program);

}  // namespace vyre
