// Loops with run-time bounds for each result.

#include <algorithm>
#include <limits>

#include "baselines.h"

BASELINE(runtime_trips) {
  const uint32_t n = args.scalars[0];
  const uint32_t* __restrict x = args.get<uint32_t>(0);
  uint32_t* __restrict y = args.get<uint32_t>(1);
  const uint64_t count = args.count<uint32_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t s = x[i];
    for (uint32_t k = 0; k < n; ++k) s = s * 1664525 + k;
    y[i] = s;
  }
}

BASELINE(rows) {
  const uint64_t n = args.scalars[0];
  const float* __restrict a = args.get<float>(0);
  const float* __restrict x = args.get<float>(1);
  float* __restrict y = args.get<float>(2);
  const uint64_t rows = args.count<float>(2);
#pragma omp parallel for
  for (uint64_t r = 0; r < rows; ++r) {
    float s = 0;
    for (uint64_t c = 0; c < n; ++c) s = std::fma(a[r * n + c], x[c], s);
    y[r] = s;
  }
}

BASELINE(csr_spmv) {
  const uint64_t rows = args.scalars[0];
  const uint32_t* __restrict row_ptr = args.get<uint32_t>(0);
  const uint32_t* __restrict col = args.get<uint32_t>(1);
  const float* __restrict val = args.get<float>(2);
  const float* __restrict x = args.get<float>(3);
  float* __restrict y = args.get<float>(4);
#pragma omp parallel for
  for (uint64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (uint32_t e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += val[e] * x[col[e]];
    y[r] = sum;
  }
}

BASELINE(mandelbrot) {
  const uint32_t width = args.scalars[0], height = args.scalars[1], max_iter = args.scalars[6];
  const float x0 = bench::float_scalar(args, 2), y0 = bench::float_scalar(args, 3);
  const float dx = bench::float_scalar(args, 4), dy = bench::float_scalar(args, 5);
  uint32_t* __restrict rounds = args.get<uint32_t>(0);
#pragma omp parallel for
  for (uint32_t py = 0; py < height; ++py) {
    for (uint32_t px = 0; px < width; ++px) {
      const float cx = x0 + float(px) * dx, cy = y0 + float(py) * dy;
      float zx = 0, zy = 0;
      uint32_t i = 0;
      while (i < max_iter && zx * zx + zy * zy <= 4.0f) {
        const float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        ++i;
      }
      rounds[uint64_t(py) * width + px] = i;
    }
  }
}

BASELINE(nbody) {
  const uint64_t n = args.scalars[0];
  const float soft = bench::float_scalar(args, 1);
  const float* __restrict px = args.get<float>(0);
  const float* __restrict py = args.get<float>(1);
  const float* __restrict pz = args.get<float>(2);
  const float* __restrict mass = args.get<float>(3);
  float* __restrict ax = args.get<float>(4);
  float* __restrict ay = args.get<float>(5);
  float* __restrict az = args.get<float>(6);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    float sx = 0, sy = 0, sz = 0;
    for (uint64_t j = 0; j < n; ++j) {
      const float dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
      const float inv = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + soft);
      const float s = mass[j] * inv * inv * inv;
      sx += dx * s;
      sy += dy * s;
      sz += dz * s;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}

BASELINE(kmeans) {
  const uint64_t n = args.scalars[0], clusters = args.scalars[1], dims = args.scalars[2];
  const float* __restrict points = args.get<float>(0);
  const float* __restrict centers = args.get<float>(1);
  uint32_t* __restrict nearest = args.get<uint32_t>(2);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    float best = std::numeric_limits<float>::infinity();
    uint32_t chosen = 0;
    for (uint64_t c = 0; c < clusters; ++c) {
      float distance = 0;
      for (uint64_t d = 0; d < dims; ++d) {
        const float delta = points[i * dims + d] - centers[c * dims + d];
        distance += delta * delta;
      }
      if (distance < best) {
        best = distance;
        chosen = uint32_t(c);
      }
    }
    nearest[i] = chosen;
  }
}

