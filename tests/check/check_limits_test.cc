// Limits, names, buffers, sizes and order-dependent results.
#include "check/check_limits.h"

#include <gtest/gtest.h>

#include "tests/check/check_kernel_util.h"

namespace vyre::test {
namespace {

Program with_workgroup(uint32_t x, uint32_t y, uint32_t z) {
  Kernel k;
  k.program.workgroup = {x, y, z};
  return k.finish();
}

TEST(Limits, workgroup_sizes) {
  EXPECT_TRUE(check(with_workgroup(256, 1, 1)).empty());
  expect_legal(with_workgroup(16, 16, 4));
  expect_error(with_workgroup(1025, 1, 1), Code::BadWorkgroup);
  expect_error(with_workgroup(32, 32, 2), Code::BadWorkgroup);
  expect_error(with_workgroup(0, 1, 1), Code::BadWorkgroup);
  expect_error(with_workgroup(1u << 31, 1u << 31, 4), Code::BadWorkgroup);  // wraps to 0 in 64 bits
}

TEST(Limits, workgroup_above_what_every_device_has_is_a_warning) {
  const Diagnostics found = check(with_workgroup(257, 1, 1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, Code::LargeWorkgroup);
  EXPECT_EQ(found[0].severity, Severity::Warning);
}

TEST(Limits, shared_memory_above_what_every_device_has_is_a_warning) {
  Kernel k;
  k.add_buffer("s", Role::Shared, Type::U32, k.constant_size(8192 - 64));
  EXPECT_TRUE(check(k.finish()).empty());
  Kernel more;
  more.add_buffer("s", Role::Shared, Type::U32, more.constant_size(8192 - 63));
  const Diagnostics found = check(more.finish());
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].code, Code::LargeSharedMemory);
}

TEST(Limits, subgroup_sizes) {
  for (const uint32_t size : {0, 1, 2, 32, 64}) {
    Kernel k;
    k.program.subgroup = size;
    expect_legal(k.finish());
  }
  for (const uint32_t size : {3, 24, 128}) {
    Kernel k;
    k.program.subgroup = size;
    expect_error(k.finish(), Code::SubgroupSizeNotAllowed);
  }
}

TEST(Limits, too_many_buffers) {
  Kernel k;
  while (k.program.buffers.size() < limits::buffers)
    k.add_buffer("b" + std::to_string(k.program.buffers.size()), Role::In, Type::U32);
  const Program p = k.program;
  k.add_buffer("more", Role::In, Type::U32);
  expect_error(k.finish(), Code::TooManyBuffers);
}

TEST(Limits, tables_above_64_kib) {
  Kernel k;
  k.program.table_bytes.resize(limits::table_bytes);
  k.add_buffer("t", Role::Table, Type::U8, k.constant_size(limits::table_bytes));
  Program p = k.finish();
  expect_legal(p);
  p.table_bytes.resize(limits::table_bytes + 1);
  expect_error(p, Code::TablesTooLarge);
}

TEST(Limits, long_names) {
  Kernel k;
  k.program.name = std::string(255, 'k');
  k.begin_region(std::string(255, 'r'));
  k.end_region();
  Program p = k.finish();
  expect_legal(p);
  Program longer = p;
  longer.name += "k";
  expect_error(longer, Code::NameOverLimit);
  longer = p;
  longer.buffers[0].name = std::string(50 << 20, 'b');
  const Diagnostic d = expect_error(longer, Code::NameOverLimit);
  EXPECT_LT(d.message.size(), 200u);
  longer = p;
  longer.strings[p.ops[OpId(0)].attr] += "r";
  expect_error(longer, Code::NameOverLimit);
  longer = p;
  longer.op_id = std::string(256, 'o');
  expect_error(longer, Code::NameOverLimit);
}

TEST(Limits, names_that_cannot_be_written) {
  for (const char* name : {"", "1st", "a b", "x\n}", "caf\xc3\xa9"}) {
    Kernel k;
    k.program.buffers[0].name = name;
    const Diagnostic d = expect_error(k.finish(), Code::BadName);
    EXPECT_EQ(d.message.find('\n'), std::string::npos);
  }
}

// ---- Buffers and sizes.

TEST(Buffers, two_parameters_of_one_name) {
  Kernel k;
  k.add_buffer("x", Role::In, Type::U32);
  const Diagnostic d = expect_error(k.finish(), Code::DuplicateParameter);
  EXPECT_EQ(d.notes.size(), 1u);
}

TEST(Buffers, arrays_of_the_body_may_share_a_name) {
  Kernel k;
  k.add_buffer("tile", Role::Shared, Type::U32, k.constant_size(1));
  expect_legal(k.finish());
}

TEST(Buffers, void_elements_and_half_scalars) {
  Kernel k;
  k.add_buffer("v", Role::In, Type::Void);
  expect_error(k.finish(), Code::BadElementType);
  Kernel h;
  h.add_buffer("h", Role::Scalar, Type::F16);
  expect_error(h.finish(), Code::BadElementType);
}

TEST(Buffers, shared_array_without_a_constant_length) {
  Kernel k;
  k.add_buffer("s", Role::Shared, Type::U32, k.program.formulas.len(k.in));
  expect_error(k.finish(), Code::LengthNotConstant);
  Kernel none_given;
  none_given.add_buffer("p", Role::Private, Type::U32);
  expect_error(none_given.finish(), Code::LengthNotConstant);
}

TEST(Buffers, length_of_a_later_parameter) {
  Kernel k;
  k.program.buffers[k.in].count = k.program.formulas.len(k.inout);
  expect_error(k.finish(), Code::FormulaLaterName);
}

TEST(Buffers, length_of_itself) {
  Kernel k;
  k.program.buffers[k.out].count = k.program.formulas.len(k.out);
  expect_error(k.finish(), Code::FormulaLaterName);
}

TEST(Buffers, formulas_over_things_that_are_no_sizes) {
  const auto rejects = [](auto make) {
    Kernel k;
    k.add_buffer("f", Role::Scalar, Type::F32);
    FormulaPool& pool = k.program.formulas;
    const FormulaId sum = pool.binary(FormulaOp::Add, pool.constant(1), make(k, pool));
    k.add_buffer("o", Role::Out, Type::U32, sum);
    expect_error(k.finish(), Code::FormulaName);
  };
  rejects([](Kernel& k, FormulaPool& f) { return f.len(k.n); });
  rejects([](Kernel& k, FormulaPool& f) { return f.len(k.tile); });
  rejects([](Kernel& k, FormulaPool& f) { return f.scalar(k.in); });
  rejects(
      [](Kernel& k, FormulaPool& f) { return f.scalar(uint32_t(k.program.buffers.size() - 1)); });
}

TEST(Buffers, constant_formulas_that_fail) {
  Kernel k;
  FormulaPool& f = k.program.formulas;
  k.add_buffer("o", Role::Out, Type::U32, f.binary(FormulaOp::Div, f.constant(1), f.constant(0)));
  expect_error(k.finish(), Code::FormulaFails);
  Kernel m;
  FormulaPool& g = m.program.formulas;
  m.add_buffer("s", Role::Shared, Type::U32,
               g.binary(FormulaOp::Sub, g.constant(1), g.constant(2)));
  expect_error(m.finish(), Code::FormulaFails);
}

// Printed, this formula would be longer than the universe.
TEST(Buffers, formula_that_doubles_a_hundred_times) {
  Kernel k;
  FormulaId f = k.program.formulas.len(k.in);
  for (int i = 0; i < 100; ++i) f = k.program.formulas.binary(FormulaOp::Add, f, f);
  k.program.buffers[k.out].count = f;
  expect_error(k.finish(), Code::FormulaTooLarge);
}

TEST(Buffers, sizes_beyond_all_memory) {
  for (const Role role : {Role::Out, Role::Shared, Role::Private}) {
    Kernel k;
    k.add_buffer("b", role, Type::U64, k.constant_size(1ull << 62));
    expect_error(k.finish(), Code::SizeTooLarge);
  }
  Kernel u;
  u.add_buffer("u", Role::Uniform, Type::F32, u.constant_size(16384));
  expect_legal(u.finish());
  Kernel v;
  v.add_buffer("v", Role::Uniform, Type::F32, v.constant_size(16385));
  expect_error(v.finish(), Code::SizeTooLarge);
}

TEST(Buffers, table_outside_of_the_table_bytes) {
  for (const uint64_t offset : {1ull, 5ull, ~0ull}) {
    Kernel k;
    k.program.table_bytes.resize(4);
    const uint32_t t = k.add_buffer("t", Role::Table, Type::U8, k.constant_size(4));
    k.program.buffers[t].table_offset = offset;
    expect_error(k.finish(), Code::TableOutside);
  }
}

TEST(Buffers, scalar_with_a_length) {
  Kernel k;
  k.program.buffers[k.n].count = k.constant_size(2);
  expect_error(k.finish(), Code::ScalarWithLength);
}

TEST(Buffers, grid_with_a_missing_or_a_fourth_dimension) {
  Kernel k;
  k.program.grid_dims = 4;
  expect_error(k.finish(), Code::BadGrid);
  Kernel m;
  m.program.grid_dims = 2;
  expect_error(m.finish(), Code::BadGrid);
}

TEST(Buffers, grid_may_use_every_parameter) {
  Kernel k;
  const uint32_t last = k.add_buffer("last", Role::In, Type::U32);
  k.program.grid[0] = k.program.formulas.len(last);
  expect_legal(k.finish());
  Kernel s;
  s.program.grid[0] = s.program.formulas.len(s.tile);
  expect_error(s.finish(), Code::FormulaName);
}

// ---- Order.

TEST(Order, used_old_value_is_noted) {
  Kernel k;
  k.atomic(Opcode::AtomicAdd, k.inout, k.u32(0), k.u32(1));
  EXPECT_TRUE(check(k.finish()).empty());
  Kernel used;
  const ValueId old = used.atomic(Opcode::AtomicAdd, used.inout, used.u32(0), used.u32(1));
  used.store(used.out, old, old);
  const Diagnostics found = check(used.finish());
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].code, Code::OldValueOrder);
  EXPECT_EQ(found[0].severity, Severity::Note);
}

TEST(Order, float_add_is_noted_and_with_exact_an_error) {
  Kernel k;
  const uint32_t f = k.add_buffer("f", Role::InOut, Type::F32);
  k.atomic(Opcode::AtomicAdd, f, k.u32(0), k.constant(Type::F32, 0));
  const Program p = k.finish();
  const Diagnostics found = check(p);
  ASSERT_EQ(found.size(), 1u) << text(found);
  EXPECT_EQ(found[0].code, Code::FloatAddOrder);
  only_error(check(p, {.exact = true}), Code::FloatAddNotExact);
}

}  // namespace
}  // namespace vyre::test
