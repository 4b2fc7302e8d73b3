// Generators of input data. Every one is a function of its operands and a seed.

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "programs.h"

namespace bench {
namespace {

using vyre::Type;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {}
  uint64_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  /// From 0 to below `n`; the high bits of a multiplication, because division is slow.
  uint64_t below(uint64_t n) {
    return uint64_t((static_cast<unsigned __int128>(bits()) * n) >> 64);
  }
  /// From 0 to below 1 in steps of 2^-24.
  double unit() { return double(bits() >> 40) * 0x1p-24; }

 private:
  uint64_t state_;
};

/// An element of an integer or float type at position `i`.
void store(std::vector<std::byte>& to, Type element, uint64_t i, double value) {
  if (element == Type::F32) {
    const float f = float(value);
    std::memcpy(to.data() + i * 4, &f, 4);
  } else if (element == Type::F64) {
    std::memcpy(to.data() + i * 8, &value, 8);
  } else {
    const auto v = int64_t(value);  // the low bytes of two's complement
    std::memcpy(to.data() + i * size_of(element), &v, size_of(element));
  }
}

struct Request {
  const std::vector<std::string>& words;  // the generator and its operands
  Type element;
  uint64_t count;
  ProgramSize size;
  Random random;

  double operand(size_t i) const {
    if (i >= words.size())
      throw std::runtime_error(fmt::format("`{}` needs {} operands", words[0], i));
    return select_number(words[i], size);
  }
};

using Bytes = std::vector<std::byte>;

/// Integers of any bits; floats from -1 to below 1.
void any_bits(Request& r, Bytes& to) {
  if (is_float(r.element)) {
    for (uint64_t i = 0; i < r.count; ++i) store(to, r.element, i, r.random.unit() * 2 - 1);
    return;
  }
  for (size_t at = 0; at < to.size(); at += 8) {
    const uint64_t x = r.random.bits();
    std::memcpy(to.data() + at, &x, std::min<size_t>(8, to.size() - at));
  }
}

void floats(Request& r, Bytes& to) {
  const double lo = r.operand(1), hi = r.operand(2);
  for (uint64_t i = 0; i < r.count; ++i) store(to, r.element, i, lo + (hi - lo) * r.random.unit());
}

void integers(Request& r, Bytes& to) {
  const double lo = r.operand(1), hi = r.operand(2);
  for (uint64_t i = 0; i < r.count; ++i)
    store(to, r.element, i, lo + double(r.random.below(uint64_t(hi - lo))));
}

void choose(Request& r, Bytes& to) {
  std::vector<double> values;
  for (size_t i = 1; i < r.words.size(); ++i) values.push_back(r.operand(i));
  for (uint64_t i = 0; i < r.count; ++i)
    store(to, r.element, i, values[r.random.below(values.size())]);
}

void characters(Request& r, Bytes& to, std::string_view from) {
  for (uint64_t i = 0; i < r.count; ++i)
    store(to, r.element, i, double(uint8_t(from[r.random.below(from.size())])));
}

/// Characters of one to four bytes, and a byte that is wrong now and then.
void utf8(Request& r, Bytes& to) {
  uint64_t i = 0;
  const auto put = [&](uint64_t byte) {
    if (i < to.size()) to[i++] = std::byte(byte);
  };
  const auto rest = [&](int bytes) {
    for (int k = 0; k < bytes; ++k) put(0x80 + r.random.below(64));
  };
  while (i < to.size()) {
    const uint64_t kind = r.random.below(100);
    if (kind < 70) {
      put(32 + r.random.below(95));
    } else if (kind < 85) {
      put(0xc2 + r.random.below(30));
      rest(1);
    } else if (kind < 95) {
      put(0xe1 + r.random.below(12));
      rest(2);
    } else if (kind < 99) {
      put(0xf1 + r.random.below(3));
      rest(3);
    } else {
      put(r.random.below(256));
    }
  }
}

/// Offsets of a partition: 0, then ever larger, TOTAL at the end. Parts have 0 to 2 times the mean.
void starts(Request& r, Bytes& to) {
  const double total = r.operand(1), mean = r.count > 1 ? total / double(r.count - 1) : 0;
  for (uint64_t i = 0; i < r.count; ++i) {
    const bool inside = i > 0 && i + 1 < r.count;
    const double jitter = inside ? (r.random.unit() - 0.5) * mean : 0;
    store(to, r.element, i, i + 1 == r.count ? total : double(int64_t(double(i) * mean + jitter)));
  }
}

void sorted(Request& r, Bytes& to) {
  const uint64_t step = (uint64_t{1} << 32) / (r.count + 1);
  for (uint64_t i = 0; i < r.count; ++i)
    store(to, r.element, i, double(i * step + r.random.below(step)));
}

void permutation(Request& r, Bytes& to) {
  std::vector<uint32_t> v(r.count);
  std::iota(v.begin(), v.end(), 0u);
  for (uint64_t i = r.count; i > 1; --i) std::swap(v[i - 1], v[r.random.below(i)]);
  for (uint64_t i = 0; i < r.count; ++i) store(to, r.element, i, v[i]);
}

/// Keys in an open-addressing table as kernels/hash_probe.vyre looks for them.
void hash_slots(Request& r, Bytes& to) {
  const auto full = uint64_t(r.operand(1) / 100 * double(r.count));
  const double lo = r.operand(2), hi = r.operand(3);
  std::vector<uint32_t> table(r.count);
  for (uint64_t k = 0; k < full; ++k) {
    const auto key = uint32_t(lo) + uint32_t(r.random.below(uint64_t(hi - lo)));
    uint64_t slot = (key * 2654435769u) & (r.count - 1);
    while (table[slot] != 0 && table[slot] != key) slot = (slot + 1) & (r.count - 1);
    table[slot] = key;
  }
  for (uint64_t i = 0; i < r.count; ++i) store(to, r.element, i, table[i]);
}

constexpr std::string_view letters =
    "eeeeettttaaaaooooiiinnnsssrrrhhhlldducm  \t\nEWORK0159.,;-_(){}";
constexpr std::string_view hex_digits = "0123456789abcdefABCDEF";
constexpr std::string_view base64_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct Generator {
  std::string_view name;
  std::function<void(Request&, Bytes&)> make;
};

const Generator generators[] = {
    {"float", floats},
    {"int", integers},
    {"choose", choose},
    {"text", [](Request& r, Bytes& to) { characters(r, to, letters); }},
    {"hex", [](Request& r, Bytes& to) { characters(r, to, hex_digits); }},
    {"base64", [](Request& r, Bytes& to) { characters(r, to, base64_characters); }},
    {"utf8", utf8},
    {"starts", starts},
    {"sorted", sorted},
    {"permutation", permutation},
    {"hash_slots", hash_slots},
};

}  // namespace

std::vector<std::byte> make_data(const std::vector<std::string>& generator, Type element,
                                 uint64_t count, uint64_t seed, ProgramSize size) {
  Bytes bytes(count * size_of(element));
  Request r{generator, element, count, size, Random(seed)};
  if (generator.empty()) {
    any_bits(r, bytes);
    return bytes;
  }
  for (const Generator& g : generators) {
    if (g.name != generator[0]) continue;
    g.make(r, bytes);
    return bytes;
  }
  throw std::runtime_error(fmt::format("unknown data generator `{}`", generator[0]));
}

}  // namespace bench
