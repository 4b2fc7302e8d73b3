// Subgroup ops as compiled code against the interpreter's, which has its own test against the
// tables: every op, type and size, with whole, partial and ragged subgroups.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "generate/interesting.h"
#include "interp/interp_subgroup.h"
#include "ir/eval/eval.h"
#include "tests/codegen/llvm/jit_util.h"
#include "tests/codegen/llvm/op_batch.h"

namespace vyre::cpu_test {
namespace {

using emit_llvm::Isa;

constexpr Isa isas[] = {Isa::X86_64_V2, Isa::X86_64_V3, Isa::X86_64_V4, Isa::AArch64};
constexpr unsigned sizes[] = {1, 2, 4, 8, 16, 32, 64};
constexpr unsigned lanes_in_all = 64 * 24;
constexpr std::array<uint32_t, 11> amounts = {0,  1,  2,  3,           7,          8,
                                              31, 63, 64, 0x80000000u, 0xffffffffu};

/// Where an op's second operand comes from.
enum class Amount { None, Varying, Uniform, Constant };

struct Form {
  Opcode code;
  Type type;
  Amount amount = Amount::None;
  uint32_t constant = 0;
  bool masked = false;

  Type result() const {
    const char r = info(code).result;
    return r == 'L' ? Type::U64 : r == 'B' ? Type::Bool : type;
  }
  std::string text(unsigned size) const {
    std::ostringstream out;
    out << mnemonic(code) << "_" << name(type) << "_" << size << "_" << int(amount) << "_"
        << constant << (masked ? "_masked" : "");
    return out.str();
  }
};

/// Large subgroups take long to compile: fewer types and constants, others for each size.
/// VYRE_ALL_SHAPES in the environment: all of them (minutes).
std::vector<Form> all_forms(unsigned size) {
  const bool all = std::getenv("VYRE_ALL_SHAPES") != nullptr;
  std::vector<Form> forms;
  const auto take = [&](Form form) {
    for (bool masked : {false, true}) {
      form.masked = masked;
      if (all || masked || form.type == Type::F32) forms.push_back(form);
    }
  };
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& op = all_ops()[i];
    const Opcode code = static_cast<Opcode>(i);
    if (op.effect != Effect::Convergent) continue;
    for (int t = 1; t < type_count; ++t) {
      const Type type = static_cast<Type>(t);
      if (!is_value(type)) continue;
      if (op.types == TypeSet::None ? type != Type::Bool : !contains(op.types, type)) continue;
      const bool always = type == Type::Bool || (type == Type::F32 && op.operands.size() == 1);
      if (!all && !always && size > 8 && (t + i + size / 16) % 4 != 0) continue;
      if (op.operands.size() == 1) {
        take({code, type});
        continue;
      }
      take({code, type, Amount::Uniform});
      if (code != Opcode::SubgroupBroadcast) take({code, type, Amount::Varying});
      if (type == Type::F32 || type == Type::Bool)
        for (size_t x = 0; x < amounts.size(); ++x)
          if (all || (x + i + size) % 4 == 0) take({code, type, Amount::Constant, amounts[x]});
    }
  }
  return forms;
}

void put(std::vector<std::byte>& to, Type t, uint64_t bits) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
  to.insert(to.end(), bytes, bytes + size_of(t));
}

uint64_t canonical_at(const std::vector<std::byte>& from, Type t, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, from.data() + i * size_of(t), size_of(t));
  if (t == Type::F32 && (bits & 0x7fffffff) > 0x7f800000) return canonical_nan_f32;
  if (t == Type::F64 && (bits & ~(1ull << 63)) > 0x7ff0000000000000ull) return canonical_nan_f64;
  return bits;
}

void check(const LoadedObject& loaded, const Form& form, unsigned size) {
  lab::Random random(size * 1000 + static_cast<uint64_t>(form.code));
  std::vector<std::byte> values;
  std::vector<uint8_t> active;
  std::vector<uint32_t> operand;
  for (unsigned l = 0; l < lanes_in_all; ++l) {
    const unsigned group = l / size;
    const uint64_t bits = random.chance(70) ? lab::interesting_bits(random, form.type)
                                            : random.next() & low_mask(width_of(form.type));
    put(values, form.type, form.type == Type::Bool ? bits & 1 : bits);
    // Subgroups are in turn full, partial at the end, with holes, and mostly inactive.
    const bool in = group % 4 == 0   ? true
                    : group % 4 == 1 ? l % size <= group % size
                    : group % 4 == 2 ? random.chance(80)
                                     : random.chance(10);
    active.push_back(!form.masked || in);
    uint32_t x = random.chance(90) ? uint32_t(random.below(size + 2)) : random.pick(amounts);
    if (form.amount == Amount::Uniform && l % size != 0) x = operand[l - l % size];
    if (form.amount == Amount::Constant) x = form.constant;
    operand.push_back(x);
  }
  const Type result = form.result();
  std::vector<std::byte> expected(lanes_in_all * size_of(result)), got(expected.size()), scratch;
  interp::run_subgroup({form.code, form.type, lanes_in_all, size, active.data(), values.data(),
                        form.amount == Amount::None ? nullptr : operand.data(), expected.data()},
                       scratch);
  const auto run = reinterpret_cast<BatchFunction>(loaded.find(form.text(size)));
  ASSERT_NE(run, nullptr);
  const void* in[] = {values.data(), active.data(), operand.data()};
  run(lanes_in_all / size, got.data(), in);
  for (unsigned l = 0; l < lanes_in_all; ++l) {
    if (!active[l]) continue;  // results of inactive lanes are unspecified
    ASSERT_EQ(canonical_at(got, result, l), canonical_at(expected, result, l))
        << form.text(size) << " lane " << l << " operand " << operand[l];
  }
}

class LowerSubgroup : public testing::TestWithParam<Isa> {};

TEST_P(LowerSubgroup, equal_interpreter) {
  const ExactFloats exact;
  const Isa isa = GetParam();
  for (unsigned size : sizes) {
    const std::vector<Form> forms = all_forms(size);
    OpBatch batch(isa);
    for (const Form& form : forms)
      batch.add(form.text(size), {form.type, Type::Bool, Type::U32}, form.result(), size,
                [&](emit_llvm::OpLowering& lowering, llvm::ArrayRef<llvm::Value*> v) {
                  llvm::SmallVector<llvm::Value*, 2> operands = {v[0]};
                  llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(v[0])->getParent());
                  if (form.amount == Amount::Varying) operands.push_back(v[2]);
                  if (form.amount == Amount::Uniform)
                    operands.push_back(
                        b.CreateVectorSplat(size, b.CreateExtractElement(v[2], uint64_t{0})));
                  if (form.amount == Amount::Constant)
                    operands.push_back(b.CreateVectorSplat(size, b.getInt32(form.constant)));
                  const Type type =
                      info(form.code).types == TypeSet::None ? form.result() : form.type;
                  return lowering.subgroup(form.code, type, operands, form.masked ? v[1] : nullptr);
                });
    const std::vector<std::byte> object = batch.object();
    if (!emit_llvm::host_runs(isa)) continue;
    const LoadedObject loaded(object);
    for (const Form& form : forms) check(loaded, form, size);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, LowerSubgroup, testing::ValuesIn(isas), [](const auto& i) {
  std::string text(emit_llvm::name(i.param));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

}  // namespace
}  // namespace vyre::cpu_test
