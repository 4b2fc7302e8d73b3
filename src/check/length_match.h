#pragma once

// Can the length that a kernel asks of an argument be the length of the buffer that a graph gives?

#include <cstdint>
#include <optional>

#include "ir/graph_walk.h"
#include "ir/module.h"

namespace vyre {

/// Compares lengths of one call as sums of lengths and scalars of the graph. What is not linear is
/// one unknown; a large pool of formulas is not looked at.
class LengthMatch {
 public:
  LengthMatch(const Program& kernel, const Graph& graph, const GraphNode& call);

  /// How many elements more the parameter asks for than the buffer has, if that is the same for all
  /// launches; nullopt if it depends on the launch.
  std::optional<__int128> excess(const Buffer& parameter, uint32_t given) const;

 private:
  const Program& kernel_;
  const Graph& graph_;
  std::vector<const GraphArg*> args_;  // by buffer of the kernel; null: it takes none
};

}  // namespace vyre
