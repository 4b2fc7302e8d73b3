#include "interp/interp_liveness.h"

namespace vyre::interp {

Liveness find_liveness(const Program& p) {
  std::vector<uint32_t> depth(p.values.size(), 0);  // of the block that defines a value
  std::vector<OpId> last(p.values.size(), none);
  std::vector<OpId> path;  // the op being visited at each depth, from the kernel's body inwards
  walk_blocks(p, 0, [&](Visit what, uint32_t id) {
    if (what == Visit::EnterBlock) {
      const OpId parent = p.blocks[id].parent;
      const uint32_t d = static_cast<uint32_t>(path.size());
      for (const ValueId v : p.args(id)) depth[v] = d;
      if (parent != none && p.op(parent).code == Opcode::For) last[p.args(id)[0]] = parent;
      path.push_back(none);
    } else if (what == Visit::LeaveBlock) {
      path.pop_back();
    } else {
      path.back() = id;
      for (const ValueId v : p.operands(id))
        if (p.values[v].def != none) last[v] = path[depth[v]];
      for (const ValueId v : p.results(id)) {
        depth[v] = static_cast<uint32_t>(path.size() - 1);
        last[v] = id;
      }
    }
  });
  Liveness live;
  live.first.assign(p.ops.size(), none);
  live.next.assign(p.values.size(), none);
  for (ValueId v = 0; v < p.values.size(); ++v) {
    if (last[v] == none) continue;
    live.next[v] = live.first[last[v]];
    live.first[last[v]] = v;
  }
  return live;
}

}  // namespace vyre::interp
