#include "emit/llvm/emit.h"

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <bit>

#include "emit/llvm/emitter.h"
#include "emit/llvm/prepare.h"
#include "support/big_stack.h"

namespace vyre::emit_llvm {

namespace {

// Beyond these a kernel takes more than a few seconds with the usual effort, and soon minutes.
constexpr size_t most_blocks = 3'000;
constexpr size_t most_instructions = 30'000;
constexpr uint32_t most_nesting = 100;

bool is_too_much(const Program& p, const llvm::Module& m) {
  uint32_t depth = 0, deepest = 0;
  walk_blocks(p, 0, [&](Visit what, uint32_t) {
    if (what == Visit::EnterBlock) deepest = std::max(deepest, ++depth);
    if (what == Visit::LeaveBlock) --depth;
  });
  size_t blocks = 0;
  for (const llvm::Function& f : m) blocks += f.size();
  return deepest > most_nesting || blocks > most_blocks ||
         m.getInstructionCount() > most_instructions;
}

}  // namespace

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

Result<Module> emit(const Program& program, const EmitOptions& options) {
  const uint32_t size = program.subgroup ? program.subgroup : options.subgroup_size;
  if (size > 64 || (size != 0 && !std::has_single_bit(size)))
    return diagnose(Code::BadSubgroupSize, {},
                    fmt::format("a subgroup size of {} is not possible", size))
        .with_fix("use 1, 2, 4, 8, 16, 32 or 64");
  auto state = std::make_unique<Module::State>();
  state->context = std::make_unique<llvm::LLVMContext>();
  state->module = std::make_unique<llvm::Module>(program.name, *state->context);
  state->isa = options.isa;
  Module module(std::move(state));
  // The emitter recurses on nesting; callers may be threads with small stacks.
  run_on_big_stack([&] {
    const Prepared prepared = prepare(program, options);
    module.info = Emitter(prepared, options, module.state()).run();
    module.state().quick = is_too_much(prepared.program, *module.state().module);
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
