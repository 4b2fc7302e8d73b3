// Plain CUDA C++ baselines of the kernels of bench/programs.txt: the same work per thread, the same blocks, and
// sizes at run time. Compiled with -fmad=false, so that results are equal to the bit.
//
// Parameters come in the order of the vyre kernel, then the number of elements of each buffer in the same order;
// a function leaves out the numbers at the end that it does not need.

#include <cstdint>

#define KERNEL extern "C" __global__ void

__device__ inline uint32_t thread_x() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline uint32_t thread_y() { return blockIdx.y * blockDim.y + threadIdx.y; }

// ---- elements -----------------------------------------------------------------------------------

KERNEL plain_bytes(const uint8_t* x, uint8_t* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[i] + 1;
}

KERNEL clamped_bytes(const uint8_t* x, uint8_t* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[max(i, 1u) - 1] + 1;
}

KERNEL wrapped_bytes(const uint8_t* x, uint8_t* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[(i + 1) % n] + 1;
}

KERNEL every_third_byte(const uint8_t* x, uint8_t* y, uint32_t, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[i * 3] + 1;
}

KERNEL every_second_float(const float* x, float* y, uint32_t, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[i * 2] + x[i * 2 + 1];
}

KERNEL plain_floats(const float* x, float* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[i] + 1.0f;
}

KERNEL run_flags(const uint8_t* x, uint8_t* begins, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) begins[i] = i == 0 || x[i] != x[i - 1];
}

KERNEL gamma_lut(const uint8_t* lut, const uint8_t* image, uint8_t* result, uint32_t, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) result[i] = lut[image[i]];
}

KERNEL gather(const uint32_t* at, const float* x, float* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[i] = x[at[i]];
}

KERNEL scatter(const uint32_t* at, const float* x, float* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i < n) y[at[i]] = x[i];
}

KERNEL gray(uint32_t pixels, const uint8_t* rgb, uint8_t* y) {
  const uint32_t i = thread_x();
  if (i >= pixels) return;
  y[i] = (77u * rgb[3 * i] + 150u * rgb[3 * i + 1] + 29u * rgb[3 * i + 2]) >> 8;
}

KERNEL bitonic_step(uint32_t j, uint32_t k, const uint32_t* x, uint32_t* y, uint32_t n) {
  const uint32_t i = thread_x(), p = i ^ j;
  if (i >= n || p >= n) return;
  const uint32_t a = x[i], b = x[p];
  const bool up = (i & k) == 0;
  y[i] = (i < p) == up ? min(a, b) : max(a, b);
}

__constant__ const char letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

KERNEL base64_encode(const uint8_t* bytes, uint8_t* text, uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n / 3) return;
  const uint32_t w = uint32_t(bytes[3 * i]) << 16 | uint32_t(bytes[3 * i + 1]) << 8 | bytes[3 * i + 2];
  for (uint32_t k = 0; k < 4; ++k) text[4 * i + k] = letters[w >> (18 - 6 * k) & 63];
}

