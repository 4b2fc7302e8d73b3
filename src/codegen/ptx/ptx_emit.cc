#include "codegen/ptx/ptx_emit.h"

#include <fmt/format.h>

#include <bit>

#include "codegen/ptx/ptx_emitter.h"
#include "codegen/ptx/ptx_lower.h"
#include "support/big_stack.h"

namespace vyre::emit_ptx {
namespace {

struct ArchRow {
  Arch arch;
  std::string_view name, version;
};
constexpr ArchRow archs[] = {{Arch::Sm75, "sm_75", "6.3"},
                             {Arch::Sm80, "sm_80", "7.0"},
                             {Arch::Sm90, "sm_90", "7.8"},
                             {Arch::Sm100, "sm_100", "8.6"}};

constexpr uint64_t most_shared = 227 << 10;  // per block, on any supported device
constexpr uint32_t deepest_on_own_stack = 100;

}  // namespace

std::string_view name(Arch arch) { return archs[static_cast<size_t>(arch)].name; }
std::string_view ptx_version(Arch arch) { return archs[static_cast<size_t>(arch)].version; }

std::optional<Arch> parse_arch(std::string_view name) {
  for (const ArchRow& row : archs)
    if (row.name == name) return row.arch;
  return std::nullopt;
}

bool can_wait_for_grid(const Program& program) {
  bool traps = false;
  walk(program, [&](OpId op) {
    traps |= program.op(op).code == Opcode::Trap || program.op(op).code == Opcode::Assert;
  });
  return !traps;
}

Result<Kernel> emit(const Program& program, const EmitOptions& options) {
  const uint32_t size = program.subgroup ? program.subgroup : options.subgroup_size;
  if (size > 64 || !std::has_single_bit(size))
    return diagnose(Code::BadSubgroupSize, {},
                    fmt::format("a subgroup size of {} is not possible", size))
        .with_fix("use 1, 2, 4, 8, 16, 32 or 64");
  const LoweredProgram lowered = lower(program, options);
  const GpuAnalysis analysis = analyze_for_gpu(lowered.program, options.subgroup_size);
  if (analysis.waits_for_grid &&
      (!options.native_grid_barrier || analysis.has_traps || options.grid != Grid::Direct))
    return diagnose(Code::KernelTooLarge, program.place(program.loc),
                    fmt::format("kernel `{}` has grid barriers{}", program.name,
                                !options.native_grid_barrier ? ", which are not to be native"
                                : analysis.has_traps         ? " and can trap"
                                                             : " and a grid that is folded"))
        .with_fix("split it at its grid barriers");
  Kernel kernel;
  const auto make = [&] { kernel = Emitter(lowered, analysis, program, options).run(); };
  // The emitter recurses on nesting; callers may be threads with small stacks.
  if (analysis.depth > deepest_on_own_stack)
    run_on_big_stack(make);
  else
    make();
  const uint64_t shared = kernel.info.static_shared_bytes + kernel.info.dynamic_shared_bytes;
  if (shared > most_shared)
    return diagnose(Code::KernelTooLarge, program.place(program.loc),
                    fmt::format("kernel `{}` has {} bytes of shared memory; NVIDIA devices have "
                                "at most {}",
                                program.name, shared, most_shared))
        .with_fix("use less shared memory, or another device");
  return kernel;
}

}  // namespace vyre::emit_ptx
