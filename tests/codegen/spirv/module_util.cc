#define SPV_ENABLE_UTILITY_CODE  // spv::HasResultAndType

#include "tests/codegen/spirv/module_util.h"

namespace vyre::emit_spirv {

bool is_atomic(spv::Op op) {
  return (op >= spv::OpAtomicLoad && op <= spv::OpAtomicXor) || op == spv::OpAtomicFAddEXT;
}

Shape shape_of(spv::Op op) {
  Shape s;
  spv::HasResultAndType(op, &s.result, &s.type);
  return s;
}

std::span<const uint32_t> sources(const Instruction& i) {
  const Shape s = shape_of(i.op);
  const auto all = std::span(i.operands).subspan(s.type + s.result);
  if (!s.type) return {};  // types, labels
  if (i.op == spv::OpCompositeExtract) return all.first(1);
  return i.op == spv::OpExtInst ? all.subspan(2) : all;
}

ModuleTable::ModuleTable(const std::vector<uint32_t>& words) : all(instructions(words)) {
  for (const Instruction& i : all) {
    const Shape s = shape_of(i.op);
    if (s.result) by_id.emplace(i.operands[s.type ? 1 : 0], &i);
    if (i.op == spv::OpDecorate) {
      decorations[i.operands[0]].insert(i.operands[1]);
      if (i.operands[1] == spv::DecorationBuiltIn) builtins.emplace(i.operands[0], i.operands[2]);
    }
    if (i.op == spv::OpName)
      names.emplace(i.operands[0], reinterpret_cast<const char*>(i.operands.data() + 1));
  }
}

uint32_t ModuleTable::width(uint32_t type) const {
  const Instruction* t = find(type);
  const bool is_number = t && (t->op == spv::OpTypeInt || t->op == spv::OpTypeFloat);
  return is_number ? t->operands[1] : 0;
}

uint32_t ModuleTable::constant(uint32_t id) const {
  const Instruction* i = find(id);
  return i && i->op == spv::OpConstant && width(i->operands[0]) == 32 ? i->operands[2] : ~0u;
}

spv::StorageClass ModuleTable::storage(uint32_t pointer) const {
  const Instruction* t = find(type_of(pointer));
  if (!t || t->op != spv::OpTypePointer) return spv::StorageClassMax;
  return static_cast<spv::StorageClass>(t->operands[1]);
}

}  // namespace vyre::emit_spirv
