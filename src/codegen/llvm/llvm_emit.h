#pragma once

// Generates LLVM IR for a CPU from a checked program, and assembly or an object file from that.
//
// The subgroup is the SIMD register: a value that is uniform over the subgroup is a scalar, every
// other value a vector with one element per lane. Divergent control flow uses masks. A workgroup is
// a loop over its subgroups, one loop per parallel region between workgroup barriers. README.md
// describes the design.
//
// No LLVM header is included here: LLVM stays inside src/codegen/llvm and src/runtime/cpu.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/llvm/llvm_abi.h"
#include "diagnostics/listing.h"
#include "diagnostics/result.h"
#include "ir/program.h"

namespace vyre::emit_llvm {

/// Instruction sets that code is made for; each includes the ones before it, but for AArch64.
enum class Isa : uint8_t { X86_64_V2, X86_64_V3, X86_64_V4, AArch64 };
std::string_view name(Isa isa);  // "x86-64-v3", "aarch64"
std::optional<Isa> parse_isa(std::string_view name);
/// The best one that this machine runs.
Isa host_isa();
/// True if this machine can run it.
bool host_runs(Isa isa);

/// Prepares LLVM, which otherwise happens when it is first used. From then on a lack of memory
/// inside LLVM is std::bad_alloc, as elsewhere.
void initialize();

struct EmitOptions {
  Isa isa = Isa::X86_64_V3;
  uint32_t subgroup_size =
      0;                  // 0: chosen for the program and the target; a program that fixes one wins
  bool stoppable = true;  // poll LaunchArgs::stop
  bool lines = false;     // instructions record their op (lines.cc); only for list_code()
};

/// LLVM IR of one program: function `vyre_kernel` of llvm_abi.h. Owns its LLVM context.
class Module {
 public:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  KernelInfo info;
  State& state() { return *state_; }

 private:
  struct DeleteState {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, DeleteState> state_;
};

/// The program has passed the checker and has no grid barrier (the driver splits those).
Result<Module> emit(const Program& program, const EmitOptions& options);

/// The short pass list (optimize.cc, the only file that uses LLVM's PassBuilder). Once per module.
void optimize(Module& module);

std::string to_text(Module& module);                       // LLVM IR
Result<std::string> to_assembly(Module& module);           // of the module's target
Result<std::vector<std::byte>> to_object(Module& module);  // ELF

/// The assembly of emit() and optimize() with the options, each instruction with its source
/// location.
Result<Listing> list_code(const Program& program, EmitOptions options);

}  // namespace vyre::emit_llvm
