#include "emit/llvm/object_symbols.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>

#include "emit/llvm/module_state.h"

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
  llvm::Type* const u32 = llvm::Type::getInt32Ty(c);
  llvm::Type* const u64 = llvm::Type::getInt64Ty(c);
  llvm::Constant* const info =
      llvm::ConstantStruct::getAnon(c, {llvm::ConstantInt::get(u32, module.info.abi),
                                        llvm::ConstantInt::get(u32, module.info.subgroup_size),
                                        llvm::ConstantInt::get(u64, module.info.arena_bytes)});
  new llvm::GlobalVariable(m, info->getType(), true, llvm::GlobalValue::ExternalLinkage, info,
                           symbol + info_suffix);
}

}  // namespace vyre::emit_llvm
