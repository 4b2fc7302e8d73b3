// Twins that compute. See twins.h.

#include <cmath>
#include <cstring>

#include "twins.h"

namespace bench::TWINS {

void mandelbrot(const TwinArgs& args) {
  const uint32_t width = args.scalars[0], height = args.scalars[1];
  uint32_t* __restrict steps = args.get<uint32_t>(0);
#pragma omp parallel for schedule(dynamic)
  for (uint32_t row = 0; row < height; ++row)
    for (uint32_t column = 0; column < width; ++column) {
      const float re = (float(column) + 0.5f) / float(width) * 3.0f - 2.25f;
      const float im = (float(row) + 0.5f) / float(height) * 2.25f - 1.125f;
      float x = 0, y = 0;
      uint32_t n = 0;
      while (n < 256 && x * x + y * y <= 4.0f) {
        const float next = x * x - y * y + re;
        y = 2.0f * x * y + im;
        x = next;
        ++n;
      }
      steps[row * width + column] = n;
    }
}

void nbody(const TwinArgs& args) {
  const float* __restrict x = args.get<float>(0);
  const float* __restrict y = args.get<float>(1);
  const float* __restrict z = args.get<float>(2);
  const float* __restrict mass = args.get<float>(3);
  float* __restrict ax = args.get<float>(4);
  float* __restrict ay = args.get<float>(5);
  float* __restrict az = args.get<float>(6);
  const uint64_t n = args.count<float>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    float sx = 0, sy = 0, sz = 0;
    for (uint64_t j = 0; j < n; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
      const float pull = mass[j] * inverse * inverse * inverse;
      sx += dx * pull;
      sy += dy * pull;
      sz += dz * pull;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
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

void black_scholes(const TwinArgs& args) {
  const float rate = 0.02f, volatility = 0.3f;
  const float* __restrict price = args.get<float>(0);
  const float* __restrict strike = args.get<float>(1);
  const float* __restrict years = args.get<float>(2);
  float* __restrict call = args.get<float>(3);
  float* __restrict put = args.get<float>(4);
  const uint64_t n = args.count<float>(0);
#pragma omp parallel for simd
  for (uint64_t i = 0; i < n; ++i) {
    const float s = price[i], k = strike[i], t = years[i];
    const float spread = volatility * std::sqrt(t);
    const float d1 = (std::log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float d2 = d1 - spread;
    const float n1 = normal_cdf(d1);
    const float n2 = normal_cdf(d2);
    const float discounted = k * std::exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}

void matmul(const TwinArgs& args) {
  const uint64_t n = args.scalars[0];
  const float* __restrict a = args.get<float>(0);
  const float* __restrict b = args.get<float>(1);
  float* __restrict c = args.get<float>(2);
  // The order of loops in which g++ vectorizes and every sum still goes from the first k to the
  // last.
#pragma omp parallel for
  for (uint64_t row = 0; row < n; ++row) {
    float* out = c + row * n;
    for (uint64_t column = 0; column < n; ++column) out[column] = 0;
    for (uint64_t k = 0; k < n; ++k) {
      const float left = a[row * n + k];
      for (uint64_t column = 0; column < n; ++column)
        out[column] = std::fma(left, b[k * n + column], out[column]);
    }
  }
}

}  // namespace bench::TWINS
