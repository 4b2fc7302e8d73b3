#pragma once

// Decode → scan as one kernel: the producer's buffer never reaches device memory.
//
//   JoinOutcome j = fuse_handoff(decode, decode_text, scan, scan_text, budget);
//
// The consumer's workgroup w reads the buffer inside a window [K·w + first, K·w + last] only (its
// indices are affine in workgroup_id.x with a bounded rest), and invocation i of the producer
// writes it at a·i + [low, high] only. The joined kernel has the consumer's launch. Its workgroups
// first run those invocations of the producer that write into the window, halo included, with the
// stores going to shared memory; then comes a workgroup barrier; then the consumer's body, which
// loads from shared memory. Accesses outside the window need no code: the specification drops a
// store outside the array, and an element that was never written is zero, as it is in the buffer.
//
// Workgroups whose invocations and elements all exist, which is all but those at the ends, have a
// separate loop without checks. Indices of 32 bits may wrap; the results are right as long as a
// launch stays within JoinedProgram::limits.

#include "plan/fusion/join.h"

namespace vyre::plan {

/// How a consumer's workgroups see a producer's buffer.
struct HandoffWindow {
  int64_t stride = 0;           // K: from one workgroup's window to the next, elements
  int64_t first = 0, last = 0;  // [K·w + first, K·w + last]
  int64_t writer_stride = 0;    // a: from one producer's invocation to the next, elements
  int64_t low = 0, high = 0;    // invocation i writes at a·i + [low, high]
  uint64_t elements = 0;        // of the shared window
  uint64_t bytes = 0;
  uint64_t invocations = 0;  // of the producer, run by each workgroup
  /// Share of the producer's work that is done twice: 0 if windows do not overlap.
  double recomputed = 0;
};

/// Shared memory that a handed-over buffer may have if the device is not known.
inline constexpr uint64_t default_handoff_budget = 16 * 1024;

/// The window, or why there is none. `budget`: bytes of shared memory for the buffer.
std::optional<HandoffWindow> find_handoff_window(const Program& producer, uint32_t producer_buffer,
                                                 const Program& consumer, uint32_t consumer_buffer,
                                                 uint64_t budget, std::string& why_not);

/// Kernel 0 is the producer, kernel 1 the consumer; the buffer is a parameter of each (`out` of the
/// first, `in` of the second; others are refused), and no other parameter of the two shares memory
/// with one that is written. The launch is the consumer's.
JoinOutcome fuse_handoff(const Program& producer, uint32_t producer_buffer, const Program& consumer,
                         uint32_t consumer_buffer, uint64_t budget = default_handoff_budget);

}  // namespace vyre::plan
