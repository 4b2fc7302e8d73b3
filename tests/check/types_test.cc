// Each row of ops.def for each type, and accesses that do not fit their buffers.
#include <gtest/gtest.h>

#include "tests/check/check_kernel_util.h"

namespace vyre::test {
namespace {

constexpr Type value_types[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16, Type::I32,
                                Type::U32,  Type::I64, Type::U64, Type::F32, Type::F64};

// One op of the row with operands and a buffer that fit it for type `t`.
Program one_op(Opcode code, Type t) {
  Kernel k;
  const OpInfo& row = info(code);
  const Type element = row.types == TypeSet::None || !is_value(t) ? Type::U32 : t;
  std::vector<ValueId> operands;
  for (const char letter : row.operands) {
    Type type = letter == 'I' || letter == 'S' ? Type::U32 : result_type(letter, element);
    if (code == Opcode::Bitcast) type = element;
    operands.push_back(k.constant(type, 1));
  }
  uint64_t attr = 0;
  if (row.attribute == AttrKind::Memory) {
    const bool as = code == Opcode::LoadAs;
    attr = MemoryRef{BufferId(k.add_buffer("b", Role::InOut, as ? Type::U8 : element))}.pack();
  }
  if (row.attribute == AttrKind::Buffer)
    attr = code == Opcode::Scalar ? k.add_buffer("s", Role::Scalar, element) : k.in;
  if (row.attribute == AttrKind::Scope) attr = 1;
  const Type op_type = row.types == TypeSet::None ? Type::Void : t;
  if (row.result == '-')
    k.effect(code, op_type, {}, attr);
  else
    k.op(code, op_type, operands, attr);
  Program p = k.finish();
  if (row.result == '-') {  // the builder takes only lists of known length for these
    for (const OpId op : p.ops.ids())
      if (p.ops[op].code == code) p.ops[op].operands = p.add_list(operands);
  }
  return p;
}

TEST(Types, every_row_takes_the_types_it_says) {
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const Opcode code = static_cast<Opcode>(i);
    const OpInfo& row = info(code);
    if (row.operands == "?" || is_exit(code)) continue;
    for (const Type t : value_types) {
      const Diagnostics found = check(one_op(code, t));
      const bool legal = row.types == TypeSet::None || contains(row.types, t);
      // One lane's index as a u32 constant makes uniform_load and broadcast legal.
      EXPECT_EQ(!has_errors(found), legal) << row.mnemonic << " " << name(t) << "\n" << text(found);
    }
  }
}

TEST(Types, modulo_of_floats) {
  Kernel k;
  const ValueId a = k.constant(Type::F32, 0);
  k.binary(Opcode::Rem, a, a);
  const Diagnostic d = expect_error(k.finish(), Code::OpTypeNotAllowed);
  EXPECT_EQ(d.message, "`rem` takes an integer, not f32");
  EXPECT_FALSE(d.fix.empty());
}

TEST(Types, id_with_a_type_of_its_own) {
  Kernel k;
  k.op(Opcode::LocalId, Type::U32, {});
  expect_error(k.finish(), Code::OpTypeNotAllowed);
}

TEST(Types, exp_of_f64) {
  Kernel k;
  k.op(Opcode::Exp, Type::F64, {k.constant(Type::F64, 0)});
  expect_error(k.finish(), Code::FunctionOfF64);
}

TEST(Types, sum_of_two_types) {
  Kernel k;
  k.op(Opcode::Add, Type::U32, {k.u32(1), k.constant(Type::I32, 1)});
  const Diagnostic d = expect_error(k.finish(), Code::OperandType);
  EXPECT_EQ(d.message, "operand 2 of `add` must be u32, not i32");
}

TEST(Types, float_index) {
  Kernel k;
  k.load(k.in, k.constant(Type::F32, 0));
  expect_error(k.finish(), Code::OperandType);
}

TEST(Types, condition_that_is_a_number) {
  Kernel k;
  k.begin_if(k.u32(1));
  k.end_if();
  expect_error(k.finish(), Code::OperandType);
}

TEST(Types, loop_over_floats) {
  Kernel k;
  const ValueId zero = k.constant(Type::F32, 0);
  k.begin_for(zero, zero, zero);
  k.end_for();
  expect_error(k.finish(), Code::OperandType);
}

TEST(Types, loop_bounds_of_two_types) {
  Kernel k;
  k.begin_for(k.u32(0), k.constant(Type::U64, 3), k.u32(1));
  k.end_for();
  expect_error(k.finish(), Code::OperandType);
}

TEST(Types, comparison_with_a_number_as_its_result) {
  Kernel k;
  k.less(k.u32(1), k.u32(2));
  Program p = k.finish();
  p.values[p.result(OpId(2))].type = Type::U32;
  expect_error(p, Code::ResultType);
}

TEST(Types, bitcast_to_another_width) {
  Kernel k;
  k.op(Opcode::Bitcast, Type::U64, {k.u32(1)});
  expect_error(k.finish(), Code::BitcastOfOtherWidth);
}

TEST(Types, bitcast_of_bool_to_a_byte) {
  Kernel k;
  k.op(Opcode::Bitcast, Type::U8, {k.varying()});
  expect_error(k.finish(), Code::BitcastOfOtherWidth);
}

TEST(Types, constant_with_too_many_bits) {
  for (const auto& [type, bits] : {std::pair{Type::Bool, 2ull},
                                   {Type::U8, 256ull},
                                   {Type::I16, ~0ull},
                                   {Type::F32, 1ull << 32}}) {
    Kernel k;
    k.op(Opcode::Const, type, {}, bits);
    expect_error(k.finish(), Code::ConstantTooWide);
  }
}

// A loop that carries one value.
Program carrying() {
  Kernel k;
  const VarId v = k.declare(k.u32(0));
  k.begin_for(k.u32(0), k.u32(3), k.u32(1));
  k.set(v, k.u32(5));
  k.end_for();
  k.store(k.out, k.u32(0), k.get(v));
  return k.finish();
}

OpId find(const Program& p, Opcode code) {
  for (const OpId op : p.ops.ids())
    if (p.ops[op].code == code) return op;
  return none;
}

TEST(Types, carried_value_that_changes_its_type) {
  Program p = carrying();
  p.values[p.args(BlockId(1))[1]].type = Type::U64;
  expect_error(p, Code::CarriedType);
}

TEST(Types, counter_of_another_type_than_its_bounds) {
  Program p = carrying();
  p.values[p.args(BlockId(1))[0]].type = Type::U64;
  expect_error(p, Code::CarriedType);
}

TEST(Types, yield_of_another_type) {
  Program p = carrying();
  p.ids[p.ops[find(p, Opcode::Yield)].operands.begin] = p.args(BlockId(1))[0];
  expect_legal(p);
  const OpId loop = find(p, Opcode::For);
  p.values[p.args(BlockId(1))[0]].type = Type::I8;
  for (int i = 0; i < 3; ++i) {
    const OpId bound = p.values[p.operand(loop, i)].def;
    p.ops[bound].type = p.values[p.result(bound)].type = Type::I8;
  }
  const Diagnostic d = expect_error(p, Code::CarriedType);
  EXPECT_EQ(d.op, "yield");
  EXPECT_EQ(d.notes.size(), 1u);
}

// ---- Memory.

TEST(Memory, store_of_another_type) {
  Kernel k;
  k.effect(Opcode::Store, Type::F32, {k.u32(0), k.constant(Type::F32, 0)},
           MemoryRef{BufferId(k.out)}.pack());
  const Diagnostic d = expect_error(k.finish(), Code::ElementType);
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes[0].message, "`z` is declared here: out u32");
}

