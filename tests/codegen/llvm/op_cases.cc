#include "tests/codegen/llvm/op_cases.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

#include "generate/interesting.h"

namespace vyre::cpu_test {
namespace {

void put(std::vector<std::byte>& to, Type t, uint64_t bits) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
  to.insert(to.end(), bytes, bytes + size_of(t));
}
uint64_t get(const std::vector<std::byte>& from, Type t, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, from.data() + i * size_of(t), size_of(t));
  return bits;
}
uint64_t canonical(Type t, uint64_t bits) {
  if (t == Type::F32 && (bits & 0x7fffffff) > 0x7f800000) return canonical_nan_f32;
  if (t == Type::F64 && (bits & ~(1ull << 63)) > 0x7ff0000000000000ull) return canonical_nan_f64;
  return bits;
}

/// Interesting values, numbers of any size, neighbours of limits, noise.
uint64_t some_bits(lab::Random& random, Type t) {
  const uint32_t width = width_of(t);
  if (t == Type::Bool) return random.below(2);
  switch (random.below(4)) {
    case 0: return lab::interesting_bits(random, t);
    case 1: return random.next() & low_mask(width);
    case 2: {
      const int64_t n = int64_t(random.next()) >> random.below(64);
      if (t == Type::F32) return std::bit_cast<uint32_t>(float(n) / float(1 << random.below(3)));
      if (t == Type::F64) return std::bit_cast<uint64_t>(double(n) / double(1 << random.below(3)));
      return uint64_t(n) & low_mask(width);
    }
    default: {  // a power of two, or next to one
      const uint64_t power = 1ull << random.below(64), near = power + random.below(5) - 2;
      if (t == Type::F32) return std::bit_cast<uint32_t>(float(power)) + random.below(5) - 2;
      if (t == Type::F64) return std::bit_cast<uint64_t>(double(power)) + random.below(5) - 2;
      return near & low_mask(width);
    }
  }
}

uint64_t some_operand(lab::Random& random, const Key& key, size_t i) {
  const bool field = info(key.code).operands[i] == 'U';
  if (field && random.chance(90)) return random.below(70);
  return some_bits(random, key.operands()[i]);
}

const std::map<Key, std::vector<std::vector<uint64_t>>>& table() {
  static const auto all = [] {
    std::map<Key, std::vector<std::vector<uint64_t>>> map;
    for (const char* file : {"integer", "bool", "float", "cast"}) {
      std::ifstream in(std::string(VYRE_SOURCE_DIR "/tests/data/") + file + ".tbl");
      EXPECT_TRUE(in) << file;
      for (std::string line, op, from, to, word; std::getline(in, line);) {
        std::istringstream words(line);
        words >> op >> from;
        const Opcode code = *find_op(op);
        const Type source = *find_type(from);
        Type type = source;
        if (info(code).operands == "S" && words >> to) type = *find_type(to);
        std::vector<uint64_t> values;
        while (words >> word && word != "=") values.push_back(std::stoull(word, nullptr, 16));
        map[{code, type, source}].push_back(values);
      }
    }
    return map;
  }();
  return all;
}

}  // namespace

std::vector<Key> all_keys() {
  std::vector<Key> keys;
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& op = all_ops()[i];
    const Opcode code = static_cast<Opcode>(i);
    if (op.effect != Effect::Pure || op.operands.empty() || op.types == TypeSet::F32) continue;
    const bool convert = op.operands == "S";
    for (int t = 1; t < type_count; ++t) {
      for (int s = 1; s < type_count; ++s) {
        const Key key{code, Type(t), Type(s)};
        if (!is_value(key.type) || !is_value(key.source) || (!convert && s != t)) continue;
        if (find_eval(code, key.type, key.source)) keys.push_back(key);
      }
    }
  }
  return keys;
}

uint64_t some_operand(uint64_t seed, const Key& key, size_t operand) {
  lab::Random random(seed);
  return some_operand(random, key, operand);
}

/// Eval has its own test against the results in the tables, so it gives them here.
Cases make_cases(const Key& key, size_t random_count, const std::vector<uint64_t>& constants) {
  const std::vector<Type> types = key.operands();
  Cases cases;
  cases.in.resize(types.size());
  const auto add = [&](auto value_of) {
    for (size_t i = 0; i < types.size(); ++i)
      put(cases.in[i], types[i], i > 0 && !constants.empty() ? constants[i - 1] : value_of(i));
    ++cases.count;
  };
  if (const auto found = table().find(key); found != table().end())
    for (const auto& values : found->second) add([&](size_t i) { return values[i]; });
  else if (key.code != Opcode::Bitcast || key.type != key.source)
    ADD_FAILURE() << "no line in the tables: " << key.text();
  lab::Random random(static_cast<uint64_t>(key.code) * 1000 + static_cast<uint64_t>(key.type));
  const uint32_t width = width_of(types[0]);
  const bool all_bytes = width == 8 && types.size() == 2 && types[1] == types[0];
  const bool all_halves = width == 16 && types.size() == 1;
  if (all_bytes || all_halves || (width == 8 && types.size() == 1)) {
    for (uint64_t v = 0; v < (all_bytes || all_halves ? 65536 : 256); ++v)
      add([&](size_t i) { return all_bytes ? (i ? v >> 8 : v & 255) : v; });
  } else {
    std::vector<uint64_t> special;
    for (int i = 0; i < 32; ++i) special.push_back(lab::interesting_bits(random, types[0]));
    if (types.size() == 2)
      for (uint64_t a : special)
        for (uint64_t b : special) add([&](size_t i) { return i ? b : a; });
    for (size_t n = 0; n < random_count; ++n)
      add([&](size_t i) { return some_operand(random, key, i); });
  }
  while (cases.count % 64 != 0) add([&](size_t i) { return some_operand(random, key, i); });

  cases.expected.resize(cases.count * size_of(key.result()));
  const EvalFn eval = find_eval(key.code, key.type, key.operand0());
  const auto pointers = cases.pointers();
  eval(cases.count, cases.expected.data(), pointers.data());
  return cases;
}

void compare(const std::string& name, const Key& key, const Cases& cases,
             const std::vector<std::byte>& got, size_t count) {
  const std::vector<Type> types = key.operands();
  const Type result = key.result();
  if (std::memcmp(got.data(), cases.expected.data(), count * size_of(result)) == 0) return;
  int shown = 0;
  for (size_t i = 0; i < count && shown < 4; ++i) {
    const uint64_t want = canonical(result, get(cases.expected, result, i));
    const uint64_t have = canonical(result, get(got, result, i));
    if (want == have) continue;
    std::ostringstream operands;
    for (size_t k = 0; k < types.size(); ++k)
      operands << std::hex << get(cases.in[k], types[k], i) << " ";
    ADD_FAILURE() << name << " #" << i << ": " << operands.str() << std::hex << "gives " << have
                  << ", not " << want;
    ++shown;
  }
}

}  // namespace vyre::cpu_test
