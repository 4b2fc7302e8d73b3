#pragma once

// The sanitizer: a run on the interpreter that looks for data races, barriers that not all come to,
// accesses out of bounds and reads of memory that nobody wrote.
//
// Happens before. One counter, the tick, is raised at every synchronization. An access carries the
// tick of its time. A barrier over a unit (a subgroup, a workgroup, the grid) raises the tick to T
// and writes T down for the unit: whatever members of the unit did before has a tick below T,
// whatever they do afterwards one of at least T. So an access A by invocation a happens before
// an access B by b that is executed later exactly if
//   - a = b, or
//   - some unit that holds both a and b has had a barrier since A: tick(A) < T of the unit, or
//   - b has heard of A through release and acquire: a release raises the tick, too, and leaves with
//     the element what its invocation knows (knowledge.h): all that the invocation did before T,
//     all that its subgroup and workgroup did before their last barriers, and all that it was told.
//     An acquire that reads the element learns that. Barriers spread it to all who take part.
// That is a vector clock whose entries are shared by those who must have the same ones: every
// barrier stands in flow that is uniform at its scope (the checker proves it; arrivals are counted
// here again), so a unit has one clock. The order in which the interpreter happens to run lanes,
// and its lock step, decide nothing: two lanes of one instruction are as unordered as two
// workgroups.
//
// A race is two accesses to one element by two invocations, at least one of them a write, not both
// atomic (or atomic, but in different workgroups and one at the scope of a workgroup), neither
// before the other.
//
// An element is order-dependent if two invocations change it by atomics that do not commute
// (ir/eval/atomic_update.h), neither before the other. What the later one acquires itself does not
// count, because it could have come first. An access keeps a tag of its value, so that stores of
// equal values commute. Of the accesses of one site two are kept (below): if one of another value
// is left out, it was unordered with one of the two and reported with it. So every such element is
// reported, though not with all of its pairs of lines.
//
// What is kept. For each element and each site (sites.h) the latest accesses that are unordered
// with one another. An earlier access A of a site may go once a later one B of the same site has
// A before B: whatever is unordered with A later on is unordered with B. In programs that
// synchronize by barriers alone two accesses are enough, chosen as far apart as can be (different
// workgroups, else different subgroups, else different lanes): then for any later access one of the
// two is unordered with it if any access of that site is. So which pairs of lines race is the same
// under every schedule. With acq_rel atomics up to 1024 are kept, and what is found is exact for
// the schedule that was run. Accesses from before a grid barrier, or of shared memory from before a
// workgroup barrier, are forgotten. Calls of a graph come one after the other.
//
// Nothing is reported that is not there: every finding is two accesses that were made and that
// nothing orders. docs/sanitizer.md is for people who use it.

#include "interp/interp.h"

namespace vyre::interp {

struct Sanitized {
  Diagnostics findings;  // races and mismatches are errors; the rest warnings and notes
  Diagnostics errors;    // why the run did not come to its end: a trap, a limit, a bad launch
};

/// Runs as `run` does and looks on. Findings made before an error are there, too.
Sanitized sanitize(const Program& program, const LaunchInputs& inputs, const Options& options = {});
Sanitized sanitize(const Module& module, const Graph& graph, const GraphInputs& inputs,
                   const Options& options = {});

}  // namespace vyre::interp
