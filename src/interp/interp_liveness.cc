#include "interp/interp_liveness.h"

namespace vyre::interp {

Liveness find_liveness(const Program& p) {
  IdMap<ValueId, uint32_t> depth(p.values.size(), 0);  // of the block that defines a value
  IdMap<ValueId, OpId> last(p.values.size(), none);
  std::vector<OpId> path;  // the op being visited at each depth, from the kernel's body inwards
  walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId block) {
    if (what == Visit::EnterBlock) {
      const uint32_t d = static_cast<uint32_t>(path.size());
      for (const ValueId v : p.args(block)) depth[v] = d;
      if (op != none && p.op(op).code == Opcode::For) last[p.args(block)[0]] = op;
      path.push_back(none);
    } else if (what == Visit::LeaveBlock) {
      path.pop_back();
    } else {
      path.back() = op;
      for (const ValueId v : p.operands(op))
        if (p.values[v].def != none) last[v] = path[depth[v]];
      for (const ValueId v : p.results(op)) {
        depth[v] = static_cast<uint32_t>(path.size() - 1);
        last[v] = op;
      }
    }
  });
  Liveness live;
  live.first.assign(p.ops.size(), none);
  live.next.assign(p.values.size(), none);
  for (const ValueId v : p.values.ids()) {
    if (last[v] == none) continue;
    live.next[v] = live.first[last[v]];
    live.first[last[v]] = v;
  }
  return live;
}

}  // namespace vyre::interp
