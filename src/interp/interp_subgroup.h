#pragma once

// Subgroup operations over the lanes of a workgroup, in the order that the specification defines.

#include <cstdint>
#include <vector>

#include "ir/ops.h"

namespace vyre::interp {

struct SubgroupArgs {
  Opcode code;
  Type type;       // of operand 0
  uint32_t lanes;  // of the workgroup
  uint32_t size;   // of a subgroup
  const uint8_t* active;
  const void* value;
  const void* operand;  // lane, distance or mask (u32), for ops that have one
  void* out;
};

/// Inactive lanes count as absent: in legal flow those are lanes that trapped, whose values cannot
/// be observed. `scratch` is working memory kept between calls.
void run_subgroup(const SubgroupArgs& args, std::vector<std::byte>& scratch);

}  // namespace vyre::interp
