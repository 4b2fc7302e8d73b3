#pragma once

// Copies a kernel's body into a program that a SsaBuilder makes. Internal to joins.

#include <vector>

#include "ir/ssa_builder.h"

namespace vyre::plan {

/// Returns the same program with one return, at its end.
Program with_one_return(const Program& program);

class BodyCopy {
 public:
  /// `buffers`: by buffer of the kernel, that of the new program; none where access() is asked.
  BodyCopy(SsaBuilder& builder, const Program& from, IdMap<BufferId, BufferId> buffers);
  virtual ~BodyCopy() = default;
  void run() { block(body_block, {}, {}); }

 protected:
  /// Called for an op that names an absent buffer: returns its result, or none if it has none.
  virtual ValueId access(OpId op) = 0;
  /// Returns the value that replaces an op; none: the op is copied.
  virtual ValueId replace(OpId) { return none; }
  ValueId mapped(ValueId v) const { return map_[v]; }
  LocId location(LocId loc);

  SsaBuilder& b_;
  const Program& from_;

 private:
  void block(BlockId id, const std::vector<VarId>& yields, const std::vector<VarId>& loop);
  void op(OpId id, const std::vector<VarId>& loop);
  void exit(OpId id, const std::vector<VarId>& yields, const std::vector<VarId>& loop);
  void control(OpId id, const std::vector<VarId>& loop);
  std::vector<ValueId> operands(OpId id) const;

  IdMap<BufferId, BufferId> buffers_;
  IdMap<ValueId, ValueId> map_;
  std::vector<LocId> locations_;
};

}  // namespace vyre::plan
