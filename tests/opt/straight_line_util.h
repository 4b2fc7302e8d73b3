#pragma once

// Runs programs without control flow by the shared eval(), over many lanes at once. Scalars are
// inputs; values stored at constant indices are outputs.

#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/eval/eval.h"
#include "ir/program.h"

namespace vyre::opt {

using Lanes = std::vector<std::byte>;

template <class T>
Lanes lanes_of(std::span<const T> values) {
  Lanes lanes(values.size_bytes());
  std::memcpy(lanes.data(), values.data(), lanes.size());
  return lanes;
}

/// By index of the store. `inputs`: lanes by the scalar's name.
inline std::map<uint64_t, Lanes> run_straight(const Program& p, size_t lanes,
                                              const std::map<std::string, Lanes>& inputs) {
  const ExactFloats exact;
  IdMap<ValueId, Lanes> values(p.values.size());
  std::map<uint64_t, Lanes> stored;
  walk(p, [&](OpId op) {
    const Op& o = p.op(op);
    if (o.code == Opcode::Store) {
      const OpId index = p.values[p.operand(op, 0)].def;
      stored[p.op(index).attr] = values[p.operand(op, 1)];
      return;
    }
    if (o.code == Opcode::Return) return;
    const ValueId result = p.result(op);
    const size_t size = size_of(p.type(result));
    if (o.code == Opcode::Scalar) {
      values[result] = inputs.at(p.buffer_of(op).name);
      return;
    }
    Lanes& out = values[result];
    out.resize(lanes * size);
    if (o.code == Opcode::Const) {
      for (size_t l = 0; l < lanes; ++l) std::memcpy(&out[l * size], &o.attr, size);
      return;
    }
    const EvalFn fn = find_eval(o.code, o.type, p.type(p.operand(op, 0)));
    if (!fn) std::abort();
    const void* in[4] = {};
    for (uint32_t i = 0; i < o.operands.count; ++i) in[i] = values[p.operand(op, i)].data();
    fn(lanes, out.data(), in);
  });
  return stored;
}

}  // namespace vyre::opt
