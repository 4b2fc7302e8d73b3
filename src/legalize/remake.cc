#include "legalize/remake.h"

namespace vyre::emit_exact {

Remake::Remake(const Program& p)
    : from(p),
      c(p),
      blocks_(p.blocks.size(), none),
      low_(p.values.size()),
      high_(p.values.size()) {}

Program Remake::run() {
  blocks_[body_block] = body_block;
  walk_blocks(from, body_block, [&](Visit what, OpId op, BlockId block) {
    switch (what) {
      case Visit::EnterBlock: {
        if (op != none && is_loop(from.op(op).code) && block == from.op(op).first_block)
          loops_.push_back(op);
        c.open();
        enter(block);
        break;
      }
      case Visit::LeaveBlock: leave(block); break;
      case Visit::Op:
        c.block = blocks_[from.op(op).parent];
        c.loc = from.op(op).loc;
        visit(op);
        break;
    }
  });
  return c.finish();
}

/// The body of a `while` uses values of its test, so that scope stays open until the body ends.
void Remake::leave(BlockId block) {
  const OpId owner = from.blocks[block].parent;
  const bool loop = owner != none && is_loop(from.op(owner).code);
  if (loop && block + 1 < from.op(owner).first_block + from.op(owner).n_blocks) return;
  c.close();
  if (loop && from.op(owner).code == Opcode::While) c.close();
  if (loop) loops_.pop_back();
}

void Remake::enter(BlockId block) { copy_arguments(block, blocks_[block]); }

void Remake::copy_arguments(BlockId block, BlockId into, uint32_t first) {
  const auto list = from.args(block).subspan(first);
  std::vector<ValueId> parts;
  for (const Type t : types_of(list)) parts.push_back(c.program.add_argument(into, t));
  give_parts(list, parts);
}

std::vector<ValueId> Remake::values_of(std::span<const ValueId> list) {
  std::vector<ValueId> parts;
  for (const ValueId v : list) {
    parts.push_back(c.value(low_[v]));
    if (splits(from.type(v))) parts.push_back(c.value(high_[v]));
  }
  return parts;
}

std::vector<Type> Remake::types_of(std::span<const ValueId> list) const {
  std::vector<Type> types;
  for (const ValueId v : list) {
    const bool two = splits(from.type(v));
    types.push_back(two ? Type::U32 : from.type(v));
    if (two) types.push_back(Type::U32);
  }
  return types;
}

void Remake::give_parts(std::span<const ValueId> list, std::span<const ValueId> parts) {
  size_t at = 0;
  for (const ValueId v : list) {
    low_[v] = c.term(parts[at++]);
    if (splits(from.type(v))) high_[v] = c.term(parts[at++]);
  }
}

void Remake::add_blocks(OpId id, OpId copy) {
  const Op& o = from.op(id);
  c.add_blocks(copy, o.n_blocks);
  for (uint32_t i = 0; i < o.n_blocks; ++i)
    blocks_[o.first_block + i] = c.program.op(copy).first_block + i;
}

void Remake::copy(OpId id) {
  const Op& o = from.op(id);
  if (o.code == Opcode::Const && !splits(o.type)) return give(id, c.constant(o.type, o.attr));
  const auto results = from.results(id);
  if (is_pure(o.code) && results.size() == 1 && !splits(from.type(results[0]))) {
    Term operands[4];
    for (uint32_t i = 0; i < o.operands.count; ++i) operands[i] = operand(id, i);
    return give(id, c.op(o.code, o.type, {operands, o.operands.count}, o.attr));
  }
  const std::vector<ValueId> operands = values_of(from.operands(id));
  const std::vector<Type> types = types_of(results);
  const OpId made = c.add(o.code, o.type, operands, types, o.attr);
  give_parts(results, c.program.results(made));
  if (o.n_blocks) add_blocks(id, made);
}

}  // namespace vyre::emit_exact
