// Every pure op, type and shape as compiled code, against eval, on each instruction set that this
// machine runs; for AArch64 only that it compiles and calls nothing it may not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "codegen/llvm/isa.h"
#include "tests/codegen/llvm/jit_util.h"
#include "tests/codegen/llvm/op_batch.h"
#include "tests/codegen/llvm/op_cases.h"

namespace vyre::cpu_test {
namespace {

using emit_llvm::Isa;

constexpr Isa isas[] = {Isa::X86_64_V2, Isa::X86_64_V3, Isa::X86_64_V4, Isa::AArch64};
constexpr unsigned all_shapes[] = {0, 1, 2, 4, 8, 16, 32, 64};

unsigned natural_lanes(Isa isa) { return emit_llvm::vector_bytes(isa) / 4; }

/// Scalars, a register of 32-bit lanes, and on one of the instruction sets one more shape, in turn.
/// VYRE_ALL_SHAPES in the environment: all of them (minutes).
std::vector<unsigned> shapes_for(Isa isa, size_t turn) {
  if (std::getenv("VYRE_ALL_SHAPES")) return {std::begin(all_shapes), std::end(all_shapes)};
  const unsigned natural = natural_lanes(isa), other = all_shapes[1 + turn % 7];
  if (other == natural || turn % 4 != static_cast<size_t>(isa)) return {0, natural};
  return {0, natural, other};
}

std::string function_name(const Key& key, unsigned lanes) {
  return key.text() + "_" + std::to_string(lanes);
}

void add_op(OpBatch& batch, const Key& key, unsigned lanes) {
  batch.add(function_name(key, lanes), key.operands(), key.result(), lanes,
            [&](emit_llvm::OpLowering& lowering, llvm::ArrayRef<llvm::Value*> values) {
              return lowering.pure(key.code, key.result(), key.operand0(), values);
            });
}

std::string text_of(Isa isa) {
  std::string text(emit_llvm::name(isa));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

TEST(LowerOps, equal_eval_in_every_shape) {
  const ExactFloats exact;
  const std::vector<Key> keys = all_keys();
  EXPECT_GT(keys.size(), 400u);
  std::map<Isa, std::unique_ptr<LoadedObject>> loaded;
  for (Isa isa : isas) {
    SCOPED_TRACE(emit_llvm::name(isa));
    OpBatch batch(isa);
    for (size_t k = 0; k < keys.size(); ++k)
      for (unsigned lanes : shapes_for(isa, k)) add_op(batch, keys[k], lanes);
    const std::vector<std::byte> object = batch.object();
    if (emit_llvm::host_runs(isa)) loaded[isa] = std::make_unique<LoadedObject>(object);
  }
  for (size_t k = 0; k < keys.size(); ++k) {
    const Key& key = keys[k];
    const Cases cases = make_cases(key, width_of(key.operand0()) >= 32 ? 100'000 : 20'000);
    const auto pointers = cases.pointers();
    std::vector<std::byte> got(cases.expected.size());
    for (const auto& [isa, object] : loaded) {
      SCOPED_TRACE(emit_llvm::name(isa));
      for (unsigned lanes : shapes_for(isa, k)) {
        const size_t count = lanes == natural_lanes(isa) || lanes == 0
                                 ? cases.count
                                 : std::min<size_t>(cases.count, 16384);
        std::fill(got.begin(), got.end(), std::byte{0xee});
        const auto run = reinterpret_cast<BatchFunction>(object->find(function_name(key, lanes)));
        ASSERT_NE(run, nullptr);
        run(count / std::max(lanes, 1u), got.data(), pointers.data());
        compare(function_name(key, lanes), key, cases, got, count);
      }
    }
  }
}

class LowerConstants : public testing::TestWithParam<Isa> {};

// Constants let OpLowering and LLVM choose other forms: multiplication for division, one
// instruction for min and max, shifts whose amount is known.
TEST_P(LowerConstants, equal_eval) {
  const ExactFloats exact;
  const Isa isa = GetParam();
  const unsigned natural = natural_lanes(isa);
  struct Form {
    Key key;
    std::vector<uint64_t> constants;
    unsigned lanes;
    std::string name;
  };
  std::vector<Form> forms;
  for (const Key& key : all_keys()) {
    const std::vector<Type> types = key.operands();
    if (types.size() < 2 || key.type == Type::Bool) continue;
    const bool many = key.code == Opcode::Div || key.code == Opcode::Rem ||
                      key.code == Opcode::CeilDiv || key.code == Opcode::Min ||
                      key.code == Opcode::Max;
    const uint64_t top = 1ull << (width_of(key.type) - 1);
    const uint64_t fixed[] = {0, 1, low_mask(width_of(key.type)), top, 3, 7, top - 1, top + 1};
    for (size_t c = 0; c < (many ? 12 : 2); ++c) {
      Form form{key, {}, forms.size() % 3 == 0 ? 0 : natural, "c" + std::to_string(forms.size())};
      for (size_t i = 1; i < types.size(); ++i)
        form.constants.push_back(many && c < 8 ? fixed[c]
                                               : some_operand(forms.size() * 10 + i, key, i));
      forms.push_back(form);
    }
  }
  OpBatch batch(isa);
  for (const Form& form : forms)
    batch.add(form.name, form.key.operands(), form.key.result(), form.lanes,
              [&](emit_llvm::OpLowering& lowering, llvm::ArrayRef<llvm::Value*> values) {
                llvm::SmallVector<llvm::Value*, 4> operands = {values[0]};
                for (size_t i = 1; i < values.size(); ++i) {
                  auto* one = llvm::cast<llvm::Constant>(
                      lowering.constant(form.key.operands()[i], form.constants[i - 1]));
                  const auto count = llvm::ElementCount::getFixed(form.lanes);
                  operands.push_back(form.lanes ? llvm::ConstantVector::getSplat(count, one) : one);
                }
                return lowering.pure(form.key.code, form.key.result(), form.key.operand0(),
                                     operands);
              });
  const std::vector<std::byte> object = batch.object();
  if (!emit_llvm::host_runs(isa)) return;
  const LoadedObject loaded(object);
  for (const Form& form : forms) {
    const Cases cases = make_cases(form.key, 1000, form.constants);
    const auto pointers = cases.pointers();
    std::vector<std::byte> got(cases.expected.size());
    const auto run = reinterpret_cast<BatchFunction>(loaded.find(form.name));
    ASSERT_NE(run, nullptr);
    run(cases.count / std::max(form.lanes, 1u), got.data(), pointers.data());
    compare(function_name(form.key, form.lanes) + " with constants", form.key, cases, got,
            cases.count);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, LowerConstants, testing::ValuesIn(isas),
                         [](const auto& i) { return text_of(i.param); });

}  // namespace
}  // namespace vyre::cpu_test
