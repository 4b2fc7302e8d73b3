// Twins that wait for memory. See twins.h.

#include <cmath>
#include <cstring>

#include "twins.h"

namespace bench::TWINS {

void xor_u32(const TwinArgs& args) {
  const uint32_t* __restrict a = args.get<uint32_t>(0);
  const uint32_t* __restrict b = args.get<uint32_t>(1);
  uint32_t* __restrict c = args.get<uint32_t>(2);
  const uint64_t n = args.count<uint32_t>(0);
#pragma omp parallel for simd
  for (uint64_t i = 0; i < n; ++i) c[i] = a[i] ^ b[i];
}

void saxpy(const TwinArgs& args) {
  float a;
  std::memcpy(&a, &args.scalars[0], 4);
  const float* __restrict x = args.get<float>(0);
  float* __restrict y = args.get<float>(1);
  const uint64_t n = args.count<float>(0);
#pragma omp parallel for simd
  for (uint64_t i = 0; i < n; ++i) y[i] = std::fma(a, x[i], y[i]);
}

void classify(const TwinArgs& args) {
  const uint8_t* __restrict text = args.get<uint8_t>(0);
  uint8_t* __restrict kind = args.get<uint8_t>(1);
  const uint64_t n = args.count<uint8_t>(0);
  uint32_t letters = 0;
#pragma omp parallel for simd reduction(+ : letters)
  for (uint64_t i = 0; i < n; ++i) {
    const uint8_t c = text[i];
    const bool letter = uint8_t((c | 0x20) - 97) < 26;
    const bool digit = uint8_t(c - 48) < 10;
    const bool space = (c == 32) | (uint8_t(c - 9) < 5);
    kind[i] = letter ? 1 : digit ? 2 : space ? 3 : 0;
    letters += letter;
  }
  *args.get<uint32_t>(2) = letters;
}

void stencil(const TwinArgs& args) {
  const uint64_t width = args.scalars[0], height = args.scalars[1];
  const float* __restrict x = args.get<float>(0);
  float* __restrict y = args.get<float>(1);
#pragma omp parallel for
  for (uint64_t row = 1; row < height - 1; ++row)
    for (uint64_t column = 1; column < width - 1; ++column) {
      const uint64_t i = row * width + column;
      y[i] = 0.5f * x[i] + 0.125f * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
    }
}

void reduce(const TwinArgs& args) {
  const uint32_t* __restrict x = args.get<uint32_t>(0);
  uint32_t* __restrict sums = args.get<uint32_t>(1);
  const uint64_t blocks = args.count<uint32_t>(1), block = args.count<uint32_t>(0) / blocks;
#pragma omp parallel for
  for (uint64_t b = 0; b < blocks; ++b) {
    uint32_t sum = 0;
    for (uint64_t i = b * block; i < (b + 1) * block; ++i) sum += x[i];
    sums[b] = sum;
  }
}

}  // namespace bench::TWINS
