#pragma once

// Decides whether the length that a kernel requires of an argument can be the length of the buffer
// that a graph passes.

#include <cstdint>
#include <optional>

#include "ir/graph_walk.h"
#include "ir/module.h"

namespace vyre {

/// Compares lengths of one call as sums of lengths and scalars of the graph. A term that is not
/// linear is one unknown; a large pool of formulas is skipped.
class LengthMatch {
 public:
  LengthMatch(const Program& kernel, const Graph& graph, const GraphNode& call);

  /// The number of elements that the parameter requires beyond the buffer's, if it is the same for
  /// all launches; nullopt if it depends on the launch.
  std::optional<__int128> excess(const Buffer& parameter, GraphBufferId given) const;

 private:
  const Program& kernel_;
  const Graph& graph_;
  IdMap<BufferId, const GraphArg*> args_;  // null: the buffer takes none
};

}  // namespace vyre