__device__ inline float normal_cdf(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float p = k * (0.31938153f +
                       k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.3989422804f * expf(-0.5f * d * d) * p;
  return d > 0.0f ? 1.0f - tail : tail;
}

KERNEL black_scholes(uint32_t n, float rate, float volatility, const float* price, const float* strike,
                     const float* years, float* call, float* put) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  const float s = price[i], k = strike[i], t = years[i];
  const float spread = volatility * sqrtf(t);
  const float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
  const float d2 = d1 - spread;
  const float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
  const float discounted = k * expf(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

// ---- loops with run-time bounds -----------------------------------------------------------------

KERNEL runtime_trips(uint32_t n, const uint32_t* x, uint32_t* y, uint32_t count) {
  const uint32_t i = thread_x();
  if (i >= count) return;
  uint32_t s = x[i];
  for (uint32_t k = 0; k < n; ++k) s = s * 1664525 + k;
  y[i] = s;
}

KERNEL rows(uint32_t n, const float* a, const float* x, float* y, uint32_t, uint32_t, uint32_t count) {
  const uint32_t r = thread_x();
  if (r >= count) return;
  float s = 0.0f;
  for (uint32_t c = 0; c < n; ++c) s = fmaf(a[r * n + c], x[c], s);
  y[r] = s;
}

KERNEL csr_spmv(uint32_t rows, const uint32_t* row_ptr, const uint32_t* col, const float* val, const float* x,
                float* y) {
  const uint32_t r = thread_x();
  if (r >= rows) return;
  float sum = 0.0f;
  for (uint32_t e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += val[e] * x[col[e]];
  y[r] = sum;
}

KERNEL mandelbrot(uint32_t width, uint32_t height, float x0, float y0, float dx, float dy, uint32_t max_iter,
                  uint32_t* rounds) {
  const uint32_t px = thread_x(), py = thread_y();
  if (px >= width || py >= height) return;
  const float cx = x0 + float(px) * dx, cy = y0 + float(py) * dy;
  float zx = 0.0f, zy = 0.0f;
  uint32_t i = 0;
  while (i < max_iter && zx * zx + zy * zy <= 4.0f) {
    const float t = zx * zx - zy * zy + cx;
    zy = 2.0f * zx * zy + cy;
    zx = t;
    ++i;
  }
  rounds[py * width + px] = i;
}

KERNEL nbody(uint32_t n, float soft, const float* px, const float* py, const float* pz, const float* mass, float* ax,
             float* ay, float* az) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  const float x = px[i], y = py[i], z = pz[i];
  float sx = 0.0f, sy = 0.0f, sz = 0.0f;
  for (uint32_t j = 0; j < n; ++j) {
    const float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
    const float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + soft);
    const float s = mass[j] * inv * inv * inv;
    sx += dx * s;
    sy += dy * s;
    sz += dz * s;
  }
  ax[i] = sx;
  ay[i] = sy;
  az[i] = sz;
}

KERNEL kmeans(uint32_t n, uint32_t clusters, uint32_t dims, const float* points, const float* centers,
              uint32_t* nearest) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  float best = INFINITY;
  uint32_t chosen = 0;
  for (uint32_t c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (uint32_t d = 0; d < dims; ++d) {
      const float delta = points[i * dims + d] - centers[c * dims + d];
      distance += delta * delta;
    }
    if (distance < best) {
      best = distance;
      chosen = c;
    }
  }
  nearest[i] = chosen;
}

KERNEL box_blur(uint32_t radius, const float* x, float* y, uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  const uint32_t first = max(i, radius) - radius, last = min(i + radius, n - 1);
  float sum = 0.0f;
  for (uint32_t k = first; k <= last; ++k) sum += x[k];
  y[i] = sum / float(last + 1 - first);
}

KERNEL fir(const int16_t* taps, const int16_t* x, int16_t* y, uint32_t count, uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  uint32_t sum = 0;  // wraps as the kernel's i32
  for (uint32_t k = 0; k < min(count, i + 1); ++k) sum += uint32_t(int32_t(taps[k]) * int32_t(x[i - k]));
  y[i] = int16_t(min(max(int32_t(sum) >> 15, -32768), 32767));
}

