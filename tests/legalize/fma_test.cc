// The exact forms of fma against the host's own, on operands at which it is hard: ties, and numbers
// just beside them, tiny results, cancellation, and exponents that are far apart. VYRE_EXACT_CASES
// says how many (times 200): with 100000 it is 2 * 10^7 triples a form, in about a minute.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "generate/random.h"
#include "legalize/expand.h"
#include "tests/legalize/degrade_util.h"
#include "tests/legalize/forms_util.h"
#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using Triple = std::array<float, 3>;

float from_bits(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }

class HardOperands {
 public:
  explicit HardOperands(uint64_t seed) : random_(seed) {}

  Triple next() {
    Triple t = triple();
    for (float& x : t)
      if (random_.chance(2)) x = from_bits(random_.pick(corners_));
    for (float& x : t)
      if (random_.chance(50)) x = -x;
    if (random_.chance(50)) std::swap(t[0], t[1]);
    return t;
  }

 private:
  Triple triple() {
    const int e = number(-149, 128), f = number(-149, 128);
    switch (random_.below(8)) {
      case 0: {  // a product of 25 bits: a tie, unless the third operand says otherwise
        const float a = power(float(short_odd(12)), e / 2), b = power(float(short_odd(13)), f / 2);
        return {a, b, random_.chance(30) ? 0 : anything()};
      }
      case 1: {  // a sum that is a tie, or next to one
        const float a = of_exponent(number(-125, 127)), half = std::ldexp(1.0f, std::ilogb(a) - 24);
        const int shift = number(-20, 20);
        return {power(a, shift), power(1, -shift), beside(half)};
      }
      case 2: {  // halves of the smallest number
        const int g = number(-80, -60);
        const float a = power(float(short_odd(12)), g), b = power(float(short_odd(12)), -150 - g);
        return {a, b, random_.chance(50) ? 0 : from_bits(random_.below(1u << 23))};
      }
      case 3: {  // cancellation
        const float a = of_exponent(e / 2), b = of_exponent(f / 2);
        return {a, b, beside(-(a * b))};
      }
      case 4:  // subnormals with large numbers
        return {from_bits(random_.below(1u << 23)), of_exponent(number(-10, 127)), anything()};
      case 5: {  // around the smallest normal number
        const int g = number(-100, -20);
        return {of_exponent(g), of_exponent(-127 - g), from_bits(random_.below(1u << 24))};
      }
      case 6: {  // around the largest number
        const float a = of_exponent(number(60, 68)), b = of_exponent(number(58, 63));
        return {a, b, of_exponent(number(100, 127))};
      }
      default: {  // a given distance between product and third operand
        const int g = number(-60, 60), h = number(-60, 60);
        return {of_exponent(g), of_exponent(h),
                of_exponent(std::clamp(g + h + number(-60, 60), -149, 127))};
      }
    }
  }

  int number(int low, int high) { return low + int(random_.below(uint64_t(high - low + 1))); }
  uint32_t short_odd(uint32_t bits) { return uint32_t(random_.below(1u << bits)) | 1; }
  float anything() { return from_bits(random_.next() & 0x7fffffff); }
  /// From 2^e to 2^(e+1); few bits of it half of the time.
  float of_exponent(int e) {
    uint32_t fraction = uint32_t(random_.below(1u << 23));
    if (random_.chance(50)) fraction &= ~0u << random_.below(24);
    return std::ldexp(float((1u << 23) | fraction), e - 23);
  }
  float power(float x, int e) { return std::ldexp(x, e); }
  /// The number, or a near neighbour.
  float beside(float x) {
    // Named in order: the evaluation order of operands is unspecified.
    const auto distance = uint32_t(number(-2, 2));
    return from_bits(std::bit_cast<uint32_t>(x) + distance * uint32_t(random_.chance(60)));
  }

  lab::Random random_;
  const std::vector<uint64_t> corners_ = corners(Type::F32);
};

uint32_t canonical(float x) { return std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x); }

/// "" if the program is std::fma on these operands.
std::string first_wrong(const Program& p, const std::vector<std::vector<uint64_t>>& operands) {
  const Ran ran = run_on_interpreter(p, op_inputs(p, operands));
  if (!ran.failed.empty()) return ran.failed;
  for (size_t i = 0; i < operands[0].size(); ++i) {
    uint32_t got = 0;
    std::memcpy(&got, &ran.buffers[3][4 * i], 4);
    const uint64_t a = operands[0][i], b = operands[1][i], c = operands[2][i];
    const uint32_t want = canonical(std::fma(from_bits(a), from_bits(b), from_bits(c)));
    if (got != want)
      return fmt::format("fma({:#x}, {:#x}, {:#x}) is {:#x} instead of {:#x}", a, b, c, got, want);
  }
  return "";
}

TEST(exact_floats, hard_operands_of_fma) {
  const Program p = op_program(Opcode::Fma, Type::F32, {Type::F32, Type::F32, Type::F32});
  const uint64_t cases = random_cases() * 200;
  for (const char* words :
       {"nvidia", "-fma32", "-fma32 -fused32", "-fma32 -fused32 -widen -narrow"}) {
    const Profile profile = profile_of(words);
    const auto expanded = expand(p, profile, 0, true);
    ASSERT_TRUE(expanded);
    ASSERT_EQ(marked_ops(*expanded), 1u);
    const Program written = with_forms(*expanded, profile);
    const Program on_bad_device = degrade(written, profile);
    HardOperands hard(7);
    for (uint64_t done = 0; done < cases; done += 50'000) {
      std::vector<std::vector<uint64_t>> operands(3);
      for (uint64_t i = done; i < std::min(done + 50'000, cases); ++i) {
        const Triple t = hard.next();
        for (size_t k = 0; k < 3; ++k) operands[k].push_back(std::bit_cast<uint32_t>(t[k]));
      }
      ASSERT_EQ(first_wrong(written, operands), "") << words;
      ASSERT_EQ(first_wrong(on_bad_device, operands), "") << words << ", on a bad device";
    }
  }
}

}  // namespace
}  // namespace vyre::emit_exact
