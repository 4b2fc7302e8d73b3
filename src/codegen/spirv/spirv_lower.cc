#include "codegen/spirv/spirv_lower.h"

#include "codegen/common/origins.h"
#include "ir/constant_trips.h"
#include "ir/expand_functions.h"
#include "legalize/expand.h"

namespace vyre::emit_spirv {
namespace {

/// The errors of legalization with the source locations of `program`, which marking has replaced.
Diagnostics find_missing_features(Program program, const EmitOptions& options) {
  expand_functions(program);
  return emit_exact::expand(program, options.profile, options.subgroup_size).errors();
}

/// The device's compiler does not count the iterations of a loop that polls.
void poll_in_loops_with_hidden_starts(LoweredProgram& lowered, const EmitOptions& options) {
  walk(lowered.program, [&](OpId op) {
    if (hides_start(lowered.program, op, options)) lowered.polls[op] = 1;
  });
}

}  // namespace

bool hides_start(const Program& p, OpId loop, const EmitOptions& options) {
  if (!options.workarounds.hide_negative_starts || p.op(loop).code != Opcode::For) return false;
  const Type t = p.type(p.operand(loop, 0));
  const auto c = constant_bits(p, p.operand(loop, 0));
  return c && is_signed(t) && (*c >> (width_of(t) - 1) & 1);
}

Result<LoweredProgram> lower(const Program& program, const EmitOptions& options) {
  Program p = program;

  // Each op records its origin in `program`; later stages keep the record.
  mark_origins(p);

  // exp, log, sin, … become arithmetic.
  expand_functions(p);

  // Legalizes ops that the device lacks or computes wrongly: floats, then 64-bit integers, then bit
  // fields.
  Result<Program> legal =
      emit_exact::expand(p, options.profile, options.subgroup_size, options.functions);
  if (!legal) return find_missing_features(program, options);
  LoweredProgram lowered = {std::move(*legal), {}, {}};

  // Loops that may run for long become chunks, between which they poll the stop word.
  lowered.polls = options.stoppable ? divide_long_loops(lowered.program, {.whiles = options.unroll})
                                    : find_long_loops(lowered.program);
  poll_in_loops_with_hidden_starts(lowered, options);

  lowered.original = origins(lowered.program);
  return lowered;
}

}  // namespace vyre::emit_spirv
