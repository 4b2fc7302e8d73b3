// Every line of tests/data/*.tbl (results that vyre did not make) against eval, one lane at a time
// and many lanes at once, and that the tables leave no pure op and no type out.

#include "ir/eval/eval.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace vyre {
namespace {

struct Case {
  std::vector<uint64_t> in;
  uint64_t expected;
  std::string line;
};
using Key = std::tuple<Opcode, Type, Type>;  // op, T, source

bool is_nan_bits(Type t, uint64_t bits) {
  if (t == Type::F32) return (bits & 0x7fffffff) > 0x7f800000;
  if (t == Type::F64) return (bits & ~(1ull << 63)) > 0x7ff0000000000000ull;
  return false;
}
uint64_t canonical(Type t, uint64_t bits) {
  if (!is_nan_bits(t, bits)) return bits;
  return t == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
}

Type result_of(const Key& key) {
  return result_type(info(std::get<0>(key)).result, std::get<1>(key));
}
Type operand_of(const Key& key, size_t i) {
  switch (info(std::get<0>(key)).operands[i]) {
    case 'S': return std::get<2>(key);
    case 'U': return Type::U32;
    case 'B': return Type::Bool;
    default: return std::get<1>(key);
  }
}

const std::map<Key, std::vector<Case>>& cases() {
  static const auto all = [] {
    std::map<Key, std::vector<Case>> map;
    for (const char* file : {"integer", "bool", "float", "cast", "functions"}) {
      std::ifstream in(std::string(VYRE_SOURCE_DIR "/tests/data/") + file + ".tbl");
      EXPECT_TRUE(in) << file;
      for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string op, type, word;
        words >> op >> type;
        const Opcode* code = find_op(op);
        EXPECT_NE(code, nullptr) << line;
        if (!code) continue;
        Type source = *find_type(type), target = source;
        if (*code == Opcode::Cast || *code == Opcode::Bitcast) {
          words >> type;
          target = *find_type(type);
        } else if (info(*code).operands[0] == 'B') {
          source = Type::Bool;
        }
        Case c;
        c.line = line;
        while (words >> word && word != "=") c.in.push_back(std::stoull(word, nullptr, 16));
        words >> word;
        c.expected = std::stoull(word, nullptr, 16);
        map[{*code, target, source}].push_back(std::move(c));
      }
    }
    return map;
  }();
  return all;
}

bool is_function(Opcode c) { return info(c).types == TypeSet::F32; }

// Distance in units in the last place, for results that are no NaN.
uint64_t distance(uint64_t a, uint64_t b) {
  const auto order = [](uint64_t bits) {
    const int64_t x = int32_t(uint32_t(bits));
    return x < 0 ? -(x & 0x7fffffff) : x;
  };
  return uint64_t(std::llabs(order(a) - order(b)));
}

bool matches(const Key& key, uint64_t expected, uint64_t got) {
  const Type t = result_of(key);
  got = canonical(t, got);
  if (expected == got) return true;
  if (!is_function(std::get<0>(key)) || is_nan_bits(t, got) || is_nan_bits(t, expected))
    return false;
  const bool special = (expected & 0x7fffffff) >= 0x7f800000 || (expected & 0x7fffffff) == 0;
  return !special && distance(expected, got) <= 2;
}

TEST(Eval, one_lane_gives_what_the_tables_say) {
  const ExactFloats exact;
  for (const auto& [key, list] : cases()) {
    const auto [code, type, source] = key;
    if (!find_eval(code, type, source)) continue;  // the coverage test reports it
    for (const Case& c : list) {
      const uint64_t got = eval_bits(code, type, source, c.in.data(), c.in.size());
      ASSERT_TRUE(matches(key, c.expected, got)) << c.line << "\n  eval gives " << std::hex << got;
    }
  }
}

// Lane counts that are not a multiple of a vector exercise the tails of the loops.
TEST(Eval, many_lanes_give_what_the_tables_say) {
  const ExactFloats exact;
  for (const auto& [key, list] : cases()) {
    const auto [code, type, source] = key;
    const EvalFn fn = find_eval(code, type, source);
    if (!fn) continue;
    const size_t operands = list[0].in.size(), lanes = list.size();
    std::vector<std::vector<uint64_t>> storage(operands);
    std::vector<const void*> in(operands);
    for (size_t k = 0; k < operands; ++k) {
      const size_t size = size_of(operand_of(key, k));
      storage[k].resize(lanes);
      for (size_t l = 0; l < lanes; ++l)
        std::memcpy(reinterpret_cast<std::byte*>(storage[k].data()) + l * size, &list[l].in[k],
                    size);
      in[k] = storage[k].data();
    }
    const size_t size = size_of(result_of(key));
    std::vector<std::byte> out(lanes * size + 1, std::byte{0x5a});
    fn(lanes, out.data(), in.data());
    EXPECT_EQ(out.back(), std::byte{0x5a}) << "writes past its lanes: " << mnemonic(code);
    for (size_t l = 0; l < lanes; ++l) {
      uint64_t got = 0;
      std::memcpy(&got, out.data() + l * size, size);
      ASSERT_TRUE(matches(key, list[l].expected, got))
          << list[l].line << "\n  lane " << l << " gives " << std::hex << got;
    }
  }
}

