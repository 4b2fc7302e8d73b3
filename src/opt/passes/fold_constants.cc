#include "opt/passes/fold_constants.h"

#include "ir/eval/eval.h"

namespace vyre::opt {
namespace {

struct State {
  Program& p;
  Rewriter r;
  ExactFloats exact;

  explicit State(Program& program) : p(program), r(program) {}

  void fold_pure(OpId op) {
    const auto value = constant_result(p, r, op);
    if (!value) return;
    const ValueId result = p.result(op);
    r.replace(result, r.insert_constant(op, p.type(result), *value));
    r.remove(op);
  }

  void fold_select(OpId op) {
    if (const auto c = r.constant(p.operand(op, 0))) {
      r.replace(p.result(op), p.operand(op, *c ? 1 : 2));
      r.remove(op);
    } else {
      fold_pure(op);
    }
  }

  void fold_if(OpId op) {
    if (const auto c = r.constant(p.operand(op, 0))) r.dissolve(op, *c ? 0 : 1);
  }

  /// If lo ≥ hi or step ≤ 0, the results are the initial carried values.
  void fold_for(OpId op) {
    const auto lo = r.constant(p.operand(op, 0)), hi = r.constant(p.operand(op, 1)),
               step = r.constant(p.operand(op, 2));
    const Type t = p.type(p.operand(op, 0));
    const auto holds = [&](Opcode code, uint64_t a, uint64_t b) {
      const uint64_t in[2] = {a, b};
      return eval_bits(code, t, t, in, 2) != 0;
    };
    const bool none_left = lo && hi && !holds(Opcode::Lt, *lo, *hi);
    const bool no_step = step && !holds(Opcode::Gt, *step, 0);
    if (!none_left && !no_step) return;
    leave_as_it_came(op, 3);
  }

  void leave_as_it_came(OpId op, uint32_t first) {
    for (uint32_t i = 0; i < p.op(op).results.count; ++i)
      r.replace(p.result(op, i), p.operand(op, first + i));
    r.remove(op);
  }
};

}  // namespace

std::optional<uint64_t> constant_result(const Program& p, const Rewriter& r, OpId op) {
  const Op& o = p.op(op);
  const auto operands = p.operands(op);
  if (!is_pure(o.code) || operands.empty() || operands.size() > 4) return std::nullopt;
  uint64_t bits[4];
  for (uint32_t i = 0; i < operands.size(); ++i) {
    const auto c = r.constant(operands[i]);
    if (!c) return std::nullopt;
    bits[i] = *c;
  }
  const Type source = p.type(operands[0]);
  if (!find_eval(o.code, o.type, source)) return std::nullopt;
  return eval_bits(o.code, o.type, source, bits, operands.size());
}

Result<bool> fold_constants(Program& program, PassContext&) {
  State s(program);
  for (const OpId op : s.r.ops()) {
    WorkDeadline::poll_current();
    if (!s.r.is_there(op)) continue;
    const Opcode code = program.op(op).code;
    if (code == Opcode::Select)
      s.fold_select(op);
    else if (code == Opcode::If)
      s.fold_if(op);
    else if (code == Opcode::For)
      s.fold_for(op);
    else if (is_pure(code))
      s.fold_pure(op);
  }
  return s.r.finish();
}

}  // namespace vyre::opt
