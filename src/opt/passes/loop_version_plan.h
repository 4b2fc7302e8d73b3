#pragma once

// The plan of loop versioning: which loops get a copy without tests, and which tests must precede
// them (eliminate_bounds_checks.h).

#include <map>
#include <tuple>
#include <vector>

#include "opt/analysis/analysis_cache.h"

namespace vyre::opt {

/// A multiple of a value that is the same in all iterations.
struct LoopTerm {
  ValueId value = none;
  int64_t factor = 0;
  bool operator<(const LoopTerm& o) const {
    return value != o.value ? value < o.value : factor < o.factor;
  }
};

/// The subject of one test of lengths: accesses to a buffer that differ by constants only.
struct LoopTest {
  BufferId buffer{0};
  int64_t per_count = 0;
  Wide most_count = 0;  // of elements, that the index can count
  std::vector<LoopTerm> terms;
  bool operator<(const LoopTest& o) const {
    return std::tie(buffer, per_count, most_count, terms) <
           std::tie(o.buffer, o.per_count, o.most_count, o.terms);
  }
};
/// The constants of these accesses, from the least to the greatest.
struct Offsets {
  int64_t least = 0, greatest = 0;
};

struct LoopPlan {
  OpId loop = none;
  std::map<LoopTest, Offsets> tests;
  std::vector<OpId> accesses;
};

std::vector<LoopPlan> plan_loop_versions(const Program& program, PassContext& context);

}  // namespace vyre::opt
