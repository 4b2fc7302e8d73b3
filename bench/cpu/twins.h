#pragma once

// The kernels in plain C++, as an experienced C++ and OpenMP programmer would write them.
// twins_*.cc are compiled four times, each time into a separate namespace: for one core and with
// OpenMP, with the arithmetic of the specification (-ffp-contract=off) and with g++'s defaults.
// Other flags are g++'s usual ones: -O3 -march=native.

#include <cstdint>

namespace bench {

/// The arguments of a kernel: buffers and scalars, each in the order of the kernel's parameters.
struct TwinArgs {
  void* const* buffers;
  const uint64_t* bytes;    // of each buffer
  const uint32_t* scalars;  // bits

  template <class T>
  T* get(int i) const {
    return static_cast<T*>(buffers[i]);
  }
  template <class T>
  uint64_t count(int i) const {
    return bytes[i] / sizeof(T);
  }
};

using Twin = void (*)(const TwinArgs&);

#define VYRE_TWINS(name)                                                                \
  namespace name {                                                                      \
  void xor_u32(const TwinArgs&), saxpy(const TwinArgs&), classify(const TwinArgs&),     \
      stencil(const TwinArgs&), mandelbrot(const TwinArgs&), nbody(const TwinArgs&),    \
      black_scholes(const TwinArgs&), matmul(const TwinArgs&), reduce(const TwinArgs&), \
      scan(const TwinArgs&), dfa(const TwinArgs&), histogram(const TwinArgs&);          \
  }
VYRE_TWINS(gcc)
VYRE_TWINS(openmp)
VYRE_TWINS(gcc_default)
VYRE_TWINS(openmp_default)

/// One kernel's four twins.
struct Twins {
  Twin gcc, openmp, gcc_default, openmp_default;
};
#define VYRE_TWIN(kernel)                                                        \
  ::bench::Twins {                                                               \
    ::bench::gcc::kernel, ::bench::openmp::kernel, ::bench::gcc_default::kernel, \
        ::bench::openmp_default::kernel                                          \
  }

}  // namespace bench
