// Pictures and matrices, and kernels whose workgroups share memory.

#include <algorithm>
#include <cstring>

#include "baselines.h"

BASELINE(conv2d) {
  const int width = int(args.scalars[0]), height = int(args.scalars[1]),
            radius = int(args.scalars[2]);
  const float* __restrict image = args.get<float>(0);
  const float* __restrict weights = args.get<float>(1);
  float* __restrict result = args.get<float>(2);
#pragma omp parallel for
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int dy = -radius; dy <= radius; ++dy) {
        for (int dx = -radius; dx <= radius; ++dx) {
          const int xx = x + dx, yy = y + dy;
          if (xx >= 0 && xx < width && yy >= 0 && yy < height)
            sum = std::fma(image[yy * width + xx],
                           weights[(dy + radius) * (2 * radius + 1) + dx + radius], sum);
        }
      }
      result[y * width + x] = sum;
    }
  }
}

BASELINE(life) {
  const uint32_t width = args.scalars[0], height = args.scalars[1];
  const uint8_t* __restrict now = args.get<uint8_t>(0);
  uint8_t* __restrict next = args.get<uint8_t>(1);
#pragma omp parallel for
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      uint32_t alive = 0;
      for (uint32_t dy = 0; dy < 3; ++dy) {
        for (uint32_t dx = 0; dx < 3; ++dx) {
          if (dx == 1 && dy == 1) continue;
          const uint32_t xx = (x + dx + width - 1) % width, yy = (y + dy + height - 1) % height;
          alive += now[yy * width + xx];
        }
      }
      const uint32_t i = y * width + x;
      next[i] = alive == 3 || (alive == 2 && now[i] == 1);
    }
  }
}

BASELINE(sobel) {
  const int width = int(args.scalars[0]), height = int(args.scalars[1]);
  const uint8_t* __restrict image = args.get<uint8_t>(0);
  uint8_t* __restrict edges = args.get<uint8_t>(1);
#pragma omp parallel for
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = [&](int dx, int dy) -> int {
        return image[std::clamp(y + dy, 0, height - 1) * width + std::clamp(x + dx, 0, width - 1)];
      };
      const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
      const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
      edges[y * width + x] = uint8_t(std::min(std::abs(gx) + std::abs(gy), 255));
    }
  }
}

BASELINE(jacobi_2d) {
  const uint64_t width = args.scalars[0], height = args.scalars[1];
  const float* __restrict u = args.get<float>(0);
  const float* __restrict f = args.get<float>(1);
  float* __restrict next = args.get<float>(2);
#pragma omp parallel for
  for (uint64_t y = 0; y < height; ++y) {
    for (uint64_t x = 0; x < width; ++x) {
      const uint64_t i = y * width + x;
      if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        next[i] = u[i];
      else
        next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - f[i]);
    }
  }
}

BASELINE(resize) {
  const uint32_t width = args.scalars[0], height = args.scalars[1];
  const uint32_t new_width = args.scalars[2], new_height = args.scalars[3];
  const float* __restrict image = args.get<float>(0);
  float* __restrict result = args.get<float>(1);
#pragma omp parallel for
  for (uint32_t y = 0; y < new_height; ++y) {
    for (uint32_t x = 0; x < new_width; ++x) {
      const float fx = float(x) * float(width - 1) / float(new_width - 1);
      const float fy = float(y) * float(height - 1) / float(new_height - 1);
      const uint32_t x0 = uint32_t(fx), y0 = uint32_t(fy);
      const uint32_t x1 = std::min(x0 + 1, width - 1), y1 = std::min(y0 + 1, height - 1);
      const float tx = fx - float(x0), ty = fy - float(y0);
      const float top = image[y0 * width + x0] * (1.0f - tx) + image[y0 * width + x1] * tx;
      const float bottom = image[y1 * width + x0] * (1.0f - tx) + image[y1 * width + x1] * tx;
      result[y * new_width + x] = top * (1.0f - ty) + bottom * ty;
    }
  }
}

