// Twins of kernels whose vyre form needs shared memory, atomics or gathers. See twins.h.

#include <cstring>

#include "twins.h"

namespace bench::TWINS {

void scan(const TwinArgs& args) {
  const uint32_t* __restrict x = args.get<uint32_t>(0);
  uint32_t* __restrict y = args.get<uint32_t>(1);
  const uint64_t blocks = args.count<uint32_t>(0) / 256;
#pragma omp parallel for
  for (uint64_t b = 0; b < blocks; ++b) {
    uint32_t sum = 0;
    for (uint64_t i = b * 256; i < (b + 1) * 256; ++i) {
      sum += x[i];
      y[i] = sum;
    }
  }
}

void dfa(const TwinArgs& args) {
  const uint8_t* __restrict text = args.get<uint8_t>(0);
  const uint32_t* __restrict next = args.get<uint32_t>(1);
  uint32_t* __restrict hits = args.get<uint32_t>(2);
  const uint64_t chunks = args.count<uint32_t>(2);
#pragma omp parallel for
  for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
    uint32_t state = 0, found = 0;
    for (uint64_t i = chunk * 1024; i < (chunk + 1) * 1024; ++i) {
      state = next[state * 256 + text[i]];
      found += state == 31;
    }
    hits[chunk] = found;
  }
}

void histogram(const TwinArgs& args) {
  const uint8_t* __restrict data = args.get<uint8_t>(0);
  uint32_t* __restrict counts = args.get<uint32_t>(1);
  const uint64_t n = args.count<uint8_t>(0);
  std::memset(counts, 0, 256 * sizeof *counts);
#pragma omp parallel for reduction(+ : counts[ : 256])
  for (uint64_t i = 0; i < n; ++i) ++counts[data[i]];
}

}  // namespace bench::TWINS
