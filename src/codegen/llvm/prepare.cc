#include "codegen/llvm/prepare.h"

#include <algorithm>

#include "codegen/common/origins.h"
#include "codegen/llvm/divergence.h"
#include "codegen/llvm/interchange.h"
#include "codegen/llvm/isa.h"
#include "codegen/llvm/lane_strides.h"
#include "codegen/llvm/likely_strides.h"
#include "ir/expand_functions.h"
#include "transform/long_loops.h"
#include "transform/structure_exits.h"

namespace vyre::emit_llvm {
namespace {

bool observes_subgroup(const Program& p) {
  bool found = false;
  walk(p, [&](OpId op) {
    const Opcode code = p.op(op).code;
    found |= code == Opcode::LaneId || code == Opcode::SubgroupSize ||
             info(code).effect == Effect::Convergent;
  });
  return found;
}

/// Calls fn(op, weight) for each access. The weight estimates how often it is executed: a loop
/// counts as 16 iterations.
template <class Fn>
void weigh_accesses(const Program& p, Fn&& fn) {
  uint64_t depth = 0;
  walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId block) {
    if (what != Visit::Op) {
      if (op != none && is_loop(p.op(op).code)) depth += what == Visit::EnterBlock ? 1 : -1;
      return;
    }
    const Effect effect = info(p.op(op).code).effect;
    if (effect == Effect::Read || effect == Effect::Write || effect == Effect::Atomic)
      fn(op, uint64_t{1} << std::min<uint64_t>(4 * depth, 32));
  });
}

/// True if most accesses are to narrow elements: more lanes fit a register.
bool is_narrow(const Program& p) {
  uint64_t narrow = 0, all = 0;
  weigh_accesses(p, [&](OpId op, uint64_t weight) {
    all += weight;
    if (size_of(p.buffer_of(op).element) <= 2) narrow += weight;
  });
  return narrow * 2 >= all && narrow > 0;
}

/// True if at least two fifths of the accesses are gathers. A gather costs time for all lanes,
/// active or not, however narrow the element is.
bool gathers_mostly(const Prepared& k) {
  const Shapes shapes(k);
  const LikelyStrides likely(k, shapes);
  uint64_t gathers = 0, all = 0;
  weigh_accesses(k.program, [&](OpId op, uint64_t weight) {
    all += weight;
    if (info(k.program.op(op).code).effect != Effect::Read) return;
    const auto stride = likely.stride(k.program.operand(op, 0));
    if (!stride || std::abs(*stride) > max_load_stride) gathers += weight;
  });
  return gathers * 5 >= all * 2 && gathers > 0;
}

/// The largest loop body that keeps its values in registers with four of them for each value.
constexpr uint32_t max_short_loop = 32;

struct LoopFacts {
  bool are_short = false;  // the innermost loops have few ops; those with barriers do not count
  bool access_memory = false;
};

LoopFacts facts_of_loops(const Program& p) {
  LoopFacts facts;
  bool is_any_long = false;
  walk(p, [&](OpId loop) {
    if (!is_loop(p.op(loop).code)) return;
    uint32_t ops = 0;
    bool counts = true, has_atomics = false;
    for (uint32_t i = 0; i < p.op(loop).n_blocks; ++i)
      walk(p, p.block(loop, i), [&](OpId op) {
        const Opcode code = p.op(op).code;
        const Effect effect = info(code).effect;
        ops += code != Opcode::Const;
        counts &= !is_loop(code) && !plan::is_sync(p, op, Scope::Workgroup);
        has_atomics |= effect == Effect::Atomic;
        facts.access_memory |= effect == Effect::Read || effect == Effect::Write;
      });
    facts.are_short |= counts;
    facts.access_memory |= has_atomics;
    is_any_long |= counts && (ops > max_short_loop || has_atomics);
  });
  facts.are_short &= !is_any_long;
  return facts;
}

/// Two registers of 32-bit lanes hide each other's latency and share scalars. Narrow data take
/// four, unless `gathers`, and so do short loops where there are 32 registers: each iteration waits
/// for the one before. A subgroup that would span several rows of the workgroup takes fewer, so
/// that ids of rows stay uniform, unless its loops access no memory.
uint32_t choose_lanes(const Program& p, const EmitOptions& options, uint32_t workgroup,
                      bool gathers) {
  if (p.subgroup != 0) return p.subgroup;
  if (options.subgroup_size != 0) return options.subgroup_size;
  const uint32_t natural = vector_bytes(options.isa) / 4;
  if (observes_subgroup(p)) return natural;  // the size that the device reports
  const LoopFacts loops = facts_of_loops(p);
  const bool narrow = is_narrow(p);
  const bool waits_for_itself = loops.are_short && vector_bytes(options.isa) == 64;
  uint32_t lanes = natural * ((narrow ? !gathers : waits_for_itself) ? 4 : 2);
  const bool one_row =
      p.workgroup[1] * p.workgroup[2] == 1 || (waits_for_itself && !loops.access_memory);
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

Prepared prepare_lanes(const Program& program, const EmitOptions& options, bool gathers) {
  Prepared r;
  r.program = program;
  Program& p = r.program;
  mark_origins(p);
  expand_functions(p);
  r.workgroup = std::max(1u, p.workgroup[0] * p.workgroup[1] * p.workgroup[2]);
  r.lanes = choose_lanes(p, options, r.workgroup, gathers);
  r.subgroups = (r.workgroup + r.lanes - 1) / r.lanes;
  r.rows = p.workgroup[0] % r.lanes == 0 || p.workgroup[1] * p.workgroup[2] == 1;
  interchange_strided_loops(r);
  r.phased = r.subgroups > 1 && waits(p);
  r.abreast = !r.phased && r.subgroups > 1 && r.rows && goes_by_rows(p);
  if (r.phased) p = plan::structure_exits(p, Scope::Workgroup);
  // A poll is a load of a cached word, which costs less than the flag of a `break`.
  r.polls = options.stoppable ? divide_long_loops(p, {.breaks = false}) : find_long_loops(p);
  if (r.phased) r.holds_barrier = plan::find_split_ops(p, Scope::Workgroup);
  r.original = origins(p);
  r.uniformity = analyze_uniformity(p, {.rows = r.rows, .lockstep = true});
  r.uses = count_uses(p);
  find_divergence(r);
  return r;
}

}  // namespace

Prepared prepare(const Program& program, const EmitOptions& options) {
  Prepared r = prepare_lanes(program, options, false);
  // The lanes decide which indices have strides, so access patterns are known only now.
  const bool chosen = program.subgroup == 0 && options.subgroup_size == 0;
  if (chosen && r.lanes > vector_bytes(options.isa) / 2 && gathers_mostly(r))
    r = prepare_lanes(program, options, true);
  return r;
}

}  // namespace vyre::emit_llvm