KERNEL binary_search(const uint32_t* list, const uint32_t* keys, uint32_t* found, uint32_t length, uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  const uint32_t key = keys[i];
  uint32_t low = 0, high = length;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (list[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  found[i] = low;
}

KERNEL bfs_step(uint32_t nodes, uint32_t level, const uint32_t* offsets, const uint32_t* targets,
                const uint32_t* before, uint32_t* after) {
  const uint32_t v = thread_x();
  if (v >= nodes) return;
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

KERNEL collatz(uint32_t limit, const uint32_t* x, uint32_t* steps, uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  uint32_t v = x[i], count = 0;
  while (v > 1 && count < limit) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++count;
  }
  steps[i] = count;
}

KERNEL hash_probe(uint32_t slots, const uint32_t* table, const uint32_t* values, const uint32_t* keys,
                  uint32_t* found, uint32_t, uint32_t, uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  const uint32_t key = keys[i];
  uint32_t slot = (key * 2654435769u) & (slots - 1), result = 0;
  for (uint32_t tries = 0; tries < slots && table[slot] != 0; ++tries) {
    if (table[slot] == key) {
      result = values[slot];
      break;
    }
    slot = (slot + 1) & (slots - 1);
  }
  found[i] = result;
}

__device__ inline float next_number(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return float(state >> 8) * 0.000000059604645f;
}

KERNEL monte_carlo(uint32_t n, uint32_t samples, uint32_t seed, uint32_t* hits) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  uint32_t state = ((i + 1) * 2654435769u) ^ seed, count = 0;
  for (uint32_t s = 0; s < samples; ++s) {
    const float x = next_number(state);
    const float y = next_number(state);
    if (x * x + y * y < 1.0f) ++count;
  }
  hits[i] = count;
}

// ---- text, checksums, hashes --------------------------------------------------------------------

__device__ inline uint32_t rotr(uint32_t v, int n) { return v >> n | v << (32 - n); }

__constant__ const uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// A byte of the padded message.
__device__ inline uint32_t padded(const uint8_t* data, uint32_t size, uint32_t total, uint32_t i) {
  if (i < size) return data[i];
  if (i == size) return 0x80;
  if (i + 4 >= total) return (size * 8) >> ((total - 1 - i) * 8) & 0xff;
  return 0;
}

KERNEL sha256(uint32_t count, uint32_t size, const uint8_t* data, uint32_t* digest) {
  const uint32_t id = thread_x();
  if (id >= count) return;
  const uint8_t* message = data + id * size;
  const uint32_t total = (size + 9 + 63) / 64 * 64;
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint32_t w[64];
  for (uint32_t block = 0; block < total; block += 64) {
    for (uint32_t t = 0; t < 16; ++t) {
      const uint32_t p = block + t * 4;
      w[t] = padded(message, size, total, p) << 24 | padded(message, size, total, p + 1) << 16 |
             padded(message, size, total, p + 2) << 8 | padded(message, size, total, p + 3);
    }
    for (uint32_t t = 16; t < 64; ++t) {
      const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
      const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
    for (uint32_t t = 0; t < 64; ++t) {
      const uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
      const uint32_t t1 = k + s1 + ((e & f) ^ (~e & g)) + sha_k[t] + w[t];
      const uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      k = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
    h[5] += f;
    h[6] += g;
    h[7] += k;
  }
  for (int i = 0; i < 8; ++i) digest[id * 8 + i] = h[i];
}

KERNEL utf8(uint32_t n, uint32_t chunk, const uint8_t* text, uint32_t* chars, uint32_t* errors) {
  const uint32_t begin = thread_x() * chunk;
  if (begin >= n) return;
  const uint32_t end = min(begin + chunk, n);
  uint32_t need = 0, low = 0x80, high = 0xbf, count = 0, bad = 0;
  uint32_t at = begin >= 3 ? begin - 3 : 0;
  while (at < begin && (text[at] & 0xc0) == 0x80) ++at;
  for (; at < end; ++at) {
    const uint32_t b = text[at];
    const bool mine = at >= begin;
    if (need > 0 && b >= low && b <= high) {
      --need;
      low = 0x80;
      high = 0xbf;
      continue;
    }
    if (need > 0 && mine) ++bad;
    need = 0;
    low = 0x80;
    high = 0xbf;
    if (b < 0x80) {
      if (mine) ++count;
    } else if (b >= 0xc2 && b <= 0xdf) {
      need = 1;
      if (mine) ++count;
    } else if (b >= 0xe0 && b <= 0xef) {
      need = 2;
      if (b == 0xe0) low = 0xa0;
      if (b == 0xed) high = 0x9f;
      if (mine) ++count;
    } else if (b >= 0xf0 && b <= 0xf4) {
      need = 3;
      if (b == 0xf0) low = 0x90;
      if (b == 0xf4) high = 0x8f;
      if (mine) ++count;
    } else if (mine) {
      ++bad;
    }
  }
  if (end == n && need > 0) ++bad;
  chars[thread_x()] = count;
  errors[thread_x()] = bad;
}

KERNEL string_match(const uint8_t* text, const uint8_t* pattern, uint8_t* hit, uint32_t n, uint32_t length) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  bool same = i + length <= n;
  for (uint32_t k = 0; same && k < length; ++k) same = text[i + k] == pattern[k];
  hit[i] = same;
}

KERNEL longest_match(uint32_t window, uint32_t limit, const uint8_t* text, uint32_t* length, uint32_t* distance,
                     uint32_t n) {
  const uint32_t i = thread_x();
  if (i >= n) return;
  const uint32_t reach = min(limit, n - i), last = min(window, i);
  uint32_t best = 0, where = 0;
  for (uint32_t d = 1; d <= last; ++d) {
    uint32_t k = 0;
    while (k < reach && text[i + k] == text[i - d + k]) ++k;
    if (k > best) {
      best = k;
      where = d;
    }
  }
  length[i] = best;
  distance[i] = where;
}

KERNEL levenshtein(uint32_t words, const uint8_t* query, const uint32_t* starts, const uint8_t* text,
                   uint32_t* distance, uint32_t length) {
  const uint32_t w = thread_x();
  if (w >= words) return;
  const uint32_t m = min(length, 63u);
  uint32_t row[64];
  for (uint32_t j = 0; j <= m; ++j) row[j] = j;
  for (uint32_t at = starts[w]; at < starts[w + 1]; ++at) {
    const uint8_t c = text[at];
    uint32_t diagonal = row[0]++;
    for (uint32_t j = 0; j < m; ++j) {
      const uint32_t above = row[j + 1];
      row[j + 1] = min(min(above, row[j]) + 1, diagonal + (query[j] == c ? 0u : 1u));
      diagonal = above;
    }
  }
  distance[w] = row[m];
}

KERNEL crc32(uint32_t block, const uint32_t* table, const uint8_t* data, uint32_t* crc, uint32_t, uint32_t n,
             uint32_t blocks) {
  const uint32_t b = thread_x();
  if (b >= blocks) return;
  const uint32_t end = min((b + 1) * block, n);
  uint32_t c = 0xffffffff;
  for (uint32_t i = b * block; i < end; ++i) c = table[(c ^ data[i]) & 0xff] ^ c >> 8;
  crc[b] = ~c;
}

KERNEL adler32(uint32_t block, const uint8_t* data, uint32_t* sums, uint32_t n, uint32_t blocks) {
  const uint32_t id = thread_x();
  if (id >= blocks) return;
  const uint32_t end = min((id + 1) * block, n);
  uint32_t a = 1, b = 0;
  for (uint32_t i = id * block; i < end; ++i) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  sums[id] = b << 16 | a;
}

// ---- pictures and matrices ----------------------------------------------------------------------

KERNEL conv2d(int width, int height, int radius, const float* image, const float* weights, float* result) {
  const int x = thread_x(), y = thread_y();
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const int xx = x + dx, yy = y + dy;
      if (xx >= 0 && xx < width && yy >= 0 && yy < height)
        sum = fmaf(image[yy * width + xx], weights[(dy + radius) * (2 * radius + 1) + dx + radius], sum);
    }
  }
  result[y * width + x] = sum;
}

