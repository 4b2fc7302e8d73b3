#include "ir/ir_builder.h"

namespace vyre {

OpId IrBuilder::add(Opcode code, Type type, std::span<const ValueId> operands,
                    std::span<const Type> results, uint64_t attr) {
  const OpId id = p.add_op(code, type, operands, results, attr, loc);
  if (next != none)
    p.insert_before(next, id);
  else
    p.append(block, id);
  return id;
}

OpId IrBuilder::open(Opcode code, std::span<const ValueId> operands, uint32_t blocks,
                     uint64_t attr) {
  const OpId id = add(code, Type::Void, operands, std::span<const Type>(), attr);
  add_blocks(id, blocks);
  return id;
}

BlockId IrBuilder::add_blocks(OpId op, uint32_t count) {
  const BlockId first = p.blocks.next_id();
  p.op(op).n_blocks = static_cast<uint8_t>(count);
  p.op(op).first_block = first;
  for (uint32_t i = 0; i < count; ++i) p.add_block(op);
  return first;
}

std::vector<ValueId> IrBuilder::set_results(OpId op, std::span<const Type> types) {
  std::vector<ValueId> results;
  for (uint32_t i = 0; i < types.size(); ++i) {
    results.push_back(p.values.next_id());
    p.values.push_back({types[i], op, none, i});
  }
  p.op(op).results = p.add_list(results);
  return results;
}

BlockId IrBuilder::add_if(ValueId condition) {
  const OpId branch = open(Opcode::If, {&condition, 1}, 2);
  const BlockId then = p.op(branch).first_block;
  p.append(then + 1, p.add_op(Opcode::Yield, Type::Void, {}, {}, 0, loc));
  return then;
}

}  // namespace vyre
