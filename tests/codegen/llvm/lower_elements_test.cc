// Elements of memory as compiled code: loads of all f16 and bf16 bits, stores of f32 against eval
// and the tables.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

#include "generate/random.h"
#include "ir/eval/eval.h"
#include "tests/codegen/llvm/jit_util.h"
#include "tests/codegen/llvm/op_batch.h"

namespace vyre::cpu_test {
namespace {

using emit_llvm::Isa;

constexpr Isa isas[] = {Isa::X86_64_V2, Isa::X86_64_V3, Isa::X86_64_V4, Isa::AArch64};
constexpr unsigned shapes[] = {0, 1, 2, 4, 8, 16, 32, 64};

/// Every exponent and sign with the fractions around which rounding turns, and noise.
std::vector<uint32_t> floats_to_store() {
  std::vector<uint32_t> list;
  std::ifstream in(VYRE_SOURCE_DIR "/tests/data/storage.tbl");
  for (std::string line, op, bits; std::getline(in, line);) {
    std::istringstream words(line);
    words >> op >> bits;
    if (op.starts_with("store")) list.push_back(uint32_t(std::stoul(bits, nullptr, 16)));
  }
  EXPECT_GT(list.size(), 500u);
  for (uint32_t top = 0; top < 512; ++top)
    for (int bit = 0; bit <= 23; ++bit)
      for (int around = -1; around <= 1; ++around)
        list.push_back((top << 23) + (1u << bit) + uint32_t(around));
  lab::Random random(7);
  for (int i = 0; i < 200'000; ++i) list.push_back(uint32_t(random.next()));
  while (list.size() % 64 != 0) list.push_back(uint32_t(random.next()));
  return list;
}

template <class Out, class In>
std::vector<Out> run(const LoadedObject& loaded, const std::string& name, unsigned lanes,
                     const std::vector<In>& values) {
  std::vector<Out> out(values.size());
  const void* in[] = {values.data()};
  const auto function = reinterpret_cast<BatchFunction>(loaded.find(name));
  if (function) function(values.size() / std::max(lanes, 1u), out.data(), in);
  return out;
}

bool is_nan(Type element, uint32_t bits) {
  return (bits & 0x7fff) > (element == Type::F16 ? 0x7c00u : 0x7f80u);
}

class LowerElements : public testing::TestWithParam<Isa> {};

TEST_P(LowerElements, equal_eval) {
  const ExactFloats exact;
  const Isa isa = GetParam();
  OpBatch batch(isa);
  const auto name = [](const char* what, Type t, unsigned lanes) {
    return what + std::string(vyre::name(t)) + std::to_string(lanes);
  };
  for (unsigned lanes : shapes)
    for (Type t : {Type::F16, Type::BF16}) {
      batch.add(name("load", t, lanes), {Type::U16}, Type::F32, lanes,
                [&](auto& lowering, auto v) { return lowering.from_element(t, v[0]); });
      for (bool visible : {false, true})
        batch.add(name(visible ? "store" : "hidden", t, lanes), {Type::F32}, Type::U16, lanes,
                  [&](auto& lowering, auto v) { return lowering.to_element(t, v[0], visible); });
    }
  for (unsigned lanes : shapes) {
    batch.add(name("store", Type::F32, lanes), {Type::F32}, Type::F32, lanes,
              [&](auto& lowering, auto v) { return lowering.to_element(Type::F32, v[0], true); });
    batch.add(name("store", Type::F64, lanes), {Type::F64}, Type::F64, lanes,
              [&](auto& lowering, auto v) { return lowering.to_element(Type::F64, v[0], true); });
  }
  const std::vector<std::byte> object = batch.object();
  if (!emit_llvm::host_runs(isa)) return;
  const LoadedObject loaded(object);

  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = uint16_t(i);
  const std::vector<uint32_t> floats = floats_to_store();
  std::vector<uint64_t> doubles;
  for (uint32_t bits : floats) doubles.push_back(uint64_t{bits} << 32 | (bits & 1));
  for (unsigned lanes : shapes) {
    for (Type t : {Type::F16, Type::BF16}) {
      const auto loads = run<uint32_t>(loaded, name("load", t, lanes), lanes, halves);
      const auto stores = run<uint16_t>(loaded, name("store", t, lanes), lanes, floats);
      const auto hidden = run<uint16_t>(loaded, name("hidden", t, lanes), lanes, floats);
      for (size_t i = 0; i < halves.size(); ++i) {
        const float want = t == Type::F16 ? from_f16(halves[i]) : from_bf16(halves[i]);
        const float have = std::bit_cast<float>(loads[i]);
        if (want != want && have != have) continue;
        ASSERT_EQ(loads[i], std::bit_cast<uint32_t>(want)) << name("load", t, lanes) << " " << i;
      }
      for (size_t i = 0; i < floats.size(); ++i) {
        const float value = std::bit_cast<float>(floats[i]);
        const uint16_t want = t == Type::F16 ? to_f16(value) : to_bf16(value);
        ASSERT_EQ(stores[i], want) << name("store", t, lanes) << " " << std::hex << floats[i];
        if (value != value)
          ASSERT_TRUE(is_nan(t, hidden[i]))
              << name("hidden", t, lanes) << " " << std::hex << floats[i];
        else
          ASSERT_EQ(hidden[i], want) << name("hidden", t, lanes) << " " << std::hex << floats[i];
      }
    }
    const auto singles = run<uint32_t>(loaded, name("store", Type::F32, lanes), lanes, floats);
    const auto wide = run<uint64_t>(loaded, name("store", Type::F64, lanes), lanes, doubles);
    for (size_t i = 0; i < floats.size(); ++i) {
      const bool nan = (floats[i] & 0x7fffffff) > 0x7f800000;
      ASSERT_EQ(singles[i], nan ? canonical_nan_f32 : floats[i]) << lanes;
      const bool wide_nan = (doubles[i] & ~(1ull << 63)) > 0x7ff0000000000000ull;
      ASSERT_EQ(wide[i], wide_nan ? canonical_nan_f64 : doubles[i]) << lanes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, LowerElements, testing::ValuesIn(isas), [](const auto& i) {
  std::string text(emit_llvm::name(i.param));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

}  // namespace
}  // namespace vyre::cpu_test
