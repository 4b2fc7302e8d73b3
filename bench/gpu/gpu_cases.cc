#include "gpu_cases.h"

#include <bit>
#include <cstring>

namespace bench {
namespace {

using Kind = Parameter::Kind;

constexpr double goal_of_simple_kernels = 0.97;

/// Noise, eight bytes at a time: a gigabyte must not take longer to make than to measure.
std::vector<std::byte> noise(uint64_t bytes, uint64_t seed) {
  std::vector<std::byte> v(bytes);
  uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;
  for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    std::memcpy(v.data() + i, &x, 8);
  }
  return v;
}

/// f32 from 1 up to 2, and every other one negative: no NaN, no infinity, no subnormal.
std::vector<std::byte> floats(uint64_t count, uint64_t seed) {
  std::vector<std::byte> v = noise(count * 4, seed);
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, v.data() + i * 4, 4);
    bits = (bits & 0x807fffffu) | 0x3f800000u;
    std::memcpy(v.data() + i * 4, &bits, 4);
  }
  return v;
}

std::vector<std::byte> table(uint32_t count, uint32_t below) {
  std::vector<std::byte> v(count * 4);
  uint32_t x = 12345;
  for (uint32_t i = 0; i < count; ++i) {
    x = x * 1664525 + 1013904223;
    const uint32_t e = (x >> 16) % below;
    std::memcpy(v.data() + i * 4, &e, 4);
  }
  return v;
}

/// Adds parameters in order.
struct Maker {
  Case c;

  uint32_t input(std::vector<std::byte> contents, Kind kind = Kind::In) {
    const auto index = uint32_t(c.buffers.size());
    const uint64_t bytes = contents.size();
    c.parameters.push_back({kind, index, 0});
    c.buffers.push_back({bytes, std::move(contents)});
    c.bytes += bytes * (kind == Kind::InOut ? 2 : 1);
    return index;
  }
  uint32_t output(uint64_t bytes) {
    const auto index = uint32_t(c.buffers.size());
    c.parameters.push_back({Kind::Out, index, 0});
    c.buffers.push_back({bytes, {}});
    c.bytes += bytes;
    return index;
  }
  void scalar(uint32_t bits) { c.parameters.push_back({Kind::Scalar, 0, bits}); }
};

using Argument = TwinLaunch::Argument;
uint32_t groups(uint64_t n, uint32_t by) { return uint32_t((n + by - 1) / by); }

void make_copy(Maker& m, bool small) {
  const uint32_t n = small ? 1 << 14 : 1 << 26;
  const uint32_t x = m.input(noise(n * 4ull, 1)), y = m.output(n * 4ull);
  m.c.twin = {"copy", {groups(n, 256)}, {256}, {at(x), at(y), value(n)}};
  m.c.wide = {"copy_wide", {groups(n, 1024)}, {256}, {at(x), at(y), value(n)}};
  m.c.goal = goal_of_simple_kernels;
}

void make_xor(Maker& m, bool small) {
  const uint32_t n = small ? 1 << 14 : 1 << 26;
  const uint32_t a = m.input(noise(n * 4ull, 1)), b = m.input(noise(n * 4ull, 2));
  const uint32_t c = m.output(n * 4ull);
  m.c.twin = {"xor_u32", {groups(n, 256)}, {256}, {at(a), at(b), at(c), value(n)}};
  m.c.wide = {"xor_u32_wide", {groups(n, 1024)}, {256}, {at(a), at(b), at(c), value(n)}};
  m.c.goal = goal_of_simple_kernels;
}

void make_saxpy(Maker& m, bool small) {
  const uint32_t n = small ? 1 << 14 : 1 << 26;
  const uint32_t a = std::bit_cast<uint32_t>(0.001f);  // launches add up: far from infinity
  m.scalar(a);
  const uint32_t x = m.input(floats(n, 1)), y = m.input(floats(n, 2), Kind::InOut);
  m.c.twin = {"saxpy", {groups(n, 256)}, {256}, {value(a), at(x), at(y), value(n)}};
  m.c.wide = {"saxpy_wide", {groups(n, 1024)}, {256}, {value(a), at(x), at(y), value(n)}};
  m.c.goal = goal_of_simple_kernels;
}

