#include "opt/rewriter.h"

#include <cassert>

#include "ir/ir_builder.h"

namespace vyre::opt {

Rewriter::Rewriter(Program& program)
    : p_(program), map_(program.values.size()), gone_(program.ops.size(), false) {
  walk(p_, [&](OpId op) { order_.push_back(op); });
  for (const auto v : map_.ids()) map_[v] = v;
}

std::optional<uint64_t> Rewriter::constant(ValueId v) const {
  const OpId op = def(v);
  if (op == none || p_.op(op).code != Opcode::Const) return std::nullopt;
  return p_.op(op).attr;
}

void Rewriter::replace(ValueId from, ValueId to) {
  from = resolve(from);
  to = resolve(to);
  if (from == to) return;
  assert(p_.type(from) == p_.type(to));
  map_[from] = to;
  changed_ = true;
}

ValueId Rewriter::insert(OpId before, Opcode code, Type type, std::span<const ValueId> operands,
                         Type result, uint64_t attr) {
  IrBuilder b(p_);
  b.before(before);
  const OpId op = b.add(code, type, operands, {&result, 1}, attr);
  gone_.resize(p_.ops.size(), false);
  while (map_.size() < p_.values.size()) map_.push_back(map_.next_id());
  changed_ = true;
  return p_.result(op);
}

ValueId Rewriter::insert_constant(OpId before, Type type, uint64_t bits) {
  return insert(before, Opcode::Const, type, {}, type, bits);
}

/// Marks the op and all ops in it.
void Rewriter::forget(OpId op) {
  gone_[op] = true;
  for (uint32_t b = 0; b < p_.op(op).n_blocks; ++b)
    walk(p_, p_.op(op).first_block + b, [&](OpId inner) { gone_[inner] = true; });
}

void Rewriter::remove(OpId op) {
  forget(op);
  p_.unlink(op);
  changed_ = true;
}

void Rewriter::remove_after(OpId op) {
  while (p_.op(op).next != none) remove(p_.op(op).next);
}

void Rewriter::dissolve(OpId op, uint32_t block) {
  const BlockId inner = p_.op(op).first_block + block;
  OpId last = none;
  for (OpId at = p_.blocks[inner].first; at != none;) {
    const OpId next = p_.op(at).next;
    p_.unlink(at);
    p_.insert_before(op, at);
    last = at;
    at = next;
  }
  assert(last != none);
  if (p_.op(last).code == Opcode::Yield) {
    for (uint32_t i = 0; i < p_.op(op).results.count; ++i)
      replace(p_.result(op, i), p_.operand(last, i));
    remove(last);
    remove(op);
  } else {
    remove_after(last);  // `op` and the ops after it
  }
  changed_ = true;
}

bool Rewriter::finish() {
  if (!changed_) return false;
  replace_values(p_, map_);
  compact(p_);
  return true;
}

}  // namespace vyre::opt
