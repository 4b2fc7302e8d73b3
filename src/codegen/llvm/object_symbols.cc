#include "codegen/llvm/object_symbols.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>

#include <type_traits>

#include "codegen/llvm/module_state.h"

namespace vyre::emit_llvm {

void set_object_symbols(Module& module, const std::string& symbol) {
  llvm::Module& m = *module.state().module;
  llvm::LLVMContext& c = *module.state().context;
  if (symbol != kernel_symbol) {
    llvm::Function* const f = m.getFunction(kernel_symbol);
    f->setName(symbol);
    llvm::GlobalAlias::create(f->getValueType(), 0, llvm::GlobalValue::WeakAnyLinkage,
                              kernel_symbol, f, &m);
  }
  static_assert(std::is_trivially_copyable_v<KernelInfo>);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(&module.info), sizeof(KernelInfo));
  llvm::Constant* const info = llvm::ConstantDataArray::getString(c, bytes, /*AddNull=*/false);
  auto* const global = new llvm::GlobalVariable(
      m, info->getType(), true, llvm::GlobalValue::ExternalLinkage, info, symbol + info_suffix);
  global->setAlignment(llvm::Align(alignof(KernelInfo)));
}

}  // namespace vyre::emit_llvm
