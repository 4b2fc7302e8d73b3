#pragma once

// Puts the buffers, formulas, tables, names and locations of two kernels into one program. The
// kernels' copies refer to them by their new numbers, so that ops can be copied as they are.

#include "plan/fusion/join.h"

namespace vyre::plan {

/// The numbers of buffers of two kernels in the joined program.
struct HandoffKernels {
  Program to;  // no ops yet but an empty body
  Program producer, consumer;
  std::vector<JoinedParameter> parameters;
  BufferId count = none;   // the scalar: elements of the buffer, u64
  BufferId groups = none;  // the scalar: workgroups of the producer's launch, u32
  BufferId window = none;  // the shared array; the kernels' buffer is this one
};

/// `elements`: of the shared array.
HandoffKernels join_kernels(const Program& producer, BufferId producer_buffer,
                            const Program& consumer, BufferId consumer_buffer, uint64_t elements);

}  // namespace vyre::plan
