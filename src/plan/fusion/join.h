#pragma once

// Joined programs: one kernel that does the work of several, and the bindings of its parameters.
//
// A joined program depends on no length and no grid of a launch: numbers of the original launches
// that its bodies need (a number of workgroups, the length of a buffer that is gone) are scalar
// parameters, so one compiled program serves every size.

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"

namespace vyre::plan {

/// The source of a parameter of a joined program: a parameter of one of the kernels, or a number of
/// its launch.
struct JoinedParameter {
  enum class Kind : uint8_t {
    Buffer,         // the kernel's parameter: buffer or scalar. Of parameters that are bound to the
                    // same memory the first stands for all
    NumWorkgroups,  // of the kernel's launch; u32
    Count           // elements of a buffer of the kernel; u64
  };
  Kind kind = Kind::Buffer;
  uint32_t kernel = 0;  // in the order in which they were joined
  uint32_t index = 0;   // of the buffer in the kernel's program; else the dimension
  bool operator==(const JoinedParameter&) const = default;
};

/// A number of a launch, and the largest for which the joined program means the same as its
/// kernels: beyond it indices of 32 bits wrap. The planner knows the numbers and must check them.
struct JoinedLimit {
  JoinedParameter of;  // NumWorkgroups or Count
  uint64_t most = 0;
  bool operator==(const JoinedLimit&) const = default;
};

struct JoinedProgram {
  Program program;
  /// One for each parameter of the program but the scratch ones, in order.
  std::vector<JoinedParameter> parameters;
  /// Empty: valid for every launch.
  std::vector<JoinedLimit> limits;
};

/// A joined program, or the condition that failed, in words for the report.
struct JoinOutcome {
  std::optional<JoinedProgram> joined;
  std::string why_not;
};

}  // namespace vyre::plan
