#include "reduce/rewrite.h"

#include <bit>
#include <cmath>

namespace vyre::reduce {

uint64_t one(Type type) {
  if (type == Type::F32) return std::bit_cast<uint32_t>(1.0f);
  if (type == Type::F64) return std::bit_cast<uint64_t>(1.0);
  return 1;
}

uint64_t half(Type type, uint64_t bits) {
  const auto of = [](double v) { return v == std::trunc(v) ? std::trunc(v / 2) : std::trunc(v); };
  if (type == Type::F32)
    return std::bit_cast<uint32_t>(float(of(std::bit_cast<float>(uint32_t(bits)))));
  if (type == Type::F64) return std::bit_cast<uint64_t>(of(std::bit_cast<double>(bits)));
  if (!is_integer(type)) return bits;
  if (!is_signed(type)) return bits / 2;
  const uint32_t unused = 64 - width_of(type);
  const auto v = static_cast<int64_t>(bits << unused) >> unused;
  return static_cast<uint64_t>(v / 2) & low_mask(width_of(type));
}

void replace_results(Program& p, opt::Rewriter& r, OpId op, bool by_one) {
  const auto results = p.results(op);
  const std::vector<ValueId> list(results.begin(), results.end());
  for (const ValueId v : list) {
    const Type type = p.type(v);
    r.replace(v, r.insert_constant(op, type, by_one ? one(type) : 0));
  }
}

std::vector<OpId> own_exits(const Program& p, OpId loop) {
  std::vector<OpId> exits;
  uint32_t inner = 0;  // open inner loops
  const Op& o = p.op(loop);
  for (uint32_t b = 0; b < o.n_blocks; ++b)
    walk_blocks(p, o.first_block + b, [&](Visit what, OpId op, BlockId) {
      if (what == Visit::Op) {
        const Opcode code = p.op(op).code;
        if (inner == 0 && (code == Opcode::Break || code == Opcode::Continue)) exits.push_back(op);
        return;
      }
      const OpId parent = op;
      if (parent == loop || parent == none || !is_loop(p.op(parent).code)) return;
      if (what == Visit::EnterBlock)
        ++inner;
      else
        --inner;
    });
  return exits;
}

void make_yield(Program& p, opt::Rewriter& r, OpId exit) {
  const OpId parent = p.blocks[p.op(exit).parent].parent;
  const Op& around = p.op(parent);
  std::vector<ValueId> values;
  if (is_loop(around.code)) {
    const uint32_t counters = around.code == Opcode::For ? 1 : 0;
    const Opcode code = p.op(exit).code;
    const auto list = code == Opcode::Break || code == Opcode::Continue
                          ? p.operands(exit)
                          : p.args(around.first_block).subspan(counters);
    values.assign(list.begin(), list.end());
  } else {
    const auto results = p.results(parent);
    const std::vector<ValueId> wanted(results.begin(), results.end());
    for (const ValueId v : wanted) values.push_back(r.insert_constant(exit, p.type(v), 0));
  }
  const Range operands = p.add_list(values);
  Op& o = p.op(exit);
  o.code = Opcode::Yield;
  o.type = Type::Void;
  o.attr = 0;
  o.operands = operands;
  r.mark_changed();
}

}  // namespace vyre::reduce
