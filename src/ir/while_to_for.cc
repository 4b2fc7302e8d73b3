#include "ir/while_to_for.h"

namespace vyre {

BlockId add_branch(Program& p, BlockId block, ValueId condition, LocId loc) {
  const OpId branch = p.add_op(Opcode::If, Type::Void, {&condition, 1}, {}, 0, loc);
  p.append(block, branch);
  const BlockId then = p.add_block(branch);
  p.add_block(branch);
  p.op(branch).n_blocks = 2;
  p.op(branch).first_block = then;
  return then;
}

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
  const BlockId then = add_branch(p, head, condition, loc);
  p.append(then, p.add_op(Opcode::Yield, Type::Void, {}, {}, 0, loc));
  p.append(then + 1, p.add_op(Opcode::Break, Type::Void, carried, {}, 0, loc));
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
