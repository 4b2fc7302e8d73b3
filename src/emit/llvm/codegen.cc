#include "emit/llvm/codegen.h"

#include <fmt/format.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "emit/llvm/isa.h"
#include "emit/llvm/module_state.h"
#include "support/big_stack.h"

namespace vyre::emit_llvm {

namespace {

llvm::StringRef ref(std::string_view s) { return {s.data(), s.size()}; }

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
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

std::unique_ptr<llvm::TargetMachine> make_target_machine(Isa isa, bool quick) {
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
      llvm::CodeModel::Small, quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default, /*JIT=*/false));
}

/// Runs the code generator. It consumes the module's IR: what is left is of no further use.
Result<llvm::SmallVector<char, 0>> generate_here(Module& module, llvm::CodeGenFileType kind) {
  set_target(module);
  Module::State& state = module.state();
  llvm::TargetMachine& machine = target_machine(state.isa, state.quick);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true))
    return diagnose(Code::InternalError, {}, fmt::format("LLVM cannot write this kind of file for {}", name(state.isa)));
  passes.run(*state.module);
  return bytes;
}

/// LLVM recurses on the depth of loops and of expressions.
Result<llvm::SmallVector<char, 0>> generate(Module& module, llvm::CodeGenFileType kind) {
  if (!module.state().quick) return generate_here(module, kind);
  std::optional<Result<llvm::SmallVector<char, 0>>> bytes;
  run_on_big_stack([&] { bytes.emplace(generate_here(module, kind)); });
  return std::move(*bytes);
}

}  // namespace

llvm::TargetMachine& target_machine(Isa isa, bool quick) {
  thread_local std::array<std::unique_ptr<llvm::TargetMachine>, 8> machines;
  std::unique_ptr<llvm::TargetMachine>& machine = machines[2 * static_cast<size_t>(isa) + quick];
  if (!machine) machine = make_target_machine(isa, quick);
  return *machine;
}

void set_target(Module& module) {
  Module::State& state = module.state();
  llvm::TargetMachine& machine = target_machine(state.isa);
  if (state.module->getTargetTriple().empty()) state.module->setTargetTriple(ref(triple(state.isa)));
  if (state.module->getDataLayoutStr().empty()) state.module->setDataLayout(machine.createDataLayout());
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