BASELINE(box_blur) {
  const uint64_t radius = args.scalars[0];
  const float* __restrict x = args.get<float>(0);
  float* __restrict y = args.get<float>(1);
  const uint64_t n = args.count<float>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t first = std::max(i, radius) - radius, last = std::min(i + radius, n - 1);
    float sum = 0;
    for (uint64_t k = first; k <= last; ++k) sum += x[k];
    y[i] = sum / float(last + 1 - first);
  }
}

BASELINE(fir) {
  const int16_t* __restrict taps = args.get<int16_t>(0);
  const int16_t* __restrict x = args.get<int16_t>(1);
  int16_t* __restrict y = args.get<int16_t>(2);
  const uint64_t count = args.count<int16_t>(0), n = args.count<int16_t>(1);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    uint32_t sum = 0;  // wraps as the kernel's i32
    for (uint64_t k = 0; k < std::min(count, i + 1); ++k)
      sum += uint32_t(int32_t(taps[k]) * int32_t(x[i - k]));
    y[i] = int16_t(std::clamp(int32_t(sum) >> 15, -32768, 32767));
  }
}

BASELINE(binary_search) {
  const uint32_t* __restrict list = args.get<uint32_t>(0);
  const uint32_t* __restrict keys = args.get<uint32_t>(1);
  uint32_t* __restrict found = args.get<uint32_t>(2);
  const uint32_t length = uint32_t(args.count<uint32_t>(0));
  const uint64_t n = args.count<uint32_t>(1);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    uint32_t low = 0, high = length;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (list[middle] < keys[i])
        low = middle + 1;
      else
        high = middle;
    }
    found[i] = low;
  }
}

BASELINE(bfs_step) {
  const uint64_t nodes = args.scalars[0];
  const uint32_t level = args.scalars[1];
  const uint32_t* __restrict offsets = args.get<uint32_t>(0);
  const uint32_t* __restrict targets = args.get<uint32_t>(1);
  const uint32_t* __restrict before = args.get<uint32_t>(2);
  uint32_t* __restrict after = args.get<uint32_t>(3);
#pragma omp parallel for
  for (uint64_t v = 0; v < nodes; ++v) {
    uint32_t mine = before[v];
    if (mine == 0xffffffff) {
      for (uint32_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        if (before[targets[e]] == level) {
          mine = level + 1;
          break;
        }
      }
    }
    after[v] = mine;
  }
}

BASELINE(collatz) {
  const uint32_t limit = args.scalars[0];
  const uint32_t* __restrict x = args.get<uint32_t>(0);
  uint32_t* __restrict steps = args.get<uint32_t>(1);
  const uint64_t n = args.count<uint32_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    uint32_t v = x[i], count = 0;
    while (v > 1 && count < limit) {
      v = v % 2 == 0 ? v / 2 : 3 * v + 1;
      ++count;
    }
    steps[i] = count;
  }
}

BASELINE(hash_probe) {
  const uint32_t slots = args.scalars[0];
  const uint32_t* __restrict table = args.get<uint32_t>(0);
  const uint32_t* __restrict values = args.get<uint32_t>(1);
  const uint32_t* __restrict keys = args.get<uint32_t>(2);
  uint32_t* __restrict found = args.get<uint32_t>(3);
  const uint64_t n = args.count<uint32_t>(2);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    uint32_t slot = (keys[i] * 2654435769u) & (slots - 1), result = 0;
    for (uint32_t tries = 0; tries < slots && table[slot] != 0; ++tries) {
      if (table[slot] == keys[i]) {
        result = values[slot];
        break;
      }
      slot = (slot + 1) & (slots - 1);
    }
    found[i] = result;
  }
}

BASELINE(monte_carlo) {
  const uint32_t n = args.scalars[0], samples = args.scalars[1], seed = args.scalars[2];
  uint32_t* __restrict hits = args.get<uint32_t>(0);
#pragma omp parallel for
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t state = ((i + 1) * 2654435769u) ^ seed, count = 0;
    const auto next = [&state] {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      return float(state >> 8) * 0.000000059604645f;
    };
    for (uint32_t s = 0; s < samples; ++s) {
      const float x = next(), y = next();
      if (x * x + y * y < 1.0f) ++count;
    }
    hits[i] = count;
  }
}
