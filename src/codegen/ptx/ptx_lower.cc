#include "codegen/ptx/ptx_lower.h"

#include "codegen/common/origins.h"
#include "ir/expand_functions.h"
#include "legalize/expand.h"

namespace vyre::emit_ptx {

LoweredProgram lower(const Program& program, const EmitOptions& options) {
  LoweredProgram lowered = {program, {}, {}};
  Program& p = lowered.program;

  // Each op records its origin in `program`; later stages keep the record.
  mark_origins(p);

  // exp, log, sin, … become arithmetic.
  expand_functions(p);

  // Integers: division, saturation, fields, and numbers of 8 and 16 bits.
  p = emit_exact::expand_integers(
      std::move(p),
      {.saturates_i32 = true, .rotates32 = true, .counts64 = true, .remainders = true});

  // Loops that may run for long become chunks, between which they poll the stop flag.
  lowered.polls = options.stoppable ? divide_long_loops(p, {.whiles = true}) : find_long_loops(p);

  lowered.original = origins(p);
  return lowered;
}

}  // namespace vyre::emit_ptx
