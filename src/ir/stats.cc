#include "ir/stats.h"

#include <algorithm>

#include "diagnostics/budget.h"
#include "ir/graph_walk.h"

namespace vyre {

ProgramStats stats(const Program& p) {
  ProgramStats s;
  uint64_t depth = 0;
  walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId) {
    if (what == Visit::EnterBlock) s.max_nesting = std::max(s.max_nesting, depth++);
    if (what == Visit::LeaveBlock) --depth;
    if (what != Visit::Op) return;
    const Op& o = p.op(op);
    const Effect e = info(o.code).effect;
    ++s.ops;
    s.memory_ops += e == Effect::Read || e == Effect::Write || o.code == Opcode::UniformLoad;
    s.atomics += e == Effect::Atomic;
    s.control_ops += e == Effect::Control;
    s.top_level_regions += o.code == Opcode::Region && o.parent == body_block;
  });
  for (const Buffer& b : p.buffers) {
    uint64_t count = 0;
    if (!p.formulas.is_constant(b.count, &count)) {
      s.runtime_sized |= is_parameter(b.role) && b.role != Role::Scalar;
      continue;
    }
    // Saturates below 2^58: a kernel may have 64 arrays of 2^64-1 elements.
    const uint64_t bytes =
        std::min(count, (uint64_t{1} << 54) / size_of(b.element)) * size_of(b.element);
    if (b.role == Role::Shared)
      s.shared_bytes += bytes;
    else if (b.role == Role::Private)
      s.private_bytes += bytes;
    else if (b.role == Role::Table)
      s.table_bytes += bytes;
    else
      s.static_device_bytes += bytes;
  }
  s.ir_bytes = p.ops.size() * sizeof(Op) + p.values.size() * sizeof(Value) +
               p.blocks.size() * sizeof(Block) + p.ids.size() * sizeof(uint32_t) +
               p.locations.size() * sizeof(Location) + p.table_bytes.size();
  return s;
}

uint64_t memory_of(const Program& p) {
  return sizeof(Program) + bytes_of_vector(p.ops) + bytes_of_vector(p.values) +
         bytes_of_vector(p.blocks) + bytes_of_vector(p.ids) + bytes_of_vector(p.locations) +
         bytes_of_vector(p.table_bytes) + bytes_of_vector(p.buffers) +
         bytes_of_vector(p.formulas.nodes);
}

uint64_t memory_of(const Graph& g, uint64_t num_nodes) {
  constexpr uint64_t lists = 144;  // of a node: its links, arguments, grid, the name of the file
  return bytes_of_vector(g.buffers) + bytes_of_vector(g.formulas.nodes) +
         num_nodes * (sizeof(GraphNode) + lists);
}

uint64_t memory_of(const Graph& g) {
  uint64_t num_nodes = 0;
  for_each_node(g.nodes, [&](const GraphNode&) { ++num_nodes; });
  return memory_of(g, num_nodes);
}

}  // namespace vyre
