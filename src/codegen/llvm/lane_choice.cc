#include "codegen/llvm/lane_choice.h"

#include <algorithm>

#include "codegen/llvm/isa.h"
#include "codegen/llvm/lane_strides.h"
#include "codegen/llvm/likely_strides.h"
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
  walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId) {
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

}  // namespace

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

}  // namespace vyre::emit_llvm
