#pragma once

// Texts of fusion's missed-optimization remarks. Each text states one condition that failed, and
// names the calls and buffers that it concerns.

#include <string>

#include "plan/fusion/fusion_calls.h"
#include "plan/fusion/fusion_summary.h"

namespace vyre::plan {

/// Returns "stage 2 `decode`": the number of the call among the graph's calls, and its kernel.
std::string stage_name(const FusionCalls& calls, uint32_t call);

/// Returns "16x16x1" for workgroup sizes and numbers of workgroups.
template <class Sizes>
std::string sizes_text(const Sizes& sizes) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

/// Returns the first thing a kernel does besides computing its elements: "shared memory `t`", "an
/// atomic", …; "" if it does nothing else.
std::string impurity(const Program& kernel);

/// Returns why a buffer that `call` reads is needed after it: it is a parameter, a control value,
/// or read again. "" if it is not needed.
std::string why_live_after(const FusionCalls& calls, const Graph& graph, uint32_t call,
                           GraphBufferId buffer);

/// Returns which loop begins or ends between a call and the one before it.
std::string why_loop_border(const FusionCalls& calls, uint32_t call);

}  // namespace vyre::plan
