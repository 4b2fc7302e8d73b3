#pragma once

// Generates PTX text for NVIDIA GPUs from a checked program: one thread per invocation, structured
// control flow as branches, one entry `vyre_kernel` (ptx_abi.h). README.md describes the design. It
// makes no device calls and uses nothing from the CUDA toolkit: the driver's compiler reads the
// text.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/ptx/ptx_abi.h"
#include "diagnostics/result.h"
#include "ir/program.h"

namespace vyre::emit_ptx {

/// Virtual architectures that text is made for. Code for one runs on all later ones.
enum class Arch : uint8_t { Sm75, Sm80, Sm90, Sm100 };
inline constexpr std::array all_archs = {Arch::Sm75, Arch::Sm80, Arch::Sm90, Arch::Sm100};
std::string_view name(Arch arch);  // "sm_75"
std::optional<Arch> parse_arch(std::string_view name);
/// The lowest `.version` that supports it: "6.3".
std::string_view ptx_version(Arch arch);

/// The numbering of blocks of threads (ptx_abi.h).
enum class Grid : uint8_t { Direct, Linear };

struct EmitOptions {
  Arch arch = Arch::Sm75;
  uint32_t subgroup_size = 32;       // of programs that do not fix one; a power of two up to 64
  bool stoppable = true;             // poll the stop flag
  bool lines = false;                // `.loc` directives: for profilers, and to read
  bool exact_float_add = false;      // f32 atomic_add keeps subnormals; slower
  bool native_grid_barrier = false;  // else a program with grid barriers is refused: split it first
  Grid grid = Grid::Direct;
  uint32_t min_blocks_per_sm = 0;  // `.minnctapersm`; 0: not said
};

struct Kernel {
  std::string text;
  KernelInfo info;
};

/// True if the program's grid barriers can be native. Programs with traps cannot have them: threads
/// that wait for a trapped one would not end, while in a split program the later segments do
/// nothing.
bool can_wait_for_grid(const Program& program);

/// The program has passed the checker. An error for grid barriers that are not to be native or
/// cannot be, for subgroup sizes that cannot be, and for more shared memory than any device has.
/// Linear in the program's size.
Result<Kernel> emit(const Program& program, const EmitOptions& options);

}  // namespace vyre::emit_ptx
