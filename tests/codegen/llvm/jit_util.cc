#include "tests/codegen/llvm/jit_util.h"

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

namespace vyre::cpu_test {
namespace {

llvm::StringRef text(std::span<const std::byte> object) {
  return {reinterpret_cast<const char*>(object.data()), object.size()};
}

}  // namespace

struct LoadedObject::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

LoadedObject::LoadedObject(std::span<const std::byte> object) : impl_(std::make_unique<Impl>()) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  impl_->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::JITDylib& library = impl_->jit->getMainJITDylib();
  library.addGenerator(
      llvm::cantFail(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          impl_->jit->getDataLayout().getGlobalPrefix())));
  llvm::cantFail(impl_->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(text(object))));
}

LoadedObject::~LoadedObject() = default;

void* LoadedObject::find(const std::string& function) const {
  auto address = impl_->jit->lookup(function);
  if (!address) {
    ADD_FAILURE() << llvm::toString(address.takeError());
    return nullptr;
  }
  return address->toPtr<void*>();
}

std::set<std::string> undefined_symbols(std::span<const std::byte> object) {
  auto file = llvm::cantFail(
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(text(object), "object")));
  std::set<std::string> names;
  for (const llvm::object::SymbolRef& symbol : file->symbols()) {
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
      names.insert(llvm::cantFail(symbol.getName()).str());
  }
  names.erase("");
  return names;
}

}  // namespace vyre::cpu_test