BASELINE(transpose) {
  const uint64_t width = args.scalars[0], height = args.scalars[1];
  const float* __restrict x = args.get<float>(0);
  float* __restrict y = args.get<float>(1);
#pragma omp parallel for
  for (uint64_t r0 = 0; r0 < height; r0 += 32)
    for (uint64_t c0 = 0; c0 < width; c0 += 32)
      for (uint64_t c = c0; c < std::min(c0 + 32, width); ++c)
        for (uint64_t r = r0; r < std::min(r0 + 32, height); ++r)
          y[c * height + r] = x[r * width + c];
}

/// Rows of the result gather products, so that the innermost loop has stride 1.
static void multiply(const bench::TwinArgs& args) {
  const uint64_t n = args.scalars[0];
  const float* __restrict a = args.get<float>(0);
  const float* __restrict b = args.get<float>(1);
  float* __restrict c = args.get<float>(2);
#pragma omp parallel for
  for (uint64_t row = 0; row < n; ++row) {
    float* __restrict sums = c + row * n;
    std::fill(sums, sums + n, 0.0f);
    for (uint64_t k = 0; k < n; ++k)
      for (uint64_t col = 0; col < n; ++col)
        sums[col] = std::fma(a[row * n + k], b[k * n + col], sums[col]);
  }
}

BASELINE(matmul_naive) { multiply(args); }
BASELINE(matmul_tiled) { multiply(args); }

/// The kernel adds in the order of its workgroups; so does this.
BASELINE(dot) {
  const uint64_t n = args.scalars[0], groups = args.scalars[1];
  const float* __restrict a = args.get<float>(0);
  const float* __restrict b = args.get<float>(1);
  float* __restrict sums = args.get<float>(2);
#pragma omp parallel for
  for (uint64_t g = 0; g < groups; ++g) {
    float t[256] = {};
    for (uint64_t first = g * 256; first < n; first += groups * 256)
      for (uint64_t l = 0; l < std::min<uint64_t>(256, n - first); ++l)
        t[l] = std::fma(a[first + l], b[first + l], t[l]);
    for (uint64_t d = 128; d > 0; d /= 2)
      for (uint64_t l = 0; l < d; ++l) t[l] += t[l + d];
    sums[g] = t[0];
  }
}

BASELINE(reduce_max) {
  const uint64_t groups = args.scalars[0];
  const int32_t* __restrict x = args.get<int32_t>(0);
  int32_t* __restrict largest = args.get<int32_t>(1);
  const uint64_t n = args.count<int32_t>(0);
#pragma omp parallel for
  for (uint64_t g = 0; g < groups; ++g) {
    int32_t m = INT32_MIN;
    for (uint64_t first = g * 256; first < n; first += groups * 256)
      for (uint64_t i = first; i < std::min(first + 256, n); ++i) m = std::max(m, x[i]);
    largest[g] = m;
  }
}

BASELINE(prefix_sum) {
  const uint32_t* __restrict x = args.get<uint32_t>(0);
  uint32_t* __restrict y = args.get<uint32_t>(1);
  const uint64_t n = args.count<uint32_t>(0);
#pragma omp parallel for
  for (uint64_t first = 0; first < n; first += 256) {
    uint32_t sum = 0;
    for (uint64_t i = first; i < std::min(first + 256, n); ++i) y[i] = sum += x[i];
  }
}

BASELINE(histogram) {
  const uint8_t* __restrict data = args.get<uint8_t>(0);
  uint32_t* __restrict counts = args.get<uint32_t>(1);
  const uint64_t n = args.count<uint8_t>(0);
  uint32_t all[256] = {};
#pragma omp parallel for reduction(+ : all[ : 256])
  for (uint64_t i = 0; i < n; ++i) ++all[data[i]];
  std::memcpy(counts, all, sizeof all);
}
