#pragma once

// Rebuilds a program op by op: each op is copied, or replaced by a derived class. Values of types
// that are split have two parts of 32 bits each.

#include <vector>

#include "legalize/term_builder.h"

namespace vyre::emit_exact {

class Remake {
 public:
  explicit Remake(const Program& from);
  virtual ~Remake() = default;

  /// Iterative; linear in the size of both programs.
  Program run();

 protected:
  /// Copies or replaces one op. Everything it uses has been made.
  virtual void visit(OpId id) { copy(id); }
  /// Makes the arguments of a block.
  virtual void enter(BlockId block);
  /// True if values of this type become two u32.
  virtual bool splits(Type) const { return false; }

  void copy(OpId id);
  /// Opens the blocks of the copy of a control op.
  void add_blocks(OpId id, OpId copy);
  void copy_arguments(BlockId block, BlockId into, uint32_t first = 0);

  Term term(ValueId v) const { return low_[v]; }
  Term high(ValueId v) const { return high_[v]; }
  Term operand(OpId id, uint32_t i) const { return low_[from.operand(id, i)]; }
  void set(ValueId v, const Term& t) { low_[v] = t; }
  void set(ValueId v, const Term& low, const Term& high) { low_[v] = low, high_[v] = high; }
  void give(OpId id, const Term& t) { set(from.result(id), t); }

  /// All parts of the operands, from the first one on.
  std::vector<ValueId> values_of(std::span<const ValueId> list);
  std::vector<Type> types_of(std::span<const ValueId> list) const;
  /// Gives the results (or arguments) `parts` to the values of `list`, part by part.
  void give_parts(std::span<const ValueId> list, std::span<const ValueId> parts);

  const Program& from;
  TermBuilder c;
  IdMap<BlockId, BlockId> blocks_;  // of the new program, by block of the old one
  std::vector<OpId> loops_;         // of the old program, around the current op

 private:
  void leave(BlockId block);

  IdMap<ValueId, Term> low_, high_;
};

}  // namespace vyre::emit_exact
