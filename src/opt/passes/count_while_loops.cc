#include "opt/passes/count_while_loops.h"

#include <algorithm>

#include "ir/constant_trips.h"
#include "ir/ir_builder.h"
#include "ir/while_to_for.h"
#include "opt/device_costs.h"

namespace vyre::opt {
namespace {

/// `i < n`, the test of a loop.
struct Bound {
  OpId test = none;
  uint32_t carried = 0;  // which carried value is i
  ValueId limit = none;  // n
};

struct State {
  Program& p;
  PassContext& context;
  std::vector<std::pair<ValueId, ValueId>> replaced;
  IdMap<OpId, OpId> loop_of;  // by op: the loop that inside() walked last

  State(Program& program, PassContext& c) : p(program), context(c), loop_of(p.ops.size()) {}

  bool is_inside(ValueId v, OpId loop) const {
    const Value& value = p.values[v];
    const OpId owner = value.def != none ? value.def : p.blocks[value.block].parent;
    return owner != none && (owner == loop || loop_of[owner] == loop);
  }

  /// A constant, scalar, length or id: the same wherever it is computed.
  bool needs_nothing(ValueId v) const {
    const OpId def = p.values[v].def;
    return def != none && info(p.op(def).code).effect == Effect::Pure &&
           p.op(def).operands.count == 0;
  }

  bool is_one(ValueId v) const { return constant_bits(p, v) == 1; }

  bool counts_by_one(ValueId next, ValueId i) const {
    const OpId add = p.values[next].def;
    if (add == none || p.op(add).code != Opcode::Add) return false;
    const ValueId a = p.operand(add, 0), b = p.operand(add, 1);
    return (a == i && is_one(b)) || (b == i && is_one(a));
  }

  /// Whether the ops of the test have no effects, and the body falls through without `continue`.
  bool has_form(OpId loop) {
    const BlockId head = p.op(loop).first_block, body = head + 1;
    if (p.op(p.blocks[head].last).code != Opcode::Test) return false;
    if (p.op(p.blocks[body].last).code != Opcode::Yield) return false;
    bool fits = true;
    walk(p, head, [&](OpId op) {
      loop_of[op] = loop;
      const Effect effect = info(p.op(op).code).effect;
      const Opcode code = p.op(op).code;
      fits &= effect == Effect::Pure || effect == Effect::Read || code == Opcode::If ||
              code == Opcode::Yield || code == Opcode::Test;
    });
    uint32_t loops = 0;  // around the op, inside of this one
    walk_blocks(p, body, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op) {
        loop_of[op] = loop;
        const Opcode code = p.op(op).code;
        const Effect effect = info(code).effect;
        fits &= effect != Effect::Sync && effect != Effect::Convergent &&
                code != Opcode::UniformLoad && (code != Opcode::Continue || loops > 0);
        return;
      }
      if (block == body || !is_loop(p.op(op).code)) return;
      if (what == Visit::EnterBlock)
        ++loops;
      else
        --loops;
    });
    return fits;
  }

  /// True if the test compares a carried value that counts by one with a number from outside.
  bool find_bound(OpId loop, Bound& found) const {
    const OpId test = p.values[p.operand(p.blocks[p.op(loop).first_block].last, 0)].def;
    if (test == none || loop_of[test] != loop) return false;
    const Opcode code = p.op(test).code;
    if (code != Opcode::Lt && code != Opcode::Gt) return false;
    const ValueId i = p.operand(test, code == Opcode::Gt), n = p.operand(test, code == Opcode::Lt);
    if (!is_integer(p.type(i)) || (is_inside(n, loop) && !needs_nothing(n))) return false;
    const BlockId head = p.op(loop).first_block;
    const auto args = p.args(head);
    const auto at = std::find(args.begin(), args.end(), i);
    if (at == args.end()) return false;
    found = {test, uint32_t(at - args.begin()), n};
    return counts_by_one(p.operand(p.blocks[head + 1].last, found.carried), i);
  }

  void convert(OpId loop, const Bound& bound) {
    const BlockId head = p.op(loop).first_block;
    const ValueId i = p.args(head)[bound.carried];
    const Type t = p.type(i);
    IrBuilder b(p);
    b.before(loop);
    ValueId limit = bound.limit;
    if (is_inside(limit, loop)) {
      const Op def = p.op(p.values[limit].def);
      limit = b.op(def.code, def.type, {}, def.attr);
    }
    std::vector<ValueId> operands = {p.operand(loop, bound.carried), limit, b.constant(t, 1)};
    // Inside the loop the bound holds.
    b.next = p.blocks[head].first;
    replaced.emplace_back(p.result(bound.test), b.boolean(true));
    for (const ValueId v : p.operands(loop)) operands.push_back(v);
    while_to_for(p, loop, t);
    p.op(loop).operands = p.add_list(operands);
    replaced.emplace_back(i, p.args(head)[0]);
  }
};

}  // namespace

Result<bool> count_while_loops(Program& program, PassContext& context) {
  State s(program, context);
  std::vector<OpId> loops;
  walk(program, [&](OpId op) {
    if (program.op(op).code == Opcode::While) loops.push_back(op);
  });
  context.nothing_to_do = loops.empty();
  const DeviceCosts* const costs = context.target.costs;
  if (!loops.empty() && costs && !costs->counts_loops) {
    context.refuse(loops[0], "a `while` is as fast as a `for` on this device");
    return false;
  }
  for (const OpId loop : loops) {
    Bound bound;
    if (!s.has_form(loop))
      context.refuse(loop, "its test has effects, or its body synchronizes or continues");
    else if (!s.find_bound(loop, bound))
      context.refuse(loop, "its test is not `i < n` with an i that counts by 1");
    else
      s.convert(loop, bound);
  }
  if (s.replaced.empty()) return false;
  IdMap<ValueId, ValueId> map = identity(program.values);
  for (const auto& [from, to] : s.replaced) map[from] = to;
  replace_values(program, map);
  compact(program);
  return true;
}

}  // namespace vyre::opt
