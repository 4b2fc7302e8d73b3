#pragma once

// Pure ops with many operands and their results by eval.

#include <map>
#include <string>
#include <vector>

#include "ir/eval/eval.h"

namespace vyre::cpu_test {

struct Key {
  Opcode code;
  Type type, source;
  auto operator<=>(const Key&) const = default;

  std::vector<Type> operands() const {
    std::vector<Type> types;
    for (char c : info(code).operands)
      types.push_back(c == 'S' ? source : c == 'U' ? Type::U32 : c == 'B' ? Type::Bool : type);
    return types;
  }
  Type result() const { return result_type(info(code).result, type); }
  /// The type of operand 0, which OpLowering and eval call the source.
  Type operand0() const { return operands()[0]; }
  std::string text() const {
    return std::string(mnemonic(code)) + "_" + std::string(name(type)) + "_" +
           std::string(name(source));
  }
};

/// All that eval knows and that expand_functions() does not replace.
std::vector<Key> all_keys();

/// Arrays of operands, all of the same length, a multiple of 64.
struct Cases {
  size_t count = 0;
  std::vector<std::vector<std::byte>> in;
  std::vector<std::byte> expected;

  std::vector<const void*> pointers() const {
    std::vector<const void*> list;
    for (const auto& each : in) list.push_back(each.data());
    return list;
  }
};

/// All lines of the tables, all bytes and pairs of bytes, all 16-bit numbers, pairs of interesting
/// values, then `random_count` of any kind. `constants`: the operands after the first, fixed.
Cases make_cases(const Key& key, size_t random_count, const std::vector<uint64_t>& constants = {});

/// Values that an operand of this op is worth being tested with.
uint64_t some_operand(uint64_t seed, const Key& key, size_t operand);

/// Fails the test for the first `count` results that differ. The bits of a NaN don't exist.
void compare(const std::string& name, const Key& key, const Cases& cases,
             const std::vector<std::byte>& got, size_t count);

}  // namespace vyre::cpu_test
