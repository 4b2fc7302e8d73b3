#include "codegen/llvm/llvm_emit.h"

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <bit>

#include "codegen/llvm/llvm_emitter.h"
#include "codegen/llvm/llvm_lower.h"
#include "support/big_stack.h"

namespace vyre::emit_llvm {

namespace {

/// The largest kernels of each effort. The largest kernel of bench/, examples/ and their like has
/// 1,300 instructions and 80 blocks. Beyond the second row a kernel would take seconds.
struct Size {
  size_t instructions = 0;
  size_t blocks = 0;
  uint32_t nesting = 0;
};
constexpr Size max_full = {3'000, 300, 100};
constexpr Size max_large = {30'000, 3'000, 100};

Size size_of(const Program& p, const llvm::Module& m) {
  Size size{.instructions = m.getInstructionCount()};
  for (const llvm::Function& f : m) size.blocks += f.size();
  uint32_t depth = 0;
  walk_blocks(p, body_block, [&](Visit what, OpId, BlockId) {
    if (what == Visit::EnterBlock) size.nesting = std::max(size.nesting, ++depth);
    if (what == Visit::LeaveBlock) --depth;
  });
  return size;
}

Effort choose_effort(const Size& size) {
  const auto fits = [&](const Size& limit) {
    return size.instructions <= limit.instructions && size.blocks <= limit.blocks &&
           size.nesting <= limit.nesting;
  };
  return fits(max_full) ? Effort::Full : fits(max_large) ? Effort::Large : Effort::Quick;
}

}  // namespace

Module::Module(std::unique_ptr<State> state) : state_(state.release()) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;
void Module::DeleteState::operator()(State* state) const { DeleteUnlessThrown()(state); }

Result<Module> emit(const Program& program, const EmitOptions& options) {
  const uint32_t size = program.subgroup ? program.subgroup : options.subgroup_size;
  if (size > 64 || (size != 0 && !std::has_single_bit(size)))
    return diagnose(Code::BadSubgroupSize, {},
                    fmt::format("a subgroup size of {} is not possible", size))
        .with_fix("use 1, 2, 4, 8, 16, 32 or 64");
  initialize();
  auto state = std::make_unique<Module::State>();
  state->context = std::make_unique<llvm::LLVMContext>();
  state->module = std::make_unique<llvm::Module>(program.name, *state->context);
  state->isa = options.isa;
  Module module(std::move(state));
  // The emitter recurses on nesting; callers may be threads with small stacks.
  run_on_big_stack([&] {
    const Prepared prepared = lower(program, options);
    module.info = Emitter(prepared, options, module.state()).run();
    module.state().effort = choose_effort(size_of(prepared.program, *module.state().module));
  });
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(*module.state().module, &out)) {
    out << *module.state().module;
    llvm::report_fatal_error(llvm::Twine(text));
  }
#endif
  return module;
}

}  // namespace vyre::emit_llvm
