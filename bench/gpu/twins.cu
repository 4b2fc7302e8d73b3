// The kernels of bench/gpu/kernels as a competent programmer writes them in CUDA C++: once like the vyre
// kernel (`NAME`), and once with 16-byte access or whatever else makes it fast (`NAME_wide`). Compiled
// to cubins by nvcc, with -fmad=false (the same arithmetic) and with nvcc's defaults; bench_gpu loads them
// through the driver API.

#include <cstdint>

#define KERNEL extern "C" __global__ void

// ---- copy, xor, saxpy: all memory.

KERNEL __launch_bounds__(256) copy(const uint32_t* __restrict__ x, uint32_t* __restrict__ y, uint32_t n) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i];
}

KERNEL __launch_bounds__(256) copy_wide(const uint4* __restrict__ x, uint4* __restrict__ y, uint32_t n) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  if (i < n / 4) y[i] = x[i];
}

KERNEL __launch_bounds__(256)
    xor_u32(const uint32_t* __restrict__ a, const uint32_t* __restrict__ b, uint32_t* __restrict__ c, uint32_t n) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) c[i] = a[i] ^ b[i];
}

KERNEL __launch_bounds__(256)
    xor_u32_wide(const uint4* __restrict__ a, const uint4* __restrict__ b, uint4* __restrict__ c, uint32_t n) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n / 4) return;
  const uint4 p = a[i], q = b[i];
  c[i] = make_uint4(p.x ^ q.x, p.y ^ q.y, p.z ^ q.z, p.w ^ q.w);
}

KERNEL __launch_bounds__(256) saxpy(float a, const float* __restrict__ x, float* __restrict__ y, uint32_t n) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = fmaf(a, x[i], y[i]);
}

KERNEL __launch_bounds__(256) saxpy_wide(float a, const float4* __restrict__ x, float4* __restrict__ y, uint32_t n) {
  const uint32_t i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n / 4) return;
  const float4 p = x[i], q = y[i];
  y[i] = make_float4(fmaf(a, p.x, q.x), fmaf(a, p.y, q.y), fmaf(a, p.z, q.z), fmaf(a, p.w, q.w));
}

// ---- stencil: five points of a plane.

KERNEL __launch_bounds__(256)
    stencil(uint32_t width, uint32_t height, const float* __restrict__ x, float* __restrict__ y) {
  const uint32_t column = blockIdx.x * 32 + threadIdx.x + 1, row = blockIdx.y * 8 + threadIdx.y + 1;
  if (column >= width - 1 || row >= height - 1) return;
  const uint32_t i = row * width + column;
  y[i] = 0.5f * x[i] + 0.125f * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
}

/// Four columns a thread: the rows above, of it and below with one load each, the two neighbours with one.
KERNEL __launch_bounds__(256)
    stencil_wide(uint32_t width, uint32_t height, const float* __restrict__ x, float* __restrict__ y) {
  const uint32_t column = (blockIdx.x * 32 + threadIdx.x) * 4, row = blockIdx.y * 8 + threadIdx.y + 1;
  if (column >= width || row >= height - 1) return;
  const uint32_t i = row * width + column;
  const float4 up = *reinterpret_cast<const float4*>(x + i - width);
  const float4 here = *reinterpret_cast<const float4*>(x + i);
  const float4 down = *reinterpret_cast<const float4*>(x + i + width);
  const float left = column == 0 ? 0.0f : x[i - 1], right = column + 4 >= width ? 0.0f : x[i + 4];
  float4 r;
  r.x = 0.5f * here.x + 0.125f * (left + here.y + up.x + down.x);
  r.y = 0.5f * here.y + 0.125f * (here.x + here.z + up.y + down.y);
  r.z = 0.5f * here.z + 0.125f * (here.y + here.w + up.z + down.z);
  r.w = 0.5f * here.w + 0.125f * (here.z + right + up.w + down.w);
  if (column == 0) r.x = 0.0f;  // the border stays as it is: zeros
  if (column + 4 >= width) r.w = 0.0f;
  *reinterpret_cast<float4*>(y + i) = r;
}

// ---- matmul: tiles in shared memory.

constexpr int tile = 32;

