// Debug locations that record the op of each instruction. They are used only for listings; executed
// code is compiled without them. The line of a location is the number of an op, not of a source
// line: ops have source locations, and file names need no escaping for the assembler.

#include <llvm/IR/DIBuilder.h>

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

void Emitter::begin_lines() {
  m_.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  m_.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  llvm::DIBuilder info(m_);
  llvm::DIFile* file = info.createFile("ops", ".");
  // Directives for the line table, and no section that would have to be taken out again.
  info.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "vyre", /*isOptimized=*/true, "", 0, "",
                         llvm::DICompileUnit::DebugDirectivesOnly);
  llvm::DISubroutineType* type = info.createSubroutineType(info.getOrCreateTypeArray({}));
  lines_ = info.createFunction(file, kernel_symbol, "", file, 0, type, 0, llvm::DINode::FlagZero,
                               llvm::DISubprogram::SPFlagDefinition);
  info.finalize();
  f_->setSubprogram(lines_);
}

Emitter::Line::Line(Emitter& emitter, OpId op) : emitter_(emitter) {
  if (!emitter.lines_) return;
  before_ = emitter.b_.getCurrentDebugLocation();
  emitter.b_.SetCurrentDebugLocation(
      llvm::DILocation::get(emitter.c_, emitter.k_.original[op].value() + 1, 0, emitter.lines_));
}

Emitter::Line::~Line() {
  if (emitter_.lines_) emitter_.b_.SetCurrentDebugLocation(before_);
}

}  // namespace vyre::emit_llvm
