#pragma once

// Links object files of the emitter as code in this process.

#include <memory>
#include <span>

#include "codegen/llvm/llvm_abi.h"
#include "diagnostics/result.h"

namespace vyre::driver {

/// Code that can be called for the lifetime of this object.
class LinkedCode {
 public:
  virtual ~LinkedCode() = default;
  emit_llvm::KernelFunction entry = nullptr;
};

/// Links an object. Callable from any thread. The object is copied where it must stay.
Result<std::unique_ptr<LinkedCode>> link_object(std::span<const std::byte> object);

}  // namespace vyre::driver
