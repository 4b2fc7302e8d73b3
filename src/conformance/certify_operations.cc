// Every pure operation with every type it takes, at edge-case values.

#include <fmt/format.h>

#include "conformance/certify_cases.h"
#include "generate/interesting.h"
#include "ir/eval/eval.h"
#include "ir/ssa_builder.h"

namespace vyre::lab {
namespace {

constexpr Type value_types[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16, Type::I32,
                                Type::U32,  Type::I64, Type::U64, Type::F32, Type::F64};

/// Operand tuples of one case; not a multiple of any vector width.
constexpr uint64_t tuples = 1999;

Type operand_type(char letter, Type type, Type source) {
  switch (letter) {
    case 'U': return Type::U32;
    case 'L': return Type::U64;
    case 'B': return Type::Bool;
    case 'S': return source;
    default: return type;
  }
}

/// o[i] = op(a[i], b[i], …).
Program kernel_of(Opcode code, Type type, Type source) {
  SsaBuilder b("op");
  Program& p = b.program;
  p.workgroup = {64, 1, 1};
  std::vector<Type> operands;
  for (const char letter : info(code).operands)
    operands.push_back(operand_type(letter, type, source));
  for (size_t i = 0; i < operands.size(); ++i) {
    Buffer in;
    in.name = std::string(1, static_cast<char>('a' + i));
    in.role = Role::In;
    in.element = operands[i];
    p.buffers.push_back(in);
  }
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(0);
  const ValueId at = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  std::vector<ValueId> values;
  for (uint32_t i = 0; i < operands.size(); ++i)
    values.push_back(
        b.op(Opcode::Load, operands[i], {at}, MemoryRef{.buffer = BufferId(i)}.pack()));
  const ValueId result = b.op(code, type, values);
  Buffer out;
  out.name = "o";
  out.role = Role::Out;
  out.element = b.type(result);
  out.count = p.formulas.len(0);
  p.buffers.push_back(out);
  const BufferId o(p.buffers.size() - 1);
  b.effect(Opcode::Store, out.element, {at, result}, MemoryRef{.buffer = o}.pack());
  return b.finish();
}

void certify_operation(Certification& c, Opcode code, Type type, Type source) {
  const bool converts = info(code).operands == "S";
  const std::string name =
      converts ? fmt::format("{}.{}.{}", info(code).mnemonic, vyre::name(source), vyre::name(type))
               : fmt::format("{}.{}", info(code).mnemonic, vyre::name(type));
  if (!c.begins(name)) return;
  auto module = std::make_shared<Module>();
  module->kernels.push_back(kernel_of(code, type, source));
  PreparedRun run;
  run.kernel = &module->kernels[0];
  run.inputs.data.resize(run.kernel->buffers.size());
  Random random(1000 * static_cast<uint64_t>(code) + static_cast<uint64_t>(type));
  for (size_t i = 0; i + 1 < run.kernel->buffers.size(); ++i) {
    const Type element = run.kernel->buffers[i].element;
    auto& bytes = run.inputs.data[i].emplace();
    for (uint64_t k = 0; k < tuples; ++k) {
      const uint64_t bits = interesting_bits(random, element);
      for (uint32_t byte = 0; byte < size_of(element); ++byte)
        bytes.push_back(static_cast<std::byte>(bits >> (8 * byte)));
    }
  }
  run.module = std::move(module);
  compare_case(c, run, "");
}

}  // namespace

void certify_operations(Certification& c) {
  c.begin_group("operations");
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const auto code = static_cast<Opcode>(i);
    const OpInfo& row = info(code);
    if (!is_pure(code) || row.attribute != AttrKind::None || row.operands.empty() ||
        observes_subgroup(code))
      continue;
    for (const Type type : value_types) {
      if (c.options.quick && type != Type::U8 && type != Type::I32 && type != Type::F32) continue;
      if (row.operands != "S") {
        if (find_eval(code, type, type)) certify_operation(c, code, type, type);
        continue;
      }
      for (const Type source : value_types)
        if (source != type && find_eval(code, type, source))
          certify_operation(c, code, type, source);
    }
  }
  c.end_group();
}

}  // namespace vyre::lab
