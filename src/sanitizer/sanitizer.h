#pragma once

// The sanitizer: a run on the interpreter that detects data races, barriers that some invocations
// do not reach, accesses out of bounds and reads of memory that was never written.
//
// Happens before. One counter, the tick, is raised at every synchronization. An access carries the
// tick of its time. A barrier over a unit (a subgroup, a workgroup, the grid) raises the tick to T
// and records T for the unit: accesses of its members before the barrier have ticks below T, later
// ones ticks of at least T. So an access A by invocation a happens before an access B by b that is
// executed later exactly if
//   - a = b, or
//   - some unit that holds both a and b has had a barrier since A: tick(A) < T of the unit, or
//   - b knows of A through release and acquire: a release raises the tick, too, and stores with the
//     element the clock of its invocation (knowledge.h): all that the invocation did before T, all
//     that its subgroup and workgroup did before their last barriers, and all that it acquired. An
//     acquire that reads the element merges that clock. Barriers spread it to all participants.
// That is a vector clock whose entries are shared by the invocations that must have equal ones:
// every barrier is in flow that is uniform at its scope (the checker proves it; arrivals are
// counted again here), so a unit has one clock. The order in which the interpreter happens to run
// lanes, and its lock step, decide nothing: two lanes of one instruction are as unordered as two
// workgroups.
//
// A race is two accesses to one element by two invocations, at least one of them a write, not both
// atomic (or atomic, but in different workgroups and one at the scope of a workgroup), neither
// before the other.
//
// An element is order-dependent if two invocations change it by atomics that do not commute
// (ir/eval/atomic_update.h), neither before the other. The later one's own acquire does not count,
// because it could have executed first. An access keeps a tag of its value, so that stores of equal
// values commute. Of the accesses of one site two are kept (below): if one of another value is
// omitted, it was unordered with one of the two and reported with it. So every such element is
// reported, though not with all of its pairs of lines.
//
// Kept accesses. For each element and each site (sites.h) the latest accesses that are unordered
// with one another. An earlier access A of a site may be dropped once a later one B of the same
// site has A before B: all later accesses that are unordered with A are unordered with B. In
// programs that synchronize by barriers alone two accesses are enough, chosen as far apart as
// possible (different workgroups, else different subgroups, else different lanes): then for any
// later access one of the two is unordered with it if any access of that site is. So the reported
// pairs of lines are the same under every schedule. With acq_rel atomics up to 1024 are kept, and
// the findings are exact for the schedule that was run. Accesses from before a grid barrier, or of
// shared memory from before a workgroup barrier, are dropped. Calls of a graph run in order.
//
// There are only true positives: every finding is two executed accesses that nothing orders.
// docs/sanitizer.md is the user documentation.

#include "interp/interp.h"

namespace vyre::interp {

struct Sanitized {
  Diagnostics findings;  // races and mismatches are errors; the rest warnings and notes
  Diagnostics errors;    // why the run did not complete: a trap, a limit, an invalid launch
};

/// Runs as `run` does and observes the run. Findings made before an error are included.
Sanitized sanitize(const Program& program, const LaunchInputs& inputs, const Options& options = {});
Sanitized sanitize(const Module& module, const Graph& graph, const GraphInputs& inputs,
                   const Options& options = {});

}  // namespace vyre::interp
