#include "codegen/llvm/llvm_codegen.h"

#include <fmt/format.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "codegen/llvm/isa.h"
#include "codegen/llvm/module_state.h"
#include "codegen/llvm/split_blocks.h"
#include "support/big_stack.h"

namespace vyre::emit_llvm {

namespace {

llvm::StringRef ref(std::string_view s) { return {s.data(), s.size()}; }

/// Sets an option that LLVM has on its command line only. A value that the process has already set
/// stays.
void set_llvm_option(llvm::StringRef option, llvm::StringRef value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(option);
  if (found == options.end() || found->second->getNumOccurrences() != 0) return;
  found->second->addOccurrence(0, option, value);
}

/// Bounds two algorithms whose time is quadratic in the number of blocks. Both limits are above the
/// needs of kernels of usual size: their code stays the same.
void bound_compile_time() {
  // CodeGenPrepare starts again with the first block after each change, up to this many blocks.
  set_llvm_option("cgpp-huge-func", "200");
  // The register allocator examines this many blocks for the region of a split live range.
  set_llvm_option("grow-region-complexity-budget", "500");
}

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    // For code of LLVM that calls malloc; operator new throws anyway.
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    bound_compile_time();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(Isa isa, bool optimized) {
  initialize_targets();
  std::string error;
  const std::string triple_text(triple(isa));
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple_text, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a * b + c is never an fma
  options.TrapUnreachable = false;
  // Code may be placed anywhere, far from the functions that it calls.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple_text, ref(cpu(isa)), ref(features(isa)), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small,
      optimized ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None, /*JIT=*/false));
}

/// Adds the passes of LLVM's addPassesToEmitFile(), except those that are too slow for the effort,
/// and splits long blocks. Returns false if the target cannot write this kind of file.
bool add_passes(const Module::State& state, llvm::legacy::PassManager& passes,
                llvm::raw_pwrite_stream& stream, llvm::CodeGenFileType kind) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(target_machine(state.isa, state.effort));
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  if (state.effort != Effort::Quick) {  // after CodeGenPrepare, which would join the blocks again
    const std::unique_ptr<llvm::Pass> prepare(llvm::createCodeGenPrepareLegacyPass());
    config->insertPass(prepare->getPassID(), create_split_long_blocks(8 * vector_bytes(state.isa)));
  }
  if (state.effort == Effort::Large) {
    // Constants hoisted out of a long loop are live in all of its blocks, and are spilled.
    config->disablePass(&llvm::EarlyMachineLICMID);
    config->disablePass(&llvm::PostRASchedulerID);  // on blocks that are whole again by then
  }
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, kind, info->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

/// Makes LLVM report the size of every frame above `told_from`.
void measure_stack(Module::State& state) {
  constexpr llvm::StringRef told_from = "16384";
  for (llvm::Function& function : *state.module)
    if (!function.isDeclaration()) function.addFnAttr("warn-stack-size", told_from);
  state.context->setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* data) {
        if (const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(info)) {
          uint64_t& largest = static_cast<Module::State*>(data)->stack_bytes;
          largest = std::max(largest, size->getStackSize());
        }
      },
      &state);
}

/// Runs the code generator. It consumes the module's IR, which has no use afterwards.
Result<llvm::SmallVector<char, 0>> generate_here(Module& module, llvm::CodeGenFileType kind) {
  set_target(module);
  Module::State& state = module.state();
  if (state.effort == Effort::Quick)  // its pipeline is without CodeGenPrepare
    for (llvm::Function& function : *state.module)
      split_long_blocks(function, 8 * vector_bytes(state.isa));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  measure_stack(state);
  const LlvmOwner<llvm::legacy::PassManager> passes(new llvm::legacy::PassManager);
  if (!add_passes(state, *passes, stream, kind))
    return diagnose(Code::InternalError, {},
                    fmt::format("LLVM cannot write this kind of file for {}", name(state.isa)));
  passes->run(*state.module);
  module.info.stack_bytes = state.stack_bytes;
  return bytes;
}

/// LLVM recurses on the depth of loops and of expressions.
Result<llvm::SmallVector<char, 0>> generate(Module& module, llvm::CodeGenFileType kind) {
  if (module.state().effort == Effort::Full) return generate_here(module, kind);
  std::optional<Result<llvm::SmallVector<char, 0>>> bytes;
  run_on_big_stack([&] { bytes.emplace(generate_here(module, kind)); });
  return std::move(*bytes);
}

}  // namespace

void initialize() { initialize_targets(); }

llvm::TargetMachine& target_machine(Isa isa, Effort effort) {
  const bool optimized = effort != Effort::Quick;
  thread_local std::array<std::unique_ptr<llvm::TargetMachine>, 8> machines;
  std::unique_ptr<llvm::TargetMachine>& machine =
      machines[2 * static_cast<size_t>(isa) + optimized];
  if (!machine) machine = make_target_machine(isa, optimized);
  return *machine;
}

void set_target(Module& module) {
  Module::State& state = module.state();
  llvm::TargetMachine& machine = target_machine(state.isa);
  if (state.module->getTargetTriple().empty())
    state.module->setTargetTriple(ref(triple(state.isa)));
  if (state.module->getDataLayoutStr().empty())
    state.module->setDataLayout(machine.createDataLayout());
  const std::string tune = tune_cpu(state.isa);
  const std::string widest = std::to_string(8 * vector_bytes(state.isa));
  for (llvm::Function& function : *state.module) {
    if (function.isDeclaration()) continue;
    const auto add = [&](llvm::StringRef key, llvm::StringRef value) {
      if (!function.hasFnAttribute(key) && !value.empty()) function.addFnAttr(key, value);
    };
    add("target-cpu", ref(cpu(state.isa)));
    add("target-features", ref(features(state.isa)));
    add("tune-cpu", tune);
    add("prefer-vector-width", widest);
    add("min-legal-vector-width", widest);
    // No exception and no debugger goes through a kernel: no tables for unwinding.
    function.setDoesNotThrow();
  }
}

std::string to_text(Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.state().module->print(stream, nullptr);
  return text;
}

Result<std::string> to_assembly(Module& module) {
  auto bytes = generate(module, llvm::CodeGenFileType::AssemblyFile);
  if (!bytes) return bytes.errors();
  return std::string(bytes->begin(), bytes->end());
}

Result<std::vector<std::byte>> to_object(Module& module) {
  auto bytes = generate(module, llvm::CodeGenFileType::ObjectFile);
  if (!bytes) return bytes.errors();
  const auto* begin = reinterpret_cast<const std::byte*>(bytes->data());
  return std::vector<std::byte>(begin, begin + bytes->size());
}

}  // namespace vyre::emit_llvm
