// Checks analyses with the interpreter. The program runs with probes: unused loads whose index is
// the observed value. The results of the analyses for values, accesses, lanes and barriers are
// compared with the run.
#pragma once

#include <string>

#include "ir/launch.h"
#include "ir/program.h"

namespace vyre::opt {

struct Judgement {
  std::string wrong;      // "" or the first wrong fact
  uint64_t checks = 0;    // comparisons of a fact with the run
  uint64_t narrowed = 0;  // of them: ranges that conditions narrowed
  uint64_t bounds = 0;    // accesses that were proved inside
  uint64_t affine = 0, exact = 0, uniform = 0, lived = 0, relations = 0;
  uint64_t known = 0, values = 0;  // integer values with a range narrower than their type, of all
};

Judgement judge_facts(const Program& program, const LaunchInputs& inputs);

}  // namespace vyre::opt
