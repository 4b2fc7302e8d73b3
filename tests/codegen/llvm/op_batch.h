#pragma once

// Many small functions in one module: each runs one piece of OpLowering over arrays.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "codegen/llvm/lower_ops.h"
#include "codegen/llvm/module_state.h"

namespace vyre::cpu_test {

/// `blocks` times: takes a vector (or scalar) of each array in `in`, gives one to `out`.
using BatchFunction = void (*)(uint64_t blocks, void* out, const void* const* in);

class OpBatch {
 public:
  using Body = std::function<llvm::Value*(emit_llvm::OpLowering&, llvm::ArrayRef<llvm::Value*>)>;

  explicit OpBatch(emit_llvm::Isa isa);

  /// A bool is a byte in the arrays. lanes 0: scalars.
  void add(const std::string& name, const std::vector<Type>& operands, Type result, unsigned lanes,
           const Body& body);

  /// Once. Fails the test if the object needs a symbol that compiled code may not need.
  std::vector<std::byte> object(bool optimize = true);
  std::string assembly();

 private:
  emit_llvm::Module module_;
};

}  // namespace vyre::cpu_test
