#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "runtime/vulkan/self_test_cases.h"

namespace vyre::driver::vulkan {
namespace {

/// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

constexpr uint32_t corners32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x007fffff, 0x807fffff, 0x00400000,
    0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x01000000, 0x3f800000, 0xbf800000, 0x3f7fffff,
    0x3f800001, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0x40400000, 0x4b000000, 0x4b000001,
    0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x5f000000,
    0xdf000000, 0x5f800000, 0x33800000, 0x0d000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff, 0x20000000, 0x1f800000, 0x60000000, 0x437f8000};

constexpr uint64_t corners64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
    0x000fffffffffffff, 0x0008000000000000, 0x0010000000000000, 0x8010000000000000,
    0x001fffffffffffff, 0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff,
    0x3ff0000000000001, 0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000,
    0x4330000000000000, 0x433fffffffffffff, 0x4340000000000000, 0x41dfffffffc00000,
    0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000, 0x41f0000000000000,
    0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0x7ff0000000000001, 0x380fffffffffffff, 0x3690000000000000, 0x36a0000000000000,
    0x3800000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47f0000000000000};

constexpr uint64_t corners_int[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x00ffffff,
                                    0x01000001,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xffffffff,
                                    0xfffffffe,
                                    0x100000000,
                                    0x1000000ff,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xffffffffffffffff,
                                    0xffffffff00000000};

struct Format {
  int exponent_bits, fraction_bits;
};

/// A float with the exponent `e` (biased, brought into range) and random sign and fraction.
uint64_t with_exponent(Format f, int e, uint64_t random) {
  const int most = (1 << f.exponent_bits) - 1;
  e = std::max(0, std::min(most - 1, e));
  uint64_t fraction = random & ((uint64_t{1} << f.fraction_bits) - 1);
  if (random >> 60 < 3) fraction &= ~uint64_t{0} << (f.fraction_bits / 2);  // short ones make ties
  return (random >> 63) << (f.exponent_bits + f.fraction_bits) | uint64_t(e) << f.fraction_bits |
         fraction;
}

/// Three operands, of which the `which`th is wanted.
uint64_t random_float(Format f, uint64_t element, uint32_t which) {
  Random r(element * 4 + 1);
  const uint64_t kind = r.next() % 6;
  const uint64_t bits[3] = {r.next(), r.next(), r.next()};
  const int bias = (1 << (f.exponent_bits - 1)) - 1, most = (1 << f.exponent_bits) - 1;
  const int e0 = int(r.next() % uint64_t(most)), near = int(r.next() % 61) - 30;
  const uint64_t mask = f.exponent_bits + f.fraction_bits == 63
                            ? ~uint64_t{0}
                            : (uint64_t{1} << (f.exponent_bits + f.fraction_bits + 1)) - 1;
  switch (kind) {
    case 0:  // anything
      return bits[which] & mask;
    case 1:  // near each other: sums that round and cancel
      return with_exponent(f, which == 0 ? e0 : e0 + near % (which == 1 ? 4 : 30), bits[which]);
    case 2:  // around 1: integers and halves
      return with_exponent(f, bias + int(bits[which] >> 40) % (f.fraction_bits + 12) - 3,
                           bits[which]);
    case 3:  // products and quotients at the edge of the subnormals
      return with_exponent(f,
                           which == 0   ? e0
                           : which == 1 ? bias - e0 + near % 27
                                        : int(bits[2] >> 32) % 40,
                           bits[which]);
    case 4:  // subnormals and their neighbours
      return with_exponent(f, int(bits[which] >> 33) % (f.fraction_bits / 2), bits[which]);
    default:  // fma: c is about -a*b
      return with_exponent(f,
                           which == 0   ? bias + near
                           : which == 1 ? bias + near / 2
                                        : bias + near + near / 2 + 1,
                           bits[which]);
  }
}

template <class T, size_t N>
uint64_t corner(const T (&list)[N], uint64_t element, uint32_t which) {
  // Every pair; the third operand follows along.
  const uint64_t pick = which == 0   ? element % N
                        : which == 1 ? element / N
                                     : element / N + element % N * 3;
  return uint64_t(list[pick % N]);
}

uint64_t operand(Type t, uint64_t element, uint32_t which) {
  switch (t) {
    case Type::F32:
      if (element < std::size(corners32) * std::size(corners32))
        return corner(corners32, element, which);
      return random_float({8, 23}, element, which);
    case Type::F64:
      if (element < std::size(corners64) * std::size(corners64))
        return corner(corners64, element, which);
      return random_float({11, 52}, element, which);
    default: break;
  }
  if (element < std::size(corners_int) * std::size(corners_int))
    return corner(corners_int, element, which);
  Random r(element * 4 + which + 77);
  const uint64_t bits = r.next();
  return r.next() % 3 ? bits : bits >> (r.next() % 64);
}

}  // namespace

std::vector<std::byte> self_test_input(const Program& p, BufferId buffer, uint32_t elements) {
  const Type t = p.buffers[buffer].element;
  const size_t size = size_of(t);
  std::vector<std::byte> bytes(size * elements);
  for (uint32_t i = 0; i < elements; ++i) {
    // Elements of two bytes and less have few values: all of them, and then again.
    const uint64_t v = size <= 2 && t != Type::Bool ? i * 0x9e37u + buffer.value() * i / 65536
                                                    : operand(t, i, buffer.value() % 3);
    std::memcpy(bytes.data() + i * size, &v, size);
  }
  return bytes;
}

}  // namespace vyre::driver::vulkan
