#pragma once

// Accesses of a segment to the spill buffers.
//
// Values spilled per invocation lie slot after slot, each with one word for each invocation in
// linear order, workgroup after workgroup. Values spilled per workgroup lie workgroup after
// workgroup. Indices are u64: slots times invocations can be more than 2^32.

#include "ir/cloner.h"
#include "plan/split/live_values.h"

namespace vyre::plan {

class HiddenAccess {
 public:
  HiddenAccess(const Program& program, const LiveValues& live, IrBuilder& writer)
      : p_(program), live_(live), w_(writer) {}

  /// At the beginning of a segment, before everything else: computes the indices.
  void begin_segment();

  /// `uniform`: for a value spilled per workgroup, load it so that the checker sees that it is
  /// uniform.
  ValueId load(const Slot& slot, Type type, bool uniform);
  void store(const Slot& slot, ValueId value);

  /// Whether a device loop continues: for the segments in the workgroup's word, for the host in
  /// one.
  ValueId load_word(uint32_t slot);
  void store_word(uint32_t slot, uint32_t word, ValueId goes_on);

  /// Copies arrays, selected by bit, to or from their spill buffers.
  void copy_arrays(uint64_t arrays, bool save);

 private:
  ValueId u64(uint64_t v) { return w_.constant(Type::U64, v); }
  ValueId add(ValueId a, ValueId b) { return w_.op(Opcode::Add, Type::U64, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return w_.op(Opcode::Mul, Type::U64, {a, b}); }
  ValueId wide(ValueId v) { return w_.op(Opcode::Cast, Type::U64, {v}); }
  uint64_t memory(uint32_t hidden) const;
  ValueId index(HiddenBuffer::Rate rate, uint64_t offset);
  void store_u32(HiddenBuffer::Rate rate, uint32_t slot, ValueId value);
  void copy_private(const KeptArray& array, bool save);
  void copy_shared(const KeptArray& array, bool save);
  void move(const KeptArray& array, ValueId from_array, ValueId from_hidden, bool save);
  template <class Fill>
  void only_if(ValueId condition, Fill&& fill);

  const Program& p_;
  const LiveValues& live_;
  IrBuilder& w_;
  // Values of the current segment.
  ValueId local_ = none, invocation_ = none, workgroup_ = none, invocations_ = none;
  ValueId first_of_workgroup_ = none, first_of_all_ = none;
};

}  // namespace vyre::plan
