#pragma once

// Handoffs: bytes that one phase or kernel writes and the next one reads, kept in shared memory.
// docs/plans.md explains the conditions, with a whole program.
//
// Inside a kernel, scratch buffers become shared arrays:
//
//   opt::handoff_candidates(program, target)   opt::HandoffCandidates: an opt::HandoffCandidate for
//                             each buffer that the pass promote_handoffs would promote, in that
//                             order, and an opt::Refusal for each of the others
//   opt::count_handoffs(program, target)   their number
//
// From one kernel to the next, the producer's buffer becomes a tile of the consumer's workgroups:
//
//   plan::find_handoff_window(producer, buffer, consumer, buffer, budget, why_not)
//                             plan::HandoffWindow: the region that a workgroup of the consumer
//                             reads, or nothing and why
//   plan::fuse_handoff(producer, buffer, consumer, buffer, budget)   plan::JoinOutcome: the fused
//                             kernel with what the host binds to it, or why there is none
//
// Pure functions: safe from several threads. Programs must have passed check().
//
//   auto fused = vyre::plan::fuse_handoff(decode, 1, scan, 0);
//   if (!fused.joined) std::cout << fused.why_not << '\n';

#include "opt/handoff_candidates.h"
#include "plan/fusion/fuse_handoff.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
