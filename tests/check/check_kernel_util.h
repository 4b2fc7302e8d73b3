// Small kernels for the tests of the checker, made with the builder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "check/check.h"
#include "ir/ssa_builder.h"

namespace vyre::test {

/// A builder with the parameters that most tests need, and short names for common operations. Each
/// new op has its own line, so that tests can check the location of a diagnostic.
struct Kernel : SsaBuilder {
  Kernel();

  uint32_t add_buffer(std::string name, Role role, Type element, FormulaId count = no_formula);
  FormulaId constant_size(uint64_t n) { return program.formulas.constant(n); }

  ValueId u32(uint32_t v) { return at(), constant_u32(v); }
  ValueId id(Opcode code, uint32_t dim = 0) { return at(), op(code, Type::Void, {}, dim); }
  ValueId binary(Opcode code, ValueId a, ValueId b) { return at(), op(code, type(a), {a, b}); }
  ValueId less(ValueId a, ValueId b) { return binary(Opcode::Lt, a, b); }
  ValueId load(uint32_t buffer, ValueId index);
  void store(uint32_t buffer, ValueId index, ValueId value);
  ValueId uniform_load(uint32_t buffer, ValueId index, Scope scope = Scope::Workgroup);
  ValueId atomic(Opcode code, uint32_t buffer, ValueId index, ValueId value,
                 Scope scope = Scope::Grid);
  void barrier(Scope scope = Scope::Workgroup) {
    at(), effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(scope));
  }
  /// A condition that differs between invocations / is the same for all.
  ValueId varying() { return less(id(Opcode::LocalId), u32(3)); }
  ValueId uniform() { return less(id(Opcode::NumWorkgroups), u32(3)); }
  ValueId per_workgroup() { return less(id(Opcode::WorkgroupId), u32(3)); }

  /// The line that the next op gets.
  uint32_t line() const { return line_ + 1; }
  Kernel& at();

  uint32_t in = 0, inout = 0, out = 0, tile = 0, n = 0;  // buffers that are there from the start

 private:
  uint32_t line_ = 0;
};

/// The diagnostics as text, for messages of failed tests.
std::string text(const Diagnostics& list);

/// Exactly one error, with this code; gives it.
Diagnostic only_error(const Diagnostics& list, Code code);
/// At least one diagnostic with this code.
bool has(const Diagnostics& list, Code code);
/// No errors.
void expect_legal(const Program& program);
/// Exactly one error, with this code.
Diagnostic expect_error(const Program& program, Code code);

}  // namespace vyre::test
