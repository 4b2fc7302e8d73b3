#include "ir/eval/eval.h"

#include <array>
#include <bit>
#include <cstring>

#include "ir/eval/eval_lanes.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace vyre {

static_assert(std::endian::native == std::endian::little, "lanes and buffers are little-endian");

EvalFn find_eval(Opcode code, Type type, Type source) {
  if (code == Opcode::Cast || code == Opcode::Bitcast)
    return lanes::find_conversion(code, type, source);
  // Where the result is a bool, T is the type of the operands.
  const bool by_source = info(code).effect == Effect::Pure && info(code).result == 'B';
  const Type t = by_source && source != Type::Void ? source : type;
  if (!contains(info(code).types, t)) return nullptr;
  if (info(code).types == TypeSet::F32) return lanes::find_function(code);
  return is_float(t) ? lanes::find_float(code, t) : lanes::find_integer(code, t);
}

uint64_t eval_bits(Opcode code, Type type, Type source, const uint64_t* in, size_t count) {
  const EvalFn fn = find_eval(code, type, source);
  if (!fn) return 0;
  std::array<const void*, 4> pointers{};
  for (size_t i = 0; i < count && i < pointers.size(); ++i) pointers[i] = &in[i];
  uint64_t out = 0;
  fn(1, &out, pointers.data());
  return out;
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float from_f16(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 31;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal or zero: exact
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

uint16_t to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // carries into infinity
}

uint16_t to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7e00;
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 2^16 and above
  if (magnitude < 0x38800000) {  // below the smallest normal: a multiple of 2^-24, to even
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;  // 0.5 has an ulp of 2^-24
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t rebased = magnitude - (112u << 23);
  const uint32_t rounded = rebased + 0xfff + (rebased >> 13 & 1);  // carries up to infinity
  return static_cast<uint16_t>(sign | rounded >> 13);
}

#if defined(__x86_64__)
ExactFloats::ExactFloats() : saved_(_mm_getcsr()) {
  _mm_setcsr(
      0x1f80);  // nearest even, all exceptions masked, no flush to zero, no zeros for subnormals
}
ExactFloats::~ExactFloats() { _mm_setcsr(static_cast<unsigned>(saved_)); }
#elif defined(__aarch64__)
ExactFloats::ExactFloats() {
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
}
ExactFloats::~ExactFloats() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
#error "say how this machine keeps subnormals and rounds to nearest even"
#endif

}  // namespace vyre
