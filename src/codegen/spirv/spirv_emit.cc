#include "codegen/spirv/spirv_emit.h"

#include <fmt/format.h>

#include <bit>

#include "codegen/spirv/spirv_emitter.h"
#include "codegen/spirv/spirv_lower.h"
#include "support/big_stack.h"

namespace vyre::emit_spirv {
namespace {

constexpr uint32_t deepest_on_own_stack = 100;

/// Finds subgroup ops in divergent control flow where lanes synchronize by workgroup barriers,
/// which need control flow that is uniform over the workgroup.
std::optional<Diagnostic> find_lonely_subgroup(const LoweredProgram& lowered,
                                               const SpirvAnalysis& f, const Program& given) {
  if (f.lanes_by != Lanes::Workgroup || !f.uniformity) return std::nullopt;
  OpId found = none;
  walk(lowered.program, [&](OpId op) {
    const Op& o = lowered.program.op(op);
    const bool meets = info(o.code).effect == Effect::Convergent ||
                       (o.code == Opcode::Barrier && Scope(o.attr) == Scope::Subgroup);
    if (meets && f.flow(op) < Uniformity::Workgroup && found == none) found = op;
  });
  if (found == none) return std::nullopt;
  return diagnose(
             Code::MissingFeature, given.place(given.op(lowered.original[found]).loc),
             fmt::format("kernel `{}` needs subgroups of {} in flow that differs between them; "
                         "this device has none so large",
                         given.name, f.lanes))
      .with_fix("use another device, or a smaller `subgroup`");
}

}  // namespace

Result<Kernel> emit(const Program& program, const EmitOptions& options) {
  const uint32_t wanted =
      options.subgroup_size ? options.subgroup_size : options.profile.subgroup_size;
  const uint32_t size = program.subgroup ? program.subgroup : wanted;
  if (size == 0 || size > 64 || !std::has_single_bit(size))
    return diagnose(Code::BadSubgroupSize, {},
                    fmt::format("a subgroup size of {} is not possible", size))
        .with_fix("use 1, 2, 4, 8, 16, 32 or 64");
  const Result<LoweredProgram> lowered = lower(program, options);
  if (!lowered) return lowered.errors();
  const SpirvAnalysis analysis = analyze(*lowered, program, options);
  if (analysis.waits_for_grid)
    return diagnose(Code::KernelTooLarge, program.place(program.loc),
                    fmt::format("kernel `{}` has grid barriers", program.name))
        .with_fix("split it at its grid barriers");
  if (const auto problem = find_lonely_subgroup(*lowered, analysis, program)) return *problem;
  Kernel kernel;
  const auto make = [&] {
    Unit unit;
    kernel = Emitter(*lowered, analysis, program, options, unit).run();
  };
  // The emitter recurses on nesting; callers may be threads with small stacks.
  if (analysis.depth > deepest_on_own_stack)
    run_on_big_stack(make);
  else
    make();
  return kernel;
}

}  // namespace vyre::emit_spirv
