// Text, checksums, hashes and compression.

#include <algorithm>

#include "baselines.h"

static uint32_t rotr(uint32_t v, int n) { return v >> n | v << (32 - n); }

static const uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// A byte of the padded message.
static uint32_t padded(const uint8_t* data, uint32_t size, uint32_t total, uint32_t i) {
  if (i < size) return data[i];
  if (i == size) return 0x80;
  if (i + 4 >= total) return (size * 8) >> ((total - 1 - i) * 8) & 0xff;
  return 0;
}

BASELINE(sha256) {
  const uint32_t count = args.scalars[0], size = args.scalars[1];
  const uint8_t* __restrict data = args.get<uint8_t>(0);
  uint32_t* __restrict digest = args.get<uint32_t>(1);
  const uint32_t total = (size + 9 + 63) / 64 * 64;
#pragma omp parallel for
  for (uint32_t id = 0; id < count; ++id) {
    const uint8_t* message = data + uint64_t(id) * size;
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
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
    for (int i = 0; i < 8; ++i) digest[uint64_t(id) * 8 + i] = h[i];
  }
}

BASELINE(utf8) {
  const uint32_t n = args.scalars[0], chunk = args.scalars[1];
  const uint8_t* __restrict text = args.get<uint8_t>(0);
  uint32_t* __restrict chars = args.get<uint32_t>(1);
  uint32_t* __restrict errors = args.get<uint32_t>(2);
  const uint32_t chunks = (n + chunk - 1) / chunk;
#pragma omp parallel for
  for (uint32_t id = 0; id < chunks; ++id) {
    const uint32_t begin = id * chunk, end = std::min(begin + chunk, n);
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
        count += mine;
      } else if (b >= 0xc2 && b <= 0xdf) {
        need = 1;
        count += mine;
      } else if (b >= 0xe0 && b <= 0xef) {
        need = 2;
        if (b == 0xe0) low = 0xa0;
        if (b == 0xed) high = 0x9f;
        count += mine;
      } else if (b >= 0xf0 && b <= 0xf4) {
        need = 3;
        if (b == 0xf0) low = 0x90;
        if (b == 0xf4) high = 0x8f;
        count += mine;
      } else {
        bad += mine;
      }
    }
    if (end == n && need > 0) ++bad;
    chars[id] = count;
    errors[id] = bad;
  }
}

BASELINE(string_match) {
  const uint8_t* __restrict text = args.get<uint8_t>(0);
  const uint8_t* __restrict pattern = args.get<uint8_t>(1);
  uint8_t* __restrict hit = args.get<uint8_t>(2);
  const uint64_t n = args.count<uint8_t>(0), length = args.count<uint8_t>(1);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    bool same = i + length <= n;
    for (uint64_t k = 0; same && k < length; ++k) same = text[i + k] == pattern[k];
    hit[i] = same;
  }
}

BASELINE(longest_match) {
  const uint64_t window = args.scalars[0], limit = args.scalars[1];
  const uint8_t* __restrict text = args.get<uint8_t>(0);
  uint32_t* __restrict length = args.get<uint32_t>(1);
  uint32_t* __restrict distance = args.get<uint32_t>(2);
  const uint64_t n = args.count<uint8_t>(0);
#pragma omp parallel for
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t reach = std::min(limit, n - i);
    uint32_t best = 0, where = 0;
    for (uint64_t d = 1; d <= std::min(window, i); ++d) {
      uint32_t k = 0;
      while (k < reach && text[i + k] == text[i - d + k]) ++k;
      if (k > best) {
        best = k;
        where = uint32_t(d);
      }
    }
    length[i] = best;
    distance[i] = where;
  }
}

BASELINE(levenshtein) {
  const uint64_t words = args.scalars[0];
  const uint8_t* __restrict query = args.get<uint8_t>(0);
  const uint32_t* __restrict starts = args.get<uint32_t>(1);
  const uint8_t* __restrict text = args.get<uint8_t>(2);
  uint32_t* __restrict distance = args.get<uint32_t>(3);
  const uint32_t m = std::min<uint32_t>(uint32_t(args.count<uint8_t>(0)), 63);
#pragma omp parallel for
  for (uint64_t w = 0; w < words; ++w) {
    uint32_t row[64];
    for (uint32_t j = 0; j <= m; ++j) row[j] = j;
    for (uint32_t at = starts[w]; at < starts[w + 1]; ++at) {
      uint32_t diagonal = row[0]++;
      for (uint32_t j = 0; j < m; ++j) {
        const uint32_t above = row[j + 1];
        row[j + 1] = std::min(std::min(above, row[j]) + 1, diagonal + (query[j] != text[at]));
        diagonal = above;
      }
    }
    distance[w] = row[m];
  }
}

BASELINE(crc32) {
  const uint64_t block = args.scalars[0];
  const uint32_t* __restrict table = args.get<uint32_t>(0);
  const uint8_t* __restrict data = args.get<uint8_t>(1);
  uint32_t* __restrict crc = args.get<uint32_t>(2);
  const uint64_t n = args.count<uint8_t>(1), blocks = args.count<uint32_t>(2);
#pragma omp parallel for
  for (uint64_t b = 0; b < blocks; ++b) {
    uint32_t c = 0xffffffff;
    for (uint64_t i = b * block; i < std::min((b + 1) * block, n); ++i)
      c = table[(c ^ data[i]) & 0xff] ^ c >> 8;
    crc[b] = ~c;
  }
}

BASELINE(adler32) {
  const uint64_t block = args.scalars[0];
  const uint8_t* __restrict data = args.get<uint8_t>(0);
  uint32_t* __restrict sums = args.get<uint32_t>(1);
  const uint64_t n = args.count<uint8_t>(0), blocks = args.count<uint32_t>(1);
#pragma omp parallel for
  for (uint64_t id = 0; id < blocks; ++id) {
    uint32_t a = 1, b = 0;
    for (uint64_t i = id * block; i < std::min((id + 1) * block, n); ++i) {
      a = (a + data[i]) % 65521;
      b = (b + a) % 65521;
    }
    sums[id] = b << 16 | a;
  }
}
