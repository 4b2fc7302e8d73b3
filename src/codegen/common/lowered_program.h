#pragma once

#include "ir/program.h"
#include "transform/long_loops.h"

namespace vyre {

/// The program that an emitter walks: the result of a target's lower().
struct LoweredProgram {
  Program program;
  IdMap<OpId, OpId> original;  // by op: the one of the program that was given
  PollWeights polls;           // by op
};

}  // namespace vyre