TEST(Memory, half_floats_load_as_f32) {
  Kernel k;
  const uint32_t h = k.add_buffer("h", Role::InOut, Type::F16);
  k.store(h, k.u32(0), k.load(h, k.u32(1)));
  expect_legal(k.finish());
}

TEST(Memory, store_to_an_input) {
  Kernel k;
  k.store(k.in, k.u32(0), k.u32(0));
  expect_error(k.finish(), Code::StoreToReadOnly);
}

TEST(Memory, store_to_a_table) {
  Kernel k;
  const uint32_t t = k.add_buffer("t", Role::Table, Type::U32, k.constant_size(1));
  k.program.table_bytes.resize(4);
  k.store(t, k.u32(0), k.u32(0));
  expect_error(k.finish(), Code::StoreToReadOnly);
}

TEST(Memory, atomic_on_an_input) {
  Kernel k;
  k.atomic(Opcode::AtomicAdd, k.in, k.u32(0), k.u32(1));
  expect_error(k.finish(), Code::AtomicRole);
}

TEST(Memory, atomic_on_a_private_array) {
  Kernel k;
  const uint32_t w = k.add_buffer("w", Role::Private, Type::U32, k.constant_size(4));
  k.atomic(Opcode::AtomicAdd, w, k.u32(0), k.u32(1));
  expect_error(k.finish(), Code::AtomicRole);
}

