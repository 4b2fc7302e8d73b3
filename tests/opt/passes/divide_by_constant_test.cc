// Every dividend and divisor of 8 bits, every dividend and many divisors of 16, many pairs of 32
// and
// 64. VYRE_DIVISION_PAIRS=100000000 tries as many pairs of each wide type.
#include "opt/passes/divide_by_constant.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

#include "generate/random.h"
#include "tests/opt/pass_util.h"
#include "tests/opt/straight_line_util.h"

namespace vyre::opt {
namespace {

using lab::Random;

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? "i8" : sizeof(T) == 2 ? "i16" : sizeof(T) == 4 ? "i32" : "i64";
  return sizeof(T) == 1 ? "u8" : sizeof(T) == 2 ? "u16" : sizeof(T) == 4 ? "u32" : "u64";
}

/// y[2·i] = x / divisor i, y[2·i+1] = x % divisor i.
template <class T>
Program divisions(std::span<const T> divisors) {
  std::string text = fmt::format(
      "kernel k(x: {0}, y: out {0}[]) workgroup(1) grid(1) {{\nlet v = x\n", type_name<T>());
  for (size_t i = 0; i < divisors.size(); ++i)
    text += fmt::format("y[{}] = v / {}\ny[{}] = v % {}\n", 2 * i, +divisors[i], 2 * i + 1,
                        +divisors[i]);
  return program_of(text + "}\n");
}

/// Pairs that came out wrong.
template <class T>
uint64_t wrong_results(std::span<const T> divisors, std::span<const T> dividends) {
  const Program before = divisions<T>(divisors);
  const PassResult after = run_once(divide_by_constant, before);
  const std::map<std::string, Lanes> inputs = {{"x", lanes_of(dividends)}};
  const auto was = run_straight(before, dividends.size(), inputs);
  const auto is = run_straight(after.program, dividends.size(), inputs);
  uint64_t wrong = 0;
  for (const auto& [index, lanes] : was) {
    if (lanes == is.at(index)) continue;
    ++wrong;
    const size_t byte = size_t(
        std::mismatch(lanes.begin(), lanes.end(), is.at(index).begin()).first - lanes.begin());
    ADD_FAILURE() << type_name<T>() << ": " << +dividends[byte / sizeof(T)]
                  << (index % 2 ? " % " : " / ") << +divisors[index / 2] << " is wrong";
    if (wrong > 10) break;
  }
  // Nothing but divisions by 0, 1 and -1 is left.
  size_t left = 0;
  for (const T d : divisors) left += d == 0 || d == 1 || (std::is_signed_v<T> && d == T(-1));
  EXPECT_EQ(count(after.program, Opcode::Div), left);
  EXPECT_EQ(count(after.program, Opcode::Rem), left);
  EXPECT_EQ(after.refused, 2 * left);
  return wrong;
}

template <class T>
std::vector<T> all_values() {
  std::vector<T> list;
  for (int64_t v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v)
    list.push_back(T(v));
  return list;
}

/// Ends of the type, powers of two and their neighbours, and random numbers of every length.
template <class T>
T interesting(Random& random) {
  using U = std::make_unsigned_t<T>;
  const unsigned bit = unsigned(random.below(sizeof(T) * 8));
  const U power = U(U{1} << bit);
  switch (random.below(4)) {
    case 0: return T(power + U(random.below(3)) - 1);
    case 1: return T(U(0) - power + U(random.below(3)) - 1);
    case 2: return T(U(random.next()) >> bit);
    default: return T(random.next());
  }
}

TEST(DivideByConstant, every_pair_of_8_bits) {
  EXPECT_EQ(wrong_results<uint8_t>(all_values<uint8_t>(), all_values<uint8_t>()), 0u);
  EXPECT_EQ(wrong_results<int8_t>(all_values<int8_t>(), all_values<int8_t>()), 0u);
}

template <class T>
void try_16_bits() {
  std::set<T> divisors = {0,
                          1,
                          2,
                          3,
                          5,
                          7,
                          10,
                          641,
                          T(-1),
                          T(-2),
                          T(-3),
                          T(-7),
                          T(-10),
                          std::numeric_limits<T>::min(),
                          T(std::numeric_limits<T>::min() + 1),
                          std::numeric_limits<T>::max(),
                          T(std::numeric_limits<T>::max() - 1)};
  Random random(16);
  while (divisors.size() < 200) divisors.insert(interesting<T>(random));
  EXPECT_EQ(wrong_results<T>(std::vector<T>(divisors.begin(), divisors.end()), all_values<T>()),
            0u);
}
TEST(DivideByConstant, every_dividend_of_16_bits) {
  try_16_bits<uint16_t>();
  try_16_bits<int16_t>();
}

template <class T>
void try_pairs() {
  const char* wish = std::getenv("VYRE_DIVISION_PAIRS");
  const uint64_t pairs = wish ? std::strtoull(wish, nullptr, 10) : 4'000'000;
  Random random(sizeof(T) * 2 + std::is_signed_v<T>);
  uint64_t done = 0, wrong = 0;
  while (done < pairs && wrong == 0) {
    std::vector<T> divisors, dividends;
    for (int i = 0; i < 400; ++i) divisors.push_back(interesting<T>(random));
    for (int i = 0; i < 20'000; ++i) {
      // A multiple of a divisor and its neighbours are where a quotient is wrong first.
      const T d = divisors[size_t(random.below(divisors.size()))];
      using U = std::make_unsigned_t<T>;
      dividends.push_back(random.below(2)
                              ? interesting<T>(random)
                              : T(U(U(d) * U(interesting<T>(random))) + U(random.below(3)) - 1));
    }
    wrong += wrong_results<T>(divisors, dividends);
    done += divisors.size() * dividends.size();
  }
  EXPECT_EQ(wrong, 0u);
}
TEST(DivideByConstant, many_pairs_of_u32) { try_pairs<uint32_t>(); }
TEST(DivideByConstant, many_pairs_of_i32) { try_pairs<int32_t>(); }
TEST(DivideByConstant, many_pairs_of_u64) { try_pairs<uint64_t>(); }
TEST(DivideByConstant, many_pairs_of_i64) { try_pairs<int64_t>(); }

}  // namespace
}  // namespace vyre::opt
