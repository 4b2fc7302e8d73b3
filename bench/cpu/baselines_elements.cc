// One result per element, or a few neighbours: bytes, floats, tables, permutations.

#include <algorithm>

#include "baselines.h"

BASELINE(plain_bytes) {
  const uint8_t* __restrict x = args.get<uint8_t>(0);
  uint8_t* __restrict y = args.get<uint8_t>(1);
  const uint64_t n = args.count<uint8_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[i] = uint8_t(x[i] + 1);
}

BASELINE(clamped_bytes) {
  const uint8_t* __restrict x = args.get<uint8_t>(0);
  uint8_t* __restrict y = args.get<uint8_t>(1);
  const uint64_t n = args.count<uint8_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[i] = uint8_t(x[std::max<uint64_t>(i, 1) - 1] + 1);
}

BASELINE(wrapped_bytes) {
  const uint8_t* __restrict x = args.get<uint8_t>(0);
  uint8_t* __restrict y = args.get<uint8_t>(1);
  const uint32_t n = uint32_t(args.count<uint8_t>(0));
#pragma omp parallel for
  for (uint32_t i = 0; i < n; ++i) y[i] = uint8_t(x[(i + 1) % n] + 1);
}

BASELINE(every_third_byte) {
  const uint8_t* __restrict x = args.get<uint8_t>(0);
  uint8_t* __restrict y = args.get<uint8_t>(1);
  const uint64_t n = args.count<uint8_t>(1);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[i] = uint8_t(x[3 * i] + 1);
}

BASELINE(every_second_float) {
  const float* __restrict x = args.get<float>(0);
  float* __restrict y = args.get<float>(1);
  const uint64_t n = args.count<float>(1);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[i] = x[2 * i] + x[2 * i + 1];
}

BASELINE(plain_floats) {
  const float* __restrict x = args.get<float>(0);
  float* __restrict y = args.get<float>(1);
  const uint64_t n = args.count<float>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[i] = x[i] + 1.0f;
}

BASELINE(run_flags) {
  const uint8_t* __restrict x = args.get<uint8_t>(0);
  uint8_t* __restrict begins = args.get<uint8_t>(1);
  const uint64_t n = args.count<uint8_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) begins[i] = i == 0 || x[i] != x[i - 1];
}

BASELINE(gamma_lut) {
  const uint8_t* __restrict lut = args.get<uint8_t>(0);
  const uint8_t* __restrict image = args.get<uint8_t>(1);
  uint8_t* __restrict result = args.get<uint8_t>(2);
  const uint64_t n = args.count<uint8_t>(1);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) result[i] = lut[image[i]];
}

BASELINE(gather) {
  const uint32_t* __restrict at = args.get<uint32_t>(0);
  const float* __restrict x = args.get<float>(1);
  float* __restrict y = args.get<float>(2);
  const uint64_t n = args.count<uint32_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[i] = x[at[i]];
}

BASELINE(scatter) {
  const uint32_t* __restrict at = args.get<uint32_t>(0);
  const float* __restrict x = args.get<float>(1);
  float* __restrict y = args.get<float>(2);
  const uint64_t n = args.count<uint32_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) y[at[i]] = x[i];
}

BASELINE(gray) {
  const uint8_t* __restrict rgb = args.get<uint8_t>(0);
  uint8_t* __restrict y = args.get<uint8_t>(1);
  const uint64_t n = args.scalars[0];
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i)
    y[i] = uint8_t((77u * rgb[3 * i] + 150u * rgb[3 * i + 1] + 29u * rgb[3 * i + 2]) >> 8);
}

BASELINE(bitonic_step) {
  const uint32_t j = args.scalars[0], k = args.scalars[1];
  const uint32_t* __restrict x = args.get<uint32_t>(0);
  uint32_t* __restrict y = args.get<uint32_t>(1);
  const uint32_t n = uint32_t(args.count<uint32_t>(0));
#pragma omp parallel for
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t p = i ^ j;
    if (p >= n) continue;
    const bool up = (i & k) == 0;
    y[i] = (i < p) == up ? std::min(x[i], x[p]) : std::max(x[i], x[p]);
  }
}

BASELINE(base64_encode) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t* __restrict bytes = args.get<uint8_t>(0);
  uint8_t* __restrict text = args.get<uint8_t>(1);
  const uint64_t n = args.count<uint8_t>(0) / 3;
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t w =
        uint32_t(bytes[3 * i]) << 16 | uint32_t(bytes[3 * i + 1]) << 8 | bytes[3 * i + 2];
    for (uint32_t k = 0; k < 4; ++k) text[4 * i + k] = uint8_t(letters[w >> (18 - 6 * k) & 63]);
  }
}

static float normal_cdf(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  const float p =
      k * (0.31938153f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.3989422804f * std::exp(-0.5f * d * d) * p;
  return d > 0.0f ? 1.0f - tail : tail;
}

BASELINE(black_scholes) {
  const uint64_t n = args.scalars[0];
  const float rate = bench::float_scalar(args, 1), volatility = bench::float_scalar(args, 2);
  const float* __restrict price = args.get<float>(0);
  const float* __restrict strike = args.get<float>(1);
  const float* __restrict years = args.get<float>(2);
  float* __restrict call = args.get<float>(3);
  float* __restrict put = args.get<float>(4);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    const float s = price[i], k = strike[i], t = years[i];
    const float spread = volatility * std::sqrt(t);
    const float d1 = (std::log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float d2 = d1 - spread;
    const float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
    const float discounted = k * std::exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}
