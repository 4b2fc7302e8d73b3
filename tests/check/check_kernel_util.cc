#include "tests/check/check_kernel_util.h"

namespace vyre::test {

Kernel::Kernel() : SsaBuilder("k") {
  program.strings = {"k.vyre"};
  program.workgroup = {64, 1, 1};
  in = add_buffer("x", Role::In, Type::U32);
  inout = add_buffer("y", Role::InOut, Type::U32);
  out = add_buffer("z", Role::Out, Type::U32, program.formulas.len(in));
  n = add_buffer("n", Role::Scalar, Type::U32);
  tile = add_buffer("tile", Role::Shared, Type::U32, constant_size(64));
  program.grid = {program.formulas.len(inout), no_formula, no_formula};
  program.grid_dims = 1;
}

uint32_t Kernel::add_buffer(std::string name, Role role, Type element, FormulaId count) {
  Buffer b;
  b.name = std::move(name);
  b.role = role;
  b.element = element;
  b.count = count;
  b.loc = at().loc;
  program.buffers.push_back(b);
  return static_cast<uint32_t>(program.buffers.size() - 1);
}

Kernel& Kernel::at() {
  loc = program.add_location({0, ++line_, 1, 1, none});
  return *this;
}

ValueId Kernel::load(uint32_t buffer, ValueId index) {
  at();
  return op(Opcode::Load, value_type(program.buffers[buffer].element), {index},
            MemoryRef{BufferId(buffer)}.pack());
}

void Kernel::store(uint32_t buffer, ValueId index, ValueId value) {
  at();
  effect(Opcode::Store, value_type(program.buffers[buffer].element), {index, value},
         MemoryRef{BufferId(buffer)}.pack());
}

ValueId Kernel::uniform_load(uint32_t buffer, ValueId index, Scope scope) {
  at();
  return op(Opcode::UniformLoad, value_type(program.buffers[buffer].element), {index},
            MemoryRef{BufferId(buffer), false, scope}.pack());
}

ValueId Kernel::atomic(Opcode code, uint32_t buffer, ValueId index, ValueId value, Scope scope) {
  at();
  return op(code, program.buffers[buffer].element, {index, value},
            MemoryRef{BufferId(buffer), false, scope}.pack());
}

std::string text(const Diagnostics& list) { return render(list, {}); }

Diagnostic only_error(const Diagnostics& list, Code code) {
  const Diagnostic* found = nullptr;
  int errors = 0;
  for (const Diagnostic& d : list) {
    if (d.severity != Severity::Error) continue;
    ++errors;
    found = &d;
  }
  EXPECT_EQ(errors, 1) << text(list);
  if (!found) return Diagnostic{code};
  EXPECT_EQ(to_string(found->code), to_string(code)) << text(list);
  return *found;
}

bool has(const Diagnostics& list, Code code) {
  for (const Diagnostic& d : list)
    if (d.code == code) return true;
  return false;
}

void expect_legal(const Program& program) {
  const Diagnostics found = check(program);
  EXPECT_FALSE(has_errors(found)) << text(found);
}

Diagnostic expect_error(const Program& program, Code code) {
  return only_error(check(program), code);
}

}  // namespace vyre::test
