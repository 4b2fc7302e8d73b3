// Memory without 64-bit values. A buffer of 64-bit elements has two u32 for each, so its length is
// even. The u32 index 2^32 - 2 is out of bounds of every buffer, and so is the index after it. One
// test decides for both halves.

#include "legalize/wide_stage.h"

namespace vyre::emit_exact {
namespace {

constexpr uint32_t nowhere = ~1u;

}  // namespace

Term WideStage::elements(BufferId buffer) {
  const Term words = c.op(Opcode::Len, Type::Void, {}, buffer.value());
  return is_split(buffer) ? words >> 1 : words;
}

/// An index and a small number, added as numbers.
WideStage::Place WideStage::place(ValueId index, uint32_t plus) {
  const Type t = from.type(index);
  if (!splits(t)) {
    const Pair x = widened(term(index));
    const Pair y = x + pair_of(c, plus);
    return {y.low, y.high == 0};
  }
  const Pair x = pair(index), y = x + pair_of(c, plus);
  const Term whole = y.high == 0;
  // A u64 does not wrap into bounds.
  return {y.low, is_signed(t) || plus == 0 ? whole : whole & (x.high == 0)};
}

Term WideStage::first_word(OpId id, uint32_t plus) {
  const MemoryRef m = from.memory(id);
  const Place at = place(from.operand(id, 0), plus);
  if (m.in_bounds) return at.index << 1;
  const Term inside = at.valid & (at.index < elements(m.buffer));
  return select(inside, at.index << 1, nowhere);
}

/// The properties of the address hold for the first element only.
uint64_t WideStage::attr_of(OpId id, uint32_t plus) const {
  MemoryRef m = from.memory(id);
  if (plus) m.align_log2 = 0;
  return m.pack();
}

std::vector<ValueId> WideStage::load(Type type, const Term& index, uint32_t count, uint64_t attr) {
  const ValueId i[] = {c.value(index)};
  const std::vector<Type> types(count, type);
  const OpId made = c.add(count == 1 ? Opcode::Load : Opcode::LoadN, type, i, types, attr);
  const auto results = c.program.results(made);
  return {results.begin(), results.end()};
}

void WideStage::visit_memory(OpId id) {
  const Op& o = from.op(id);
  if (o.code == Opcode::LoadAs && splits(o.type)) return load_as(id);
  if (o.code != Opcode::LoadAs && is_split(from.memory(id).buffer)) return access_split(id);
  if (splits(from.type(from.operand(id, 0)))) return access_by_wide_index(id);
  copy(id);
}

void WideStage::access_split(OpId id) {
  const Op& o = from.op(id);
  if (o.code == Opcode::UniformLoad) {
    const Term at = first_word(id, 0);
    const Term low = c.op(o.code, Type::U32, {at}, attr_of(id, 0));
    return give_pair(id, {low, c.op(o.code, Type::U32, {at | 1}, attr_of(id, 1))});
  }
  if (o.code == Opcode::Load || o.code == Opcode::LoadN) {
    for (uint32_t k = 0; k < o.results.count; ++k) {
      const auto words = load(Type::U32, first_word(id, k), 2, attr_of(id, k));
      set(from.result(id, k), c.term(words[0]), c.term(words[1]));
    }
    return;
  }
  for (uint32_t k = 0; k + 1 < o.operands.count; ++k) {  // a store
    const Pair x = pair(from.operand(id, k + 1));
    const ValueId operands[] = {c.value(first_word(id, k)), c.value(x.low), c.value(x.high)};
    c.add(Opcode::StoreN, Type::U32, operands, {}, attr_of(id, k));
  }
}

/// Elements are at most 32 bits wide, only the index is a pair.
void WideStage::access_by_wide_index(OpId id) {
  const Op& o = from.op(id);
  const MemoryRef m = from.memory(id);
  const ValueId index = from.operand(id, 0);
  const auto word = [&](uint32_t plus) {
    const Place at = place(index, plus);
    return m.in_bounds ? at.index : select(at.valid, at.index, ~0u);
  };
  // Neighbours of an index that is out of bounds below may be inside.
  const bool apart = is_signed(from.type(index)) && !m.in_bounds;
  if (o.code == Opcode::LoadN && apart) {
    for (uint32_t k = 0; k < o.results.count; ++k)
      set(from.result(id, k), c.term(load(o.type, word(k), 1, attr_of(id, k))[0]));
    return;
  }
  if (o.code == Opcode::StoreN && apart) {
    for (uint32_t k = 0; k + 1 < o.operands.count; ++k) {
      const ValueId operands[] = {c.value(word(k)), c.value(operand(id, k + 1))};
      c.add(Opcode::Store, o.type, operands, {}, attr_of(id, k));
    }
    return;
  }
  std::vector<ValueId> operands = {c.value(word(0))};
  for (const ValueId v : from.operands(id).subspan(1)) operands.push_back(c.value(term(v)));
  const std::vector<Type> types = types_of(from.results(id));
  const OpId made = c.add(o.code, o.type, operands, types, o.attr);
  give_parts(from.results(id), c.program.results(made));
}

/// 64 bits at a byte offset: both halves, or none.
void WideStage::load_as(OpId id) {
  const MemoryRef m = from.memory(id);
  const Place at = place(from.operand(id, 0), 0);
  const Term bytes = c.op(Opcode::Len, Type::Void, {}, m.buffer.value()) *
                     size_of(c.program.buffers[m.buffer].element);
  // Named in order: the evaluation order of arguments is unspecified.
  const Term fits = at.index <= bytes - 8;
  const Term inside = at.valid & (bytes >= 8) & fits;
  const auto half = [&](uint32_t plus) {
    const Term offset = m.in_bounds ? at.index + plus : select(inside, at.index + plus, ~0u);
    return c.op(Opcode::LoadAs, Type::U32, {offset}, attr_of(id, plus));
  };
  const Term low = half(0);
  give_pair(id, {low, half(4)});
}

}  // namespace vyre::emit_exact
