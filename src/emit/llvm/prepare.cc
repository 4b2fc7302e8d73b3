#include "emit/llvm/prepare.h"

#include <algorithm>

#include "emit/llvm/divergence.h"
#include "emit/llvm/interchange.h"
#include "emit/llvm/isa.h"
#include "ir/expand_functions.h"
#include "plan/structure_exits.h"

namespace vyre::emit_llvm {
namespace {

/// Locations become op ids: every pass keeps them, and nothing here reads places.
void number_ops(Program& p) {
  p.locations.assign(p.ops.size(), {});
  for (OpId i = 0; i < p.ops.size(); ++i) {
    p.locations[i].line = i;
    p.ops[i].loc = i;
  }
  p.loc = none;
}

bool observes_subgroup(const Program& p) {
  bool found = false;
  walk(p, [&](OpId op) {
    const Opcode code = p.op(op).code;
    found |= code == Opcode::LaneId || code == Opcode::SubgroupSize ||
             info(code).effect == Effect::Convergent;
  });
  return found;
}

/// Do most accesses go to narrow elements? Then more lanes fit a register.
bool is_narrow(const Program& p) {
  uint64_t narrow = 0, all = 0, depth = 0;
  walk_blocks(p, 0, [&](Visit what, uint32_t id) {
    if (what != Visit::Op) {
      const OpId owner = p.blocks[id].parent;
      if (owner != none && is_loop(p.op(owner).code)) depth += what == Visit::EnterBlock ? 1 : -1;
      return;
    }
    const Effect effect = info(p.op(id).code).effect;
    if (effect != Effect::Read && effect != Effect::Write && effect != Effect::Atomic) return;
    const uint64_t weight = uint64_t{1} << std::min<uint64_t>(4 * depth, 32);  // loops run 16 times
    all += weight;
    if (size_of(p.buffer_of(id).element) <= 2) narrow += weight;
  });
  return narrow * 2 >= all && narrow > 0;
}

/// Two registers of 32-bit lanes, so that one's latency hides behind the other and what is scalar
/// is shared by more; four where the data is narrow. Fewer if a subgroup would then be more than a
/// row of the workgroup: ids of rows and columns would no longer be plain.
uint32_t choose_lanes(const Program& p, const EmitOptions& options, uint32_t workgroup) {
  if (p.subgroup != 0) return p.subgroup;
  if (options.subgroup_size != 0) return options.subgroup_size;
  const uint32_t natural = vector_bytes(options.isa) / 4;
  if (observes_subgroup(p)) return natural;  // what the device says it has
  uint32_t lanes = natural * (is_narrow(p) ? 4 : 2);
  const bool one_row = p.workgroup[1] * p.workgroup[2] == 1;
  while (lanes > natural && !one_row && p.workgroup[0] % lanes != 0) lanes /= 2;
  while (lanes > 1 && lanes / 2 >= workgroup) lanes /= 2;
  return lanes;
}

/// Workgroups of several rows that only stream: one after the other would go over few elements of
/// each row and come back for the next ones. Abreast they go along whole rows.
bool goes_by_rows(const Program& p) {
  if (p.workgroup[1] * p.workgroup[2] == 1) return false;
  for (const Buffer& b : p.buffers)
    if (b.role == Role::Shared || b.role == Role::Private) return false;
  bool streams = false, loops = false;
  walk(p, [&](OpId op) {
    const Effect effect = info(p.op(op).code).effect;
    streams = streams || effect == Effect::Read || effect == Effect::Write;
    loops = loops || is_loop(p.op(op).code);
  });
  return streams && !loops;
}

bool waits(const Program& p) {
  bool found = false;
  walk(p, [&](OpId op) { found |= plan::is_sync(p, op, Scope::Workgroup); });
  return found;
}

}  // namespace

Prepared prepare(const Program& program, const EmitOptions& options) {
  Prepared r;
  r.program = program;
  Program& p = r.program;
  number_ops(p);
  expand_functions(p);
  r.workgroup = std::max(1u, p.workgroup[0] * p.workgroup[1] * p.workgroup[2]);
  r.lanes = choose_lanes(p, options, r.workgroup);
  r.subgroups = (r.workgroup + r.lanes - 1) / r.lanes;
  r.rows = p.workgroup[0] % r.lanes == 0 || p.workgroup[1] * p.workgroup[2] == 1;
  interchange_strided_loops(r);
  r.phased = r.subgroups > 1 && waits(p);
  r.abreast = !r.phased && r.subgroups > 1 && r.rows && goes_by_rows(p);
  if (r.phased) {
    p = plan::structure_exits(p, Scope::Workgroup);
    r.holds_barrier = plan::find_split_ops(p, Scope::Workgroup);
  }
  r.original.resize(p.ops.size());
  for (OpId i = 0; i < p.ops.size(); ++i)
    r.original[i] = p.ops[i].loc == none ? 0 : p.locations[p.ops[i].loc].line;
  r.uniformity = analyze_uniformity(p, {.rows = r.rows, .lockstep = true});
  r.uses = count_uses(p);
  find_divergence(r);
  return r;
}

}  // namespace vyre::emit_llvm
