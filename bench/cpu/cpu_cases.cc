#include "cpu_cases.h"

#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <random>

namespace bench {
namespace {

using Kind = Parameter::Kind;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& v) {
  std::vector<std::byte> b(v.size() * sizeof(T));
  std::memcpy(b.data(), v.data(), b.size());
  return b;
}

std::vector<uint32_t> random_u32(size_t n, uint32_t seed) {
  std::mt19937 r(seed);
  std::vector<uint32_t> v(n);
  for (uint32_t& x : v) x = r();
  return v;
}

std::vector<float> random_f32(size_t n, uint32_t seed, float lo, float hi) {
  std::mt19937 r(seed);
  std::vector<float> v(n);
  for (float& x : v) x = lo + (hi - lo) * float(r() >> 8) * 0x1p-24f;
  return v;
}

/// Letters mostly, as in text.
std::vector<uint8_t> random_text(size_t n, uint32_t seed) {
  static constexpr char letters[] =
      "eeeeettttaaaaooooiiinnnsssrrrhhhlldducm  \t\nEWORK0159.,;-_(){}";
  std::mt19937 r(seed);
  std::vector<uint8_t> v(n);
  for (uint8_t& c : v) c = uint8_t(letters[r() % (sizeof letters - 1)]);
  return v;
}

/// Adds parameters in order.
struct Maker {
  Case c;

