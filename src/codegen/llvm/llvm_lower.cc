#include "codegen/llvm/llvm_lower.h"

#include <algorithm>

#include "codegen/common/origins.h"
#include "codegen/llvm/divergence.h"
#include "codegen/llvm/interchange.h"
#include "codegen/llvm/isa.h"
#include "codegen/llvm/lane_choice.h"
#include "ir/expand_functions.h"
#include "transform/long_loops.h"
#include "transform/structure_exits.h"

namespace vyre::emit_llvm {
namespace {

/// True for workgroups of several rows that only stream. One after the other, they would access few
/// elements of each row and return for the next ones; abreast, they access whole rows.
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

Prepared lower_for_lanes(const Program& program, const EmitOptions& options, bool gathers) {
  Prepared r;
  r.program = program;
  Program& p = r.program;

  // Each op records its origin in `program`; later stages keep the record.
  mark_origins(p);

  // exp, log, sin, … become arithmetic.
  expand_functions(p);

  // The subgroup size, and how subgroups lie in the workgroup.
  r.workgroup = std::max(1u, p.workgroup[0] * p.workgroup[1] * p.workgroup[2]);
  r.lanes = choose_lanes(p, options, r.workgroup, gathers);
  r.subgroups = (r.workgroup + r.lanes - 1) / r.lanes;
  r.rows = p.workgroup[0] % r.lanes == 0 || p.workgroup[1] * p.workgroup[2] == 1;

  // Loops that stride over memory get barriers: all subgroups run an iteration before the next.
  interchange_strided_loops(r);

  // Workgroup barriers get structured form, so that the kernel can be divided at them.
  r.phased = r.subgroups > 1 && waits(p);
  r.abreast = !r.phased && r.subgroups > 1 && r.rows && goes_by_rows(p);
  if (r.phased) p = plan::structure_exits(p, Scope::Workgroup);

  // Loops that may run for long become chunks, between which they poll the stop flag. A poll is a
  // load of a cached word, which costs less than the flag of a `break`.
  r.polls = options.stoppable ? divide_long_loops(p, {.breaks = false}) : find_long_loops(p);

  // The program is final: analyses.
  if (r.phased) r.holds_barrier = plan::find_split_ops(p, Scope::Workgroup);
  r.original = origins(p);
  r.uniformity = analyze_uniformity(p, {.rows = r.rows, .lockstep = true});
  r.uses = count_uses(p);
  find_divergence(r);
  return r;
}

}  // namespace

Prepared lower(const Program& program, const EmitOptions& options) {
  Prepared r = lower_for_lanes(program, options, false);
  // The lanes decide which indices have strides, so access patterns are known only now.
  const bool chosen = program.subgroup == 0 && options.subgroup_size == 0;
  if (chosen && r.lanes > vector_bytes(options.isa) / 2 && gathers_mostly(r))
    r = lower_for_lanes(program, options, true);
  return r;
}

}  // namespace vyre::emit_llvm