KERNEL life(uint32_t width, uint32_t height, const uint8_t* now, uint8_t* next) {
  const uint32_t x = thread_x(), y = thread_y();
  if (x >= width || y >= height) return;
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

__device__ inline int pixel(int width, int height, const uint8_t* image, int x, int y) {
  return image[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
}

KERNEL sobel(int width, int height, const uint8_t* image, uint8_t* edges) {
  const int x = thread_x(), y = thread_y();
  if (x >= width || y >= height) return;
  const int nw = pixel(width, height, image, x - 1, y - 1), n = pixel(width, height, image, x, y - 1);
  const int ne = pixel(width, height, image, x + 1, y - 1), w = pixel(width, height, image, x - 1, y);
  const int e = pixel(width, height, image, x + 1, y), sw = pixel(width, height, image, x - 1, y + 1);
  const int s = pixel(width, height, image, x, y + 1), se = pixel(width, height, image, x + 1, y + 1);
  const int gx = ne + 2 * e + se - nw - 2 * w - sw, gy = sw + 2 * s + se - nw - 2 * n - ne;
  edges[y * width + x] = min(abs(gx) + abs(gy), 255);
}

KERNEL jacobi_2d(uint32_t width, uint32_t height, const float* u, const float* f, float* next) {
  const uint32_t x = thread_x(), y = thread_y();
  if (x >= width || y >= height) return;
  const uint32_t i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
    next[i] = u[i];
  else
    next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - f[i]);
}

KERNEL resize(uint32_t width, uint32_t height, uint32_t new_width, uint32_t new_height, const float* image,
              float* result) {
  const uint32_t x = thread_x(), y = thread_y();
  if (x >= new_width || y >= new_height) return;
  const float fx = float(x) * float(width - 1) / float(new_width - 1);
  const float fy = float(y) * float(height - 1) / float(new_height - 1);
  const uint32_t x0 = uint32_t(fx), y0 = uint32_t(fy);
  const uint32_t x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
  const float tx = fx - float(x0), ty = fy - float(y0);
  const float top = image[y0 * width + x0] * (1.0f - tx) + image[y0 * width + x1] * tx;
  const float bottom = image[y1 * width + x0] * (1.0f - tx) + image[y1 * width + x1] * tx;
  result[y * new_width + x] = top * (1.0f - ty) + bottom * ty;
}

KERNEL matmul_naive(uint32_t n, const float* a, const float* b, float* c) {
  const uint32_t col = thread_x(), row = thread_y();
  if (row >= n || col >= n) return;
  float sum = 0.0f;
  for (uint32_t k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

// ---- blocks that share memory -------------------------------------------------------------------

KERNEL matmul_tiled(uint32_t n, const float* a, const float* b, float* c) {
  __shared__ float ta[16][16], tb[16][16];
  const uint32_t x = threadIdx.x, y = threadIdx.y, col = thread_x(), row = thread_y();
  float sum = 0.0f;
  for (uint32_t first = 0; first < n; first += 16) {
    ta[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0.0f;
    tb[y][x] = col < n && first + y < n ? b[(first + y) * n + col] : 0.0f;
    __syncthreads();
    for (uint32_t k = 0; k < 16; ++k) sum = fmaf(ta[y][k], tb[k][x], sum);
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

KERNEL transpose(uint32_t width, uint32_t height, const float* x, float* y) {
  __shared__ float tile[32][33];
  const uint32_t lx = threadIdx.x, ly = threadIdx.y;
  const uint32_t c = blockIdx.x * 32 + lx, r = blockIdx.y * 32 + ly;
  for (uint32_t j = 0; j < 32; j += 8)
    if (c < width && r + j < height) tile[ly + j][lx] = x[(r + j) * width + c];
  __syncthreads();
  const uint32_t tc = blockIdx.y * 32 + lx, tr = blockIdx.x * 32 + ly;
  for (uint32_t j = 0; j < 32; j += 8)
    if (tc < height && tr + j < width) y[(tr + j) * height + tc] = tile[lx][ly + j];
}

KERNEL dot(uint32_t n, uint32_t, const float* a, const float* b, float* sums) {
  __shared__ float t[256];
  const uint32_t l = threadIdx.x;
  float sum = 0.0f;
  for (uint32_t i = thread_x(); i < n; i += gridDim.x * blockDim.x) sum = fmaf(a[i], b[i], sum);
  t[l] = sum;
  __syncthreads();
  for (uint32_t d = blockDim.x / 2; d > 0; d /= 2) {
    if (l < d) t[l] += t[l + d];
    __syncthreads();
  }
  if (l == 0) sums[blockIdx.x] = t[0];
}

KERNEL reduce_max(uint32_t, const int32_t* x, int32_t* largest, uint32_t n) {
  __shared__ int32_t t[256];
  const uint32_t l = threadIdx.x;
  int32_t m = INT32_MIN;
  for (uint32_t i = thread_x(); i < n; i += gridDim.x * blockDim.x) m = max(m, x[i]);
  t[l] = m;
  __syncthreads();
  for (uint32_t d = 128; d > 0; d /= 2) {
    if (l < d) t[l] = max(t[l], t[l + d]);
    __syncthreads();
  }
  if (l == 0) largest[blockIdx.x] = t[0];
}

KERNEL prefix_sum(const uint32_t* x, uint32_t* y, uint32_t n) {
  __shared__ uint32_t t[256];
  const uint32_t l = threadIdx.x, i = thread_x();
  t[l] = i < n ? x[i] : 0;
  __syncthreads();
  for (uint32_t d = 1; d < 256; d *= 2) {
    const uint32_t other = l >= d ? t[l - d] : 0;
    __syncthreads();
    t[l] += other;
    __syncthreads();
  }
  if (i < n) y[i] = t[l];
}

/// The counts are zeroed before the launch.
KERNEL histogram(uint32_t, const uint8_t* data, uint32_t* counts, uint32_t n) {
  __shared__ uint32_t mine[256];
  const uint32_t l = threadIdx.x;
  mine[l] = 0;
  __syncthreads();
  for (uint32_t i = thread_x(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[l], mine[l]);
}
