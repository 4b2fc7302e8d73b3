#pragma once

// Cloner copies ops, with everything in them, to where an IrBuilder stands. Operands are replaced
// by `map`, where the results of the copies are entered. Source and target may be one program: then
// `map` starts as the identity, so what is defined outside of the copied op stays.

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