  template <class T>
  void input(const std::vector<T>& v, Kind kind = Kind::In) {
    c.parameters.push_back({.kind = kind,
                            .buffer = c.buffers.size(),
                            .is_float = std::is_same_v<T, float>,
                            .element_size = sizeof(T)});
    c.buffers.push_back(bytes_of(v));
    c.bytes += c.buffers.back().size() * (kind == Kind::InOut ? 2 : 1);
  }
  template <class T>
  void output(size_t n, bool zeroed = false) {
    c.parameters.push_back({.kind = Kind::Out,
                            .buffer = c.buffers.size(),
                            .is_float = std::is_same_v<T, float>,
                            .zeroed = zeroed,
                            .element_size = sizeof(T)});
    c.buffers.emplace_back(n * sizeof(T));
    c.bytes += n * sizeof(T);
  }
  void scalar(uint32_t v) { c.parameters.push_back({.kind = Kind::Scalar, .scalar = v}); }
  void scalar(float v) {
    c.parameters.push_back(
        {.kind = Kind::Scalar, .scalar = std::bit_cast<uint32_t>(v), .is_float = true});
  }
  void launch(size_t n, size_t local, bool any_local_size = false) {
    c.opencl_global = {n, 1};
    c.opencl_local = {local, 1};
    c.any_local_size = any_local_size;
  }
  void launch(size_t x, size_t y, size_t lx, size_t ly, bool any_local_size) {
    c.opencl_global = {(x + lx - 1) / lx * lx, (y + ly - 1) / ly * ly};
    c.opencl_local = {lx, ly};
    c.dimensions = 2;
    c.any_local_size = any_local_size;
  }
};

// Memory-bound data is several times as large as the last-level cache of usual machines.

void make_xor(Maker& m, bool small) {
  const size_t n = small ? 1 << 14 : 1 << 24;
  m.input(random_u32(n, 1));
  m.input(random_u32(n, 2));
  m.output<uint32_t>(n);
  m.launch(n, 256, true);
}

void make_saxpy(Maker& m, bool small) {
  const size_t n = small ? 1 << 14 : 1 << 24;
  m.scalar(0.001f);  // launches add up: far from infinity after a million
  m.input(random_f32(n, 1, -1, 1));
  m.input(random_f32(n, 2, -1, 1), Kind::InOut);
  m.launch(n, 256, true);
}

void make_classify(Maker& m, bool small) {
  const size_t n = small ? 1 << 15 : 1 << 26;
  m.input(random_text(n, 1));
  m.output<uint8_t>(n);
  m.output<uint32_t>(1, true);
  m.launch(n / 64, 256);
}

void make_stencil(Maker& m, bool small) {
  const uint32_t side = small ? 100 : 4096;
  m.scalar(side);
  m.scalar(side);
  m.input(random_f32(size_t{side} * side, 1, 0, 100));
  m.output<float>(size_t{side} * side);
  m.launch(side - 2, side - 2, 32, 8, true);
}

void make_reduce(Maker& m, bool small) {
  const size_t n = small ? 1 << 15 : 1 << 25;
  m.input(random_u32(n, 1));
  m.output<uint32_t>(n / (256 * 64));
  m.launch(n / 64, 256);
}

void make_mandelbrot(Maker& m, bool small) {
  const uint32_t width = small ? 48 : 768, height = small ? 32 : 512;
  m.scalar(width);
  m.scalar(height);
  m.output<uint32_t>(size_t{width} * height);
  m.launch(width, height, 16, 16, true);
}

void make_nbody(Maker& m, bool small) {
  const size_t n = small ? 128 : 4096;
  for (uint32_t axis = 0; axis < 3; ++axis) m.input(random_f32(n, axis, -1, 1));
  m.input(random_f32(n, 7, 0.1f, 1));
  for (int axis = 0; axis < 3; ++axis) m.output<float>(n);
  m.c.opencl_extra = {uint32_t(n)};
  m.launch(n, 64, true);
}

void make_black_scholes(Maker& m, bool small) {
  const size_t n = small ? 1 << 10 : 1 << 20;
  m.input(random_f32(n, 1, 5, 30));
  m.input(random_f32(n, 2, 1, 100));
  m.input(random_f32(n, 3, 0.25f, 10));
  m.output<float>(n);
  m.output<float>(n);
  m.c.tolerance = 1e-4;  // exp and log differ in the last place
  m.launch(n, 256, true);
}

void make_matmul(Maker& m, bool small) {
  const uint32_t n = small ? 32 : 512;
  m.scalar(n);
  m.input(random_f32(size_t{n} * n, 1, -1, 1));
  m.input(random_f32(size_t{n} * n, 2, -1, 1));
  m.output<float>(size_t{n} * n);
  m.launch(n, n, 16, 16, false);
}

void make_scan(Maker& m, bool small) {
  const size_t n = small ? 1 << 12 : 1 << 20;
  m.input(random_u32(n, 1));
  m.output<uint32_t>(n);
  m.launch(n, 256);
}

void make_dfa(Maker& m, bool small) {
  const size_t n = small ? 1 << 16 : 1 << 22;
  std::vector<uint32_t> next = random_u32(32 * 256, 3);
  for (uint32_t& state : next) state %= 32;
  m.input(random_text(n, 1));
  m.input(next);
  m.output<uint32_t>(n / 1024);
  m.launch(n / 1024, 64, true);
}

void make_histogram(Maker& m, bool small) {
  const size_t n = small ? 1 << 15 : 1 << 23;
  m.input(random_text(n, 1));
  m.output<uint32_t>(256, true);
  m.c.opencl_extra = {uint32_t(n)};
  m.launch(n / 64, 256);
}

struct Row {
  const char* name;
  const char* kernel;
  Bound bound;
  Twins twins;
  void (*make)(Maker&, bool small);
};

// histogram, scan and dfa move little memory for the work that they do: they compute.
const Row rows[] = {
    {"xor", "xor_u32", Bound::Memory, VYRE_TWIN(xor_u32), make_xor},
    {"saxpy", "saxpy", Bound::Memory, VYRE_TWIN(saxpy), make_saxpy},
    {"classify", "classify", Bound::Memory, VYRE_TWIN(classify), make_classify},
    {"stencil", "stencil", Bound::Memory, VYRE_TWIN(stencil), make_stencil},
    {"reduce", "reduce", Bound::Memory, VYRE_TWIN(reduce), make_reduce},
    {"mandelbrot", "mandelbrot", Bound::Compute, VYRE_TWIN(mandelbrot), make_mandelbrot},
    {"nbody", "nbody", Bound::Compute, VYRE_TWIN(nbody), make_nbody},
    {"black_scholes", "black_scholes", Bound::Compute, VYRE_TWIN(black_scholes),
     make_black_scholes},
    {"matmul", "matmul", Bound::Compute, VYRE_TWIN(matmul), make_matmul},
    {"scan", "scan", Bound::Compute, VYRE_TWIN(scan), make_scan},
    {"dfa", "dfa", Bound::Compute, VYRE_TWIN(dfa), make_dfa},
    {"histogram", "histogram", Bound::Compute, VYRE_TWIN(histogram), make_histogram},
};

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Row& row : rows) all.push_back(row.name);
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
    m.c.bound = row.bound;
    m.c.twins = row.twins;
    row.make(m, small);
    return std::move(m.c);
  }
  return {};
}

}  // namespace bench
