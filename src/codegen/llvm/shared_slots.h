#pragma once

// Finds loops that keep carried values in the slots of the enclosing loop.
//
// A loop nest carries a variable through each of its levels: n variables in n nested loops are n²
// carried values. A loop whose initial value is in a slot of the enclosing loop may continue in
// that slot. A value that the enclosing loop then yields is in its slot already, and a value that
// is only passed on is neither loaded nor stored. So the code is linear in the size of the text
// again.

#include <cstdint>
#include <vector>

#include "codegen/llvm/lane_strides.h"
#include "codegen/llvm/llvm_lower.h"

namespace vyre::emit_llvm {

struct SharedSlots {
  static constexpr uint32_t own = ~0u;

  SharedSlots(const Prepared& kernel, const Shapes& shapes);

  /// By value, for arguments of loops: which carried value of the loop around has the slot.
  IdMap<ValueId, uint32_t> of_argument;
  /// By value: it is only passed on between loops that share its slot.
  IdMap<ValueId, bool> passes;
  /// By index into Program::ids, for operands of `yield`: the value is in its slot already.
  std::vector<bool> in_place;
};

}  // namespace vyre::emit_llvm