TEST(Memory, atomic_on_bytes) {
  Kernel k;
  const uint32_t b = k.add_buffer("b", Role::InOut, Type::U8);
  k.atomic(Opcode::AtomicMax, b, k.u32(0), k.constant(Type::U8, 1));
  expect_error(k.finish(), Code::AtomicElement);
}

TEST(Memory, atomic_max_of_floats) {
  Kernel k;
  const uint32_t b = k.add_buffer("b", Role::InOut, Type::F32);
  k.atomic(Opcode::AtomicMax, b, k.u32(0), k.constant(Type::F32, 1));
  expect_error(k.finish(), Code::AtomicElement);
}

TEST(Memory, device_atomic_on_shared_memory) {
  Kernel k;
  k.atomic(Opcode::AtomicAdd, k.tile, k.u32(0), k.u32(1), Scope::Workgroup);
  k.atomic(Opcode::AtomicAdd, k.tile, k.u32(0), k.u32(1), Scope::Grid);
  expect_error(k.finish(), Code::AtomicScope);
}

TEST(Memory, subgroup_atomic) {
  Kernel k;
  k.atomic(Opcode::AtomicAdd, k.inout, k.u32(0), k.u32(1), Scope::Subgroup);
  expect_error(k.finish(), Code::AtomicScope);
}

TEST(Memory, load_from_a_scalar) {
  Kernel k;
  k.load(k.n, k.u32(0));
  expect_error(k.finish(), Code::ScalarIsNoBuffer);
}

TEST(Memory, length_of_a_scalar) {
  Kernel k;
  k.op(Opcode::Len, Type::Void, {}, k.n);
  expect_error(k.finish(), Code::ScalarIsNoBuffer);
}

TEST(Memory, buffer_as_a_scalar) {
  Kernel k;
  k.op(Opcode::Scalar, Type::U32, {}, k.in);
  expect_error(k.finish(), Code::ScalarIsNoBuffer);
}

TEST(Memory, scalar_of_another_type) {
  Kernel k;
  k.op(Opcode::Scalar, Type::F32, {}, k.n);
  expect_error(k.finish(), Code::ElementType);
}

TEST(Memory, load_as_from_floats) {
  Kernel k;
  const uint32_t b = k.add_buffer("b", Role::In, Type::F32);
  k.op(Opcode::LoadAs, Type::U32, {k.u32(0)}, MemoryRef{BufferId(b)}.pack());
  expect_error(k.finish(), Code::LoadAsElement);
}

TEST(Memory, vector_access_above_sixteen_bytes) {
  Kernel k;
  k.load_n(Type::U32, k.u32(0), 4, MemoryRef{BufferId(k.in)}.pack());
  k.load_n(Type::U32, k.u32(0), 5, MemoryRef{BufferId(k.in)}.pack());
  expect_error(k.finish(), Code::VectorTooWide);
  Kernel s;
  const std::vector<ValueId> values(5, s.u32(0));
  s.store_n(Type::U32, s.u32(0), values, MemoryRef{BufferId(s.out)}.pack());
  expect_error(s.finish(), Code::VectorTooWide);
}

TEST(Memory, vector_access_of_nothing) {
  Kernel k;
  k.load_n(Type::U32, k.u32(0), 0, MemoryRef{BufferId(k.in)}.pack());
  expect_error(k.finish(), Code::WrongOperandCount);
  Kernel s;
  s.store_n(Type::U32, s.u32(0), {}, MemoryRef{BufferId(s.out)}.pack());
  expect_error(s.finish(), Code::WrongOperandCount);
}

TEST(Memory, uniform_load_from_a_private_array) {
  Kernel k;
  const uint32_t w = k.add_buffer("w", Role::Private, Type::U32, k.constant_size(4));
  k.uniform_load(w, k.u32(0));
  expect_error(k.finish(), Code::UniformLoadBuffer);
}

TEST(Memory, uniform_load_over_the_grid_from_shared_memory) {
  Kernel k;
  k.uniform_load(k.tile, k.u32(0));
  k.uniform_load(k.tile, k.u32(0), Scope::Grid);
  expect_error(k.finish(), Code::UniformLoadScope);
}

TEST(Memory, uniform_load_over_a_subgroup) {
  Kernel k;
  k.uniform_load(k.inout, k.u32(0), Scope::Subgroup);
  expect_error(k.finish(), Code::UniformLoadScope);
}

}  // namespace
}  // namespace vyre::test
