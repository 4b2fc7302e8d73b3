#pragma once

// Makes joined programs: bodies one after the other, or a body inlined where its result is loaded.
//
// A buffer that stays with its invocation becomes a variable that begins as zero. A store outside
// of the buffer is dropped, so each store compares its index with the length that the buffer would
// have. Elements that round (f16, bf16) are kept in a private array of one element.

#include <vector>

#include "plan/fusion/join.h"

namespace vyre::plan {

/// A kernel on its way into a group: one of the graph's, or the kernel fused so far.
struct Part {
  Program program;
  IdMap<BufferId, GraphBufferId> memory;    // by buffer: its binding; equal numbers are one memory
  IdMap<BufferId, JoinedParameter> origin;  // of parameters but scratch ones
  uint32_t launch = 0;                      // the kernel of the group that it is launched as
};

/// Returns the graph's kernel number `kernel` of the group, bound to `memory`.
Part make_part(const Program& program, IdMap<BufferId, GraphBufferId> memory, uint32_t kernel);

/// Joins bodies one after the other. Buffers in `elided` are not parameters of the result.
Part join_in_order(const std::vector<Part>& parts, const std::vector<GraphBufferId>& elided);

/// Joins by recomputation: the consumer computes the elements that it loads from the memory
/// `handed`. The producer's invocation i stores its element scale · i + offset, in one store.
Part join_by_recomputing(const Part& producer, const Part& consumer, GraphBufferId handed,
                         int64_t scale, int64_t offset);

/// Converts a part to the form of join.h.
JoinedProgram finish(Part part);

}  // namespace vyre::plan
