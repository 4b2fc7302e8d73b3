#include "plan/fusion/call_work.h"

#include <algorithm>

namespace vyre::plan {

void CallWork::add_access(const AccessWork& access) {
  const auto same = std::find_if(accesses.begin(), accesses.end(), [&](const AccessWork& a) {
    return a.buffer == access.buffer && a.stores == access.stores && a.slope == access.slope;
  });
  if (same == accesses.end())
    accesses.push_back(access);
  else
    same->times += access.times;
}

namespace {

bool is_constant(const Program& p, OpId op, uint32_t operand) {
  const OpId def = p.values[p.operand(op, operand)].def;
  return def != none && p.op(def).code == Opcode::Const;
}

}  // namespace

double operation_weight(const Program& p, OpId op) {
  const Op& o = p.op(op);
  const bool is_wide = o.type == Type::U64 || o.type == Type::I64 || o.type == Type::F64;
  const double width = is_wide ? 2 : 1;
  switch (o.code) {
    case Opcode::Const:
    case Opcode::Region:
    case Opcode::Yield:
    case Opcode::Return:
    case Opcode::Bitcast: return 0;
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::CeilDiv:
      if (!is_integer(o.type)) return 4 * width;
      return (is_constant(p, op, 1) ? 5 : 12) * width;
    case Opcode::Sqrt: return 5 * width;
    case Opcode::Rsqrt: return 9 * width;
    case Opcode::Exp:
    case Opcode::Exp2:
    case Opcode::Log2: return 20;
    case Opcode::Log: return 25;
    case Opcode::Sin:
    case Opcode::Cos: return 40;
    case Opcode::Tan:
    case Opcode::Tanh: return 45;
    case Opcode::Atan2: return 40;
    case Opcode::Pow: return 100;
    default: return width;
  }
}

}  // namespace vyre::plan