void make_stencil(Maker& m, bool small) {
  const uint32_t side = small ? 128 : 8192;
  m.scalar(side);
  m.scalar(side);
  const uint32_t x = m.input(floats(uint64_t{side} * side, 1));
  const uint32_t y = m.output(uint64_t{side} * side * 4);
  const std::vector<Argument> all = {value(side), value(side), at(x), at(y)};
  m.c.twin = {"stencil", {groups(side - 2, 32), groups(side - 2, 8)}, {32, 8}, all};
  m.c.wide = {"stencil_wide", {groups(side, 128), groups(side - 2, 8)}, {32, 8}, all};
  m.c.contracts = true;
}

void make_matmul(Maker& m, bool small) {
  const uint32_t n = small ? 64 : 2048;
  m.scalar(n);
  const uint32_t a = m.input(floats(uint64_t{n} * n, 1)), b = m.input(floats(uint64_t{n} * n, 2));
  const uint32_t c = m.output(uint64_t{n} * n * 4);
  const std::vector<Argument> all = {value(n), at(a), at(b), at(c)};
  m.c.twin = {"matmul", {n / 32, n / 32}, {32, 32}, all};
  m.c.wide = {"matmul_wide", {n / 64, n / 64}, {16, 16}, all};
  m.c.operations = double(n) * n * n;
  m.c.operation = "fma";
}

void make_mandelbrot(Maker& m, bool small) {
  const uint32_t width = small ? 64 : 8192, height = small ? 40 : 6144;
  m.scalar(width);
  m.scalar(height);
  const uint32_t steps = m.output(uint64_t{width} * height * 4);
  m.c.twin = {"mandelbrot",
              {groups(width, 32), groups(height, 8)},
              {32, 8},
              {value(width), value(height), at(steps)}};
  m.c.operations = double(width) * height;
  m.c.operation = "pixel";
  m.c.contracts = true;
  m.c.goal = goal_of_simple_kernels;
}

void make_reduce(Maker& m, bool small) {
  const uint32_t n = small ? 1 << 14 : 1 << 26, blocks = n / (256 * 16);
  const uint32_t x = m.input(noise(n * 4ull, 1)), sums = m.output(blocks * 4ull);
  m.c.twin = {"reduce", {blocks}, {256}, {at(x), at(sums), value(n)}};
  m.c.wide = {"reduce_wide", {blocks}, {256}, {at(x), at(sums), value(n)}};
}

void make_dfa(Maker& m, bool small) {
  const uint32_t n = small ? 1 << 15 : 1 << 28, chunks = n / 256;
  const uint32_t text = m.input(noise(n, 1)), next = m.input(table(32 * 256, 32));
  const uint32_t hits = m.output(chunks * 4ull);
  const std::vector<Argument> all = {at(text), at(next), at(hits), value(chunks)};
  m.c.twin = {"dfa", {groups(chunks, 128)}, {128}, all};
  m.c.wide = {"dfa_wide", {groups(chunks, 128)}, {128}, all};
}

void make_histogram(Maker& m, bool small) {
  const uint32_t n = small ? 1 << 15 : 1 << 28, blocks = n / (256 * 64);
  const uint32_t data = m.input(noise(n, 1));
  const uint32_t counts = m.input(std::vector<std::byte>(256 * 4), Kind::InOut);
  m.c.twin = {"histogram", {blocks}, {256}, {at(data), at(counts), value(n)}};
  m.c.wide = {"histogram_wide", {blocks}, {256}, {at(data), at(counts), value(n)}};
  m.c.goal = goal_of_simple_kernels;
}

struct Row {
  const char* name;
  const char* kernel;
  void (*make)(Maker&, bool small);
};

const Row rows[] = {
    {"copy", "copy", make_copy},
    {"xor", "xor_u32", make_xor},
    {"saxpy", "saxpy", make_saxpy},
    {"stencil", "stencil", make_stencil},
    {"matmul", "matmul", make_matmul},
    {"mandelbrot", "mandelbrot", make_mandelbrot},
    {"reduce", "reduce", make_reduce},
    {"dfa", "dfa", make_dfa},
    {"histogram", "histogram", make_histogram},
};

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Row& row : rows) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

Case make_case(const std::string& name, bool small) {
  for (const Row& row : rows) {
    if (row.name != name) continue;
    Maker m;
    m.c.name = row.name;
    m.c.kernel = row.kernel;
    row.make(m, small);
    return std::move(m.c);
  }
  return {};
}

}  // namespace bench
