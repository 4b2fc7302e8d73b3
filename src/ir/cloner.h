#pragma once

// Cloner copies ops, with everything in them, to the insertion point of an IrBuilder. Operands are
// replaced by `map`, which also receives the results of the copies. Source and target may be one
// program: then `map` starts as the identity, so values defined outside of the copied op stay.

#include <vector>

#include "ir/ir_builder.h"

namespace vyre {

class Cloner {
 public:
  Cloner(const Program& from, IrBuilder& builder);
  virtual ~Cloner() = default;

  /// Copies an op with everything in it, and returns the copy. Iterative.
  OpId copy(OpId op);

  IdMap<ValueId, ValueId> map;  // by value of the source

 protected:
  virtual LocId location(LocId loc) { return loc; }
  virtual StringId string(StringId s) { return s; }
  virtual uint64_t attribute(OpId op) { return from_.op(op).attr; }

  const Program& from_;
  IrBuilder& b_;

 private:
  OpId add_copy(OpId op);
  void copy_arguments(BlockId block);

  IdMap<BlockId, BlockId> blocks_;
  std::vector<ValueId> operands_;
  std::vector<Type> types_;
};

}  // namespace vyre