KERNEL __launch_bounds__(1024)
    matmul(uint32_t n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float ta[tile][tile], tb[tile][tile];
  const uint32_t x = threadIdx.x, y = threadIdx.y;
  const uint32_t row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
  float sum = 0;
  for (uint32_t first = 0; first < n; first += tile) {
    ta[y][x] = a[row * n + first + x];
    tb[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum = fmaf(ta[y][i], tb[i][x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// 64 by 64 results a block of 16 by 16 threads, 4 by 4 each, in registers; float4 to and from memory. The
/// order of each sum is the same.
KERNEL __launch_bounds__(256)
    matmul_wide(uint32_t n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float ta[16][64 + 4], tb[16][64];  // ta is transposed
  const uint32_t t = threadIdx.y * 16 + threadIdx.x;
  const uint32_t row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (uint32_t first = 0; first < n; first += 16) {
    const float4 pa = *reinterpret_cast<const float4*>(a + (row + t / 4) * n + first + t % 4 * 4);
    ta[t % 4 * 4 + 0][t / 4] = pa.x;
    ta[t % 4 * 4 + 1][t / 4] = pa.y;
    ta[t % 4 * 4 + 2][t / 4] = pa.z;
    ta[t % 4 * 4 + 3][t / 4] = pa.w;
    *reinterpret_cast<float4*>(&tb[t / 16][t % 16 * 4]) =
        *reinterpret_cast<const float4*>(b + (first + t / 16) * n + column + t % 16 * 4);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 va = *reinterpret_cast<const float4*>(&ta[k][threadIdx.y * 4]);
      const float4 vb = *reinterpret_cast<const float4*>(&tb[k][threadIdx.x * 4]);
      const float ra[4] = {va.x, va.y, va.z, va.w}, rb[4] = {vb.x, vb.y, vb.z, vb.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(ra[i], rb[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(c + (row + threadIdx.y * 4 + i) * n + column + threadIdx.x * 4) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// ---- mandelbrot: arithmetic without data reuse.

KERNEL __launch_bounds__(256) mandelbrot(uint32_t width, uint32_t height, uint32_t* __restrict__ steps) {
  const uint32_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= width || row >= height) return;
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

// ---- reduce: sums of blocks of 256 * 16.

KERNEL __launch_bounds__(256) reduce(const uint32_t* __restrict__ x, uint32_t* __restrict__ sums, uint32_t n) {
  __shared__ uint32_t t[256];
  const uint32_t l = threadIdx.x, first = blockIdx.x * 256 * 16 + l;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 16; ++k)
    if (first + k * 256 < n) sum += x[first + k * 256];
  t[l] = sum;
  for (uint32_t d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (l < d) t[l] += t[l + d];
  }
  if (l == 0) sums[blockIdx.x] = t[0];
}

/// 16-byte loads, then shuffles; shared memory only between the warps. n is a multiple of a block's part.
KERNEL __launch_bounds__(256) reduce_wide(const uint4* __restrict__ x, uint32_t* __restrict__ sums, uint32_t n) {
  __shared__ uint32_t t[8];
  const uint32_t l = threadIdx.x, first = blockIdx.x * 256 * 4 + l;
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t k = 0; k < 4; ++k) {
    const uint4 v = x[first + k * 256];
    sum += v.x + v.y + v.z + v.w;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (l % 32 == 0) t[l / 32] = sum;
  __syncthreads();
  if (l < 8) {
    sum = t[l];
    for (int d = 4; d > 0; d >>= 1) sum += __shfl_down_sync(0xffu, sum, d);
    if (l == 0) sums[blockIdx.x] = sum;
  }
}

// ---- dfa: a table-driven automaton, 256 bytes a thread.

KERNEL __launch_bounds__(128) dfa(const uint8_t* __restrict__ text, const uint32_t* __restrict__ next,
                                  uint32_t* __restrict__ hits, uint32_t chunks) {
  const uint32_t i = blockIdx.x * 128 + threadIdx.x;
  if (i >= chunks) return;
  uint32_t state = 0, found = 0;
  for (uint32_t k = 0; k < 256; ++k) {
    state = next[state * 256 + text[i * 256 + k]];
    found += state == 31;
  }
  hits[i] = found;
}

/// Sixteen bytes of text a load, and the table in shared memory.
KERNEL __launch_bounds__(128) dfa_wide(const uint4* __restrict__ text, const uint32_t* __restrict__ next,
                                       uint32_t* __restrict__ hits, uint32_t chunks) {
  __shared__ uint8_t table[32 * 256];
  for (uint32_t j = threadIdx.x; j < 32 * 256; j += 128) table[j] = uint8_t(next[j]);
  __syncthreads();
  const uint32_t i = blockIdx.x * 128 + threadIdx.x;
  if (i >= chunks) return;
  uint32_t state = 0, found = 0;
  for (uint32_t k = 0; k < 16; ++k) {
    const uint4 v = text[i * 16 + k];
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      state = table[state * 256 + (words[j / 4] >> (j % 4 * 8) & 255)];
      found += state == 31;
    }
  }
  hits[i] = found;
}

// ---- histogram: 256 bins in shared memory, 64 bytes a thread.

KERNEL __launch_bounds__(256) histogram(const uint8_t* __restrict__ data, uint32_t* __restrict__ counts, uint32_t n) {
  __shared__ uint32_t mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t first = blockIdx.x * 256 * 64 + threadIdx.x;
  for (uint32_t k = 0; k < 64; ++k) {
    const uint32_t i = first + k * 256;
    if (i < n) atomicAdd(&mine[data[i]], 1);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

/// n is a multiple of a block's part.
KERNEL __launch_bounds__(256)
    histogram_wide(const uint4* __restrict__ data, uint32_t* __restrict__ counts, uint32_t n) {
  __shared__ uint32_t mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t first = blockIdx.x * 256 * 4 + threadIdx.x;
#pragma unroll
  for (uint32_t k = 0; k < 4; ++k) {
    const uint4 v = data[first + k * 256];
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 16; ++j) atomicAdd(&mine[words[j / 4] >> (j % 4 * 8) & 255], 1);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// ---- tiny: a link of the chain of 64 launches.

KERNEL __launch_bounds__(64) tiny(uint32_t* __restrict__ x, uint32_t n) {
  const uint32_t i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) x[i] = x[i] * 3 + 1;
}
