// The pass pipeline of LLVM. The emitter writes SSA that is already scalar where possible. So the
// passes only clean up: masks and addresses that are computed twice, selects on constants, blocks
// that only lead to the next one, and loop invariants. LLVM's vectorizers have no effect here
// (lanes are vectors already), and its larger pipelines cost more than the kernel.
//
// No pass changes a float's value: no fast-math flag is ever set.

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "codegen/llvm/llvm_codegen.h"
#include "codegen/llvm/module_state.h"
#include "support/big_stack.h"

namespace vyre::emit_llvm {

namespace {

llvm::FunctionPassManager short_list() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true, /*UseBlockFrequencyInfo=*/false));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::ADCEPass());
  return passes;
}

struct Managers {
  explicit Managers(Isa isa) : builder(&target_machine(isa)) {}

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager groups;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

/// Does nothing for kernels that are too large (Effort::Quick): promoting slots would create a phi
/// per variable and loop, and unoptimized code keeps each of these separately on the stack.
void optimize_here(Module& module) {
  set_target(module);
  Module::State& state = module.state();
  if (state.effort == Effort::Quick) return;
  const LlvmOwner<Managers> managers(new Managers(state.isa));
  auto& [loops, functions, groups, modules, builder] = *managers;
  // The only external functions are vyre's: no call may be treated as one of the C library.
  functions.registerPass([&] {
    llvm::TargetLibraryInfoImpl library(llvm::Triple(state.module->getTargetTriple()));
    library.disableAllFunctions();
    return llvm::TargetLibraryAnalysis(library);
  });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(groups);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, groups, modules);
  llvm::FunctionPassManager passes = short_list();
  for (llvm::Function& function : *state.module) {
    if (function.isDeclaration()) continue;
    passes.run(function, functions);
  }
}

}  // namespace

void optimize(Module& module) {
  if (module.state().effort == Effort::Full) return optimize_here(module);
  run_on_big_stack([&] { optimize_here(module); });
}

}  // namespace vyre::emit_llvm
