// The only file that includes ORC. One session per process; each kernel is a separate library in
// it, because the functions of all kernels have the same name.

#include "runtime/cpu/cpu_jit.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>

#include "runtime/cpu/process_end.h"

namespace vyre::driver {

namespace {

using namespace llvm::orc;

Diagnostic failed(std::string_view what, llvm::Error error) {
  return diagnose(Code::InternalError, {},
                  fmt::format("{}: {}", what, llvm::toString(std::move(error))));
}

/// The functions that compiled code may call, see llvm_abi.h.
template <class Function>
ExecutorSymbolDef symbol(Function* function) {
  return {ExecutorAddr::fromPtr(function),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
}

class Session {
 public:
  static Result<Session*> get() {
    static std::mutex mutex;
    static Session* made = nullptr;  // stays: kernels may outlive everything that runs at exit
    const std::lock_guard lock(mutex);
    if (made) return made;
    auto control =
        SelfExecutorProcessControl::Create(nullptr, std::make_unique<InPlaceTaskDispatcher>());
    if (!control) return failed("the JIT cannot start", control.takeError());
    auto memory = llvm::jitlink::InProcessMemoryManager::Create();
    if (!memory) return failed("the JIT has no memory", memory.takeError());
    made = new Session(std::move(*control), std::move(*memory));
    return made;
  }

  ExecutionSession session;
  ObjectLinkingLayer layer;
  JITDylib& support;
  std::atomic<uint64_t> next{0};

 private:
  Session(std::unique_ptr<ExecutorProcessControl> control,
          std::unique_ptr<llvm::jitlink::JITLinkMemoryManager> memory)
      : session(std::move(control)),
        layer(session, std::move(memory)),
        support(session.createBareJITDylib("support")) {
    SymbolMap symbols;
    symbols[session.intern("memset")] =
        symbol(static_cast<void* (*)(void*, int, size_t)>(&std::memset));
    symbols[session.intern("memcpy")] =
        symbol(static_cast<void* (*)(void*, const void*, size_t)>(&std::memcpy));
    symbols[session.intern("fma")] =
        symbol(static_cast<double (*)(double, double, double)>(&::fma));
    symbols[session.intern("fmaf")] = symbol(static_cast<float (*)(float, float, float)>(&::fmaf));
    llvm::cantFail(support.define(absoluteSymbols(std::move(symbols))));
  }
};

class Linked : public LinkedCode {
 public:
  Linked(Session& session, JITDylib& library) : session_(session), libraries_{&library} {}
  /// Allocates nothing before it calls LLVM. If LLVM is out of memory, the code stays.
  ~Linked() override {
    if (is_process_ending()) return;
    try {
      llvm::consumeError(session_.session.removeJITDylibs(std::move(libraries_)));
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  Session& session_;
  std::vector<JITDylibSP> libraries_;  // one
};

}  // namespace

Result<std::unique_ptr<LinkedCode>> link_object(std::span<const std::byte> object) {
  const Result<Session*> session = Session::get();
  if (!session) return session.errors();
  Session& s = **session;
  JITDylib& library = s.session.createBareJITDylib(fmt::format("kernel{}", ++s.next));
  auto linked = std::make_unique<Linked>(s, library);
  library.addToLinkOrder(s.support);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  if (auto error = s.layer.add(library, llvm::MemoryBuffer::getMemBufferCopy(bytes, "kernel")))
    return failed("a compiled kernel cannot be read", std::move(error));
  auto found = s.session.lookup({&library}, s.session.intern(emit_llvm::kernel_symbol));
  if (!found) return failed("a compiled kernel cannot be linked", found.takeError());
  linked->entry = found->getAddress().toPtr<emit_llvm::KernelFunction>();
  return std::unique_ptr<LinkedCode>(std::move(linked));
}

}  // namespace vyre::driver
