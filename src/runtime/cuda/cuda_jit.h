#pragma once

// The driver's compiler: from PTX to device code, with its messages.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/ptx/ptx_emit.h"
#include "runtime/cuda/cuda_context.h"

namespace vyre::driver::cuda {

/// Compiles `text` to device code. `kernel`: its name, for messages; `place`: its source location.
/// An error has the compiler's messages as notes, each with the line of the text that it names.
Result<std::vector<std::byte>> compile_ptx(Context& context, const std::string& text,
                                           emit_ptx::Arch arch, bool lines,
                                           const std::string& kernel, const Place& place);

/// Code on the device: unloaded with its last owner.
class Module {
 public:
  /// From compiled code, or PTX that ends with a zero byte.
  static Result<std::shared_ptr<Module>> load(std::shared_ptr<Context> context,
                                              std::span<const std::byte> image, const char* entry);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  FunctionHandle function = nullptr;

 private:
  explicit Module(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  const std::shared_ptr<Context> context_;
  ModuleHandle handle_ = nullptr;
};

}  // namespace vyre::driver::cuda
