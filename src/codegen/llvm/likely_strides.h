#pragma once

// Lane strides that hold for most subgroups: clamped indices (`max(i, 1) - 1`), wrapped indices
// (`(i + 1) % n`), and rows and columns of a flat id (`i / w`, `i % w`). Such a value is piecewise
// base + stride · lane, and one subgroup seldom contains a break. The emitter tests the stride at
// run time and then accesses memory as it does for a proved stride.
//
// The analysis estimates the slope of each integer over the lanes, between two breaks. It proves
// nothing: a wrong estimate costs time only.

#include <cmath>
#include <optional>
#include <vector>

#include "codegen/llvm/lane_strides.h"
#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

constexpr int64_t max_load_stride = 4;  // in elements; beyond, gathers read less

class LikelyStrides {
 public:
  LikelyStrides(const Prepared& kernel, const Shapes& shapes);

  /// The proved stride if there is one, else the likely one.
  std::optional<int64_t> stride(ValueId v) const {
    if (!slope_[v] || *slope_[v] != std::nearbyint(*slope_[v])) return std::nullopt;
    return static_cast<int64_t>(*slope_[v]);
  }
  /// True if the index of an access is computed from it, and its stride is not proved.
  bool is_wanted(ValueId v) const { return wanted_[v]; }
  /// True if all uses are such indices: its lanes are needed only where the test fails.
  bool is_deferred(ValueId v) const { return deferred_[v]; }

 private:
  friend class LikelyStrideFinder;
  IdMap<ValueId, std::optional<double>> slope_;
  IdMap<ValueId, bool> wanted_, deferred_;
};

/// The operand that is an index whose stride matters: loads and stores outside private arrays.
bool has_strided_index(const Program& program, OpId op);

}  // namespace vyre::emit_llvm
