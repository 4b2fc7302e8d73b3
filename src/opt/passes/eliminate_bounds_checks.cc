#include "opt/passes/eliminate_bounds_checks.h"

#include "opt/analysis/analysis_cache.h"
#include "opt/analysis/bounds.h"
#include "opt/passes/loop_versions.h"

namespace vyre::opt {
namespace {

bool is_plain_or_atomic(const Program& p, OpId op) {
  const Opcode code = p.op(op).code;
  return info(code).attribute == AttrKind::Memory && code != Opcode::UniformLoad;
}

/// Returns, by buffer, the largest number of elements that it can have. The specification refuses a
/// launch of a kernel with len(b) if b has 2^32 or more elements; a buffer that is never longer
/// than b then has fewer as well.
IdMap<BufferId, Wide> most_elements(const Program& p, const BufferCounts& counts) {
  constexpr Wide most_with_len = 0xffffffff;
  IdMap<BufferId, bool> asked(p.buffers.size(), false);
  walk(p, [&](OpId op) {
    if (p.op(op).code == Opcode::Len) asked[p.op(op).buffer()] = true;
  });
  IdMap<BufferId, Wide> most(p.buffers.size());
  for (const BufferId b : most.ids()) {
    most[b] = counts.of(b).hi;
    for (const BufferId a : most.ids())
      if (most[b] > most_with_len && asked[a] && (a == b || counts.count_is_at_most(b, 0, a)))
        most[b] = most_with_len;
  }
  return most;
}

}  // namespace

Result<bool> eliminate_bounds_checks(Program& program, PassContext& context) {
  const Ranges& ranges = context.facts.ranges();
  const BoundsFacts bounds(program, ranges);
  const IdMap<BufferId, Wide> most = most_elements(program, ranges.rules().counts());
  std::vector<OpId> proved;
  bool found = false;
  walk(program, [&](OpId op) {
    if (!is_plain_or_atomic(program, op)) return;
    found = true;
    const MemoryRef m = program.memory(op);
    if (m.in_bounds) return;
    if (most[m.buffer] > greatest(program.type(program.operand(op, 0))))
      return context.refuse(op, "the buffer may have more elements than the index can count");
    if (!bounds.proves_access(op))
      return context.refuse(op, "the index is not proved to be in bounds");
    proved.push_back(op);
  });
  context.nothing_to_do = !found;
  for (const OpId op : proved) {
    MemoryRef m = program.memory(op);
    m.in_bounds = true;
    program.op(op).attr = m.pack();
  }
  // Marks change no values: analyses of the program stay valid.
  const bool versioned = found && version_loops(program, context, most);
  return versioned || !proved.empty();
}

}  // namespace vyre::opt
