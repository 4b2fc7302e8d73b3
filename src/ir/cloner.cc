#include "ir/cloner.h"

namespace vyre {

Cloner::Cloner(const Program& from, IrBuilder& builder)
    : map(&from == &builder.p ? identity(from.values)
                              : IdMap<ValueId, ValueId>(from.values.size())),
      from_(from),
      b_(builder) {}

OpId Cloner::copy(OpId op) {
  const OpId copied = add_copy(op);
  const Op o = from_.op(op);
  if (o.n_blocks == 0) return copied;
  const BlockId block = b_.block;
  const OpId next = b_.next;
  for (uint32_t i = 0; i < o.n_blocks; ++i)
    walk_blocks(from_, o.first_block + i, [&](Visit what, OpId inner, BlockId at) {
      if (what == Visit::EnterBlock) copy_arguments(at);
      if (what != Visit::Op) return;
      b_.at_end(blocks_[at]);
      add_copy(inner);
    });
  b_.block = block;
  b_.next = next;
  return copied;
}

OpId Cloner::add_copy(OpId id) {
  const Op o = from_.op(id);
  operands_.clear();
  types_.clear();
  for (const ValueId v : from_.operands(id)) operands_.push_back(map[v]);
  for (const ValueId v : from_.results(id)) types_.push_back(from_.type(v));
  uint64_t attr = attribute(id);
  if (info(o.code).attribute == AttrKind::Name) attr = string(static_cast<StringId>(attr));
  const LocId outside = std::exchange(b_.loc, location(o.loc));
  const OpId copy = b_.add(o.code, o.type, operands_, types_, attr);
  b_.loc = outside;
  for (uint32_t i = 0; i < o.results.count; ++i) map[from_.result(id, i)] = b_.p.result(copy, i);
  if (o.n_blocks == 0) return copy;
  const BlockId first = b_.add_blocks(copy, o.n_blocks);
  if (blocks_.size() < from_.blocks.size()) blocks_.resize(from_.blocks.size());
  for (uint32_t i = 0; i < o.n_blocks; ++i) blocks_[o.first_block + i] = first + i;
  return copy;
}

void Cloner::copy_arguments(BlockId block) {
  const std::vector<ValueId> args(from_.args(block).begin(), from_.args(block).end());
  for (const ValueId v : args) map[v] = b_.p.add_argument(blocks_[block], from_.type(v));
}

}  // namespace vyre