TEST(Eval, tables_cover_every_pure_op_for_every_type) {
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const Opcode code = Opcode(i);
    const OpInfo& row = info(code);
    if (row.effect != Effect::Pure || row.operands.empty()) continue;
    for (int t = 1; t < type_count; ++t) {
      const Type type = Type(t);
      if (!contains(row.types, type)) continue;
      for (int s = 1; s < type_count; ++s) {
        const Type source = Type(s);
        if (row.operands[0] == 'S') {
          if (!is_value(source)) continue;
          if (code == Opcode::Bitcast && width_of(type) != width_of(source)) continue;
        } else if (source != (row.operands[0] == 'B' ? Type::Bool : type)) {
          continue;
        }
        EXPECT_NE(find_eval(code, type, source), nullptr)
            << "no eval: " << row.mnemonic << ' ' << name(type) << " from " << name(source);
        if (code == Opcode::Bitcast && type == source) continue;  // the identity needs no table
        EXPECT_TRUE(cases().contains({code, type, source}))
            << "no case: " << row.mnemonic << ' ' << name(type) << " from " << name(source);
      }
    }
  }
}

TEST(Eval, is_null_for_types_an_op_does_not_take) {
  EXPECT_EQ(find_eval(Opcode::Neg, Type::U32, Type::U32), nullptr);
  EXPECT_EQ(find_eval(Opcode::Rem, Type::F32, Type::F32), nullptr);
  EXPECT_EQ(find_eval(Opcode::Exp, Type::F64, Type::F64), nullptr);
  EXPECT_EQ(find_eval(Opcode::Bitcast, Type::U64, Type::F32), nullptr);
  EXPECT_EQ(find_eval(Opcode::Load, Type::U32, Type::U32), nullptr);
  EXPECT_EQ(find_eval(Opcode::Const, Type::U32, Type::Void), nullptr);
  EXPECT_EQ(find_eval(Opcode::Add, Type::Bool, Type::Bool), nullptr);
}

TEST(Storage, conversions_give_what_the_tables_say) {
  const ExactFloats exact;
  std::ifstream in(VYRE_SOURCE_DIR "/tests/data/storage.tbl");
  ASSERT_TRUE(in);
  std::set<std::string> seen;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string op, from, equals, to;
    words >> op >> from >> equals >> to;
    const auto bits = uint32_t(std::stoul(from, nullptr, 16)),
               expected = uint32_t(std::stoul(to, nullptr, 16));
    seen.insert(op);
    uint32_t got = 0;
    if (op == "load_f16") got = std::bit_cast<uint32_t>(from_f16(uint16_t(bits)));
    if (op == "load_bf16") got = std::bit_cast<uint32_t>(from_bf16(uint16_t(bits)));
    if (op == "store_f16") got = to_f16(std::bit_cast<float>(bits));
    if (op == "store_bf16") got = to_bf16(std::bit_cast<float>(bits));
    if (op.starts_with("load")) got = uint32_t(canonical(Type::F32, got));
    ASSERT_EQ(got, expected) << line;
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Storage, every_f16_survives_a_load_and_a_store) {
  const ExactFloats exact;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool nan = (bits & 0x7fff) > 0x7c00;
    ASSERT_EQ(to_f16(from_f16(uint16_t(bits))), nan ? 0x7e00 : bits);
    const bool bnan = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(to_bf16(from_bf16(uint16_t(bits))), bnan ? 0x7fc0 : bits);
  }
}

#if defined(__x86_64__)
TEST(ExactFloats, keeps_subnormals_and_restores_the_callers_state) {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);  // flush to zero, zeros for subnormals
  {
    const ExactFloats exact;
    const uint64_t in[] = {0x00800000, 0x3f000000};  // smallest normal times a half
    EXPECT_EQ(eval_bits(Opcode::Mul, Type::F32, Type::F32, in, 2), 0x00400000u);
  }
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0x8040u, 0x8040u);
  __builtin_ia32_ldmxcsr(before);
}
#endif

}  // namespace
}  // namespace vyre
