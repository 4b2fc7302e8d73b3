#pragma once

// Which op of the program that was given an op comes from, through every change in between: its
// location is that op's number meanwhile. (Emitters read places from the program that was given.)

#include <vector>

#include "ir/program.h"

namespace vyre {

inline void number_ops(Program& p) {
  p.locations.assign(p.ops.size(), {});
  for (OpId i = 0; i < p.ops.size(); ++i) {
    p.locations[i].line = i;
    p.ops[i].loc = i;
  }
  p.loc = none;
}

/// By op of the changed program.
inline std::vector<OpId> op_numbers(const Program& p) {
  std::vector<OpId> numbers(p.ops.size(), 0);
  for (OpId i = 0; i < p.ops.size(); ++i)
    if (p.ops[i].loc != none) numbers[i] = p.locations[p.ops[i].loc].line;
  return numbers;
}

}  // namespace vyre
