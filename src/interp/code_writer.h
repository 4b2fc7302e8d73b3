#pragma once

// The straight-line half of compiling: slots for values, and the instructions of ops that are
// neither control ops nor exits. compile.cc adds control.

#include <map>
#include <tuple>
#include <vector>

#include "interp/interp_code.h"
#include "interp/interp_liveness.h"
#include "interp/slots.h"

namespace vyre::interp {

class CodeWriter {
 protected:
  CodeWriter(const Program& program, uint64_t max_groups, bool observed);

  /// Appends an instruction. The reference is valid until the next one.
  Instr& emit(Do what, OpId op);
  uint32_t here() const { return static_cast<uint32_t>(code_.instrs.size()); }
  /// Appends an instruction and returns its index.
  uint32_t here_of(Do what, OpId id);
  void copy(Do what, OpId id, Slot to, Slot from, uint32_t bytes);

  Slot slot(ValueId v) const { return slot_of_[v]; }
  uint32_t width(ValueId v) const { return size_of(p_.type(v)); }
  Slot define(ValueId v) { return slot_of_[v] = slots_.take(width(v)); }
  /// Frees the slots of values that die with this op.
  void release(OpId op);

  /// Emits the instructions of an op that is neither a control op nor an exit.
  void straight(OpId id);

  const Program& p_;
  FlatCode code_;
  IdMap<ValueId, Slot> slot_of_;  // by value
  Liveness live_;
  Slots slots_;
  OpId loop_ = none;  // the innermost one around, for messages

 private:
  uint32_t prepare(uint64_t max_groups);
  Slot keep(ValueId v);
  void pure(OpId id);
  void constant(OpId id, ValueId result);
  void lane_id(OpId id, ValueId result);
  Slot index(OpId id, bool as_64_bits, Type* type, Slot* temporary);
  void memory(OpId id);
  void atomic(OpId id);
  void subgroup(OpId id);
  void sync(OpId id);
  void barrier(OpId id, Scope scope);

  IdMap<ValueId, bool> kept_;  // by value: its slot is shared with other values
  std::map<std::tuple<Opcode, Type, uint64_t>, Slot> constants_;
  const bool observed_;
  uint32_t since_poll_ = 0;
};

}  // namespace vyre::interp
