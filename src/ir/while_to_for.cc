#include "ir/while_to_for.h"

#include "ir/ir_builder.h"

namespace vyre {

void while_to_for(Program& p, OpId loop, Type index) {
  const LocId loc = p.op(loop).loc;
  const BlockId head = p.op(loop).first_block, body = head + 1;
  const std::vector<ValueId> carried(p.args(head).begin(), p.args(head).end());
  p.blocks[head].args = {};
  std::vector<ValueId> arguments = {p.add_argument(head, index)};
  arguments.insert(arguments.end(), carried.begin(), carried.end());
  for (uint32_t i = 1; i < arguments.size(); ++i) p.values[arguments[i]].index = i;
  p.blocks[head].args = p.add_list(arguments);
  const OpId test = p.blocks[head].last;
  const ValueId condition = p.operand(test, 0);
  p.unlink(test);
  IrBuilder b(p);
  b.at_end(head);
  b.loc = loc;
  const BlockId then = p.block(b.open(Opcode::If, {&condition, 1}, 2), 0);
  b.in(then, [&] { b.exit(Opcode::Yield); });
  b.in(then + 1, [&] { b.exit(Opcode::Break, carried); });
  for (OpId at = p.blocks[body].first; at != none;) {
    const OpId next = p.op(at).next;
    p.unlink(at);
    p.append(head, at);
    at = next;
  }
  p.op(loop).code = Opcode::For;
  p.op(loop).n_blocks = 1;
}

}  // namespace vyre
