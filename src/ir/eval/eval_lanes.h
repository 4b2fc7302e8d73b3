#pragma once

// Lane loops: a pure op is a struct with a static `apply` on scalars; Loop<Op, R, A…> runs it over
// arrays. Each loop exists twice, for any machine and for AVX2+FMA, chosen once at run time; the
// scalar meaning is the same source, so the two cannot disagree (contraction is off in every
// build).

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ir/eval/eval.h"

namespace vyre::lanes {

#if defined(__x86_64__) && defined(__GNUC__)
#define VYRE_WIDE __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
inline bool have_wide() {
  static const bool have = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                           __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt");
  return have;
}
#else
#define VYRE_WIDE
inline bool have_wide() { return false; }
#endif

template <class Op, class R, class... A>
struct Loop {
  [[gnu::always_inline]] static inline void run(size_t lanes, R* __restrict out,
                                                const A* __restrict... in) {
    for (size_t l = 0; l < lanes; ++l) out[l] = Op::apply(in[l]...);
  }
  template <size_t... I>
  [[gnu::always_inline]] static inline void cast(size_t lanes, void* out, const void* const* in,
                                                 std::index_sequence<I...>) {
    run(lanes, static_cast<R*>(out), static_cast<const A*>(in[I])...);
  }
  static void base(size_t lanes, void* out, const void* const* in) {
    cast(lanes, out, in, std::index_sequence_for<A...>());
  }
  VYRE_WIDE static void wide(size_t lanes, void* out, const void* const* in) {
    cast(lanes, out, in, std::index_sequence_for<A...>());
  }
  static EvalFn pick() { return have_wide() ? &wide : &base; }
};

// Shapes of signatures: T is the op's type.
template <class Op, class T>
EvalFn unary() {
  return Loop<Op, T, T>::pick();
}
template <class Op, class T>
EvalFn binary() {
  return Loop<Op, T, T, T>::pick();
}
template <class Op, class T>
EvalFn ternary() {
  return Loop<Op, T, T, T, T>::pick();
}
template <class Op, class T>
EvalFn property() {
  return Loop<Op, uint8_t, T>::pick();
}
template <class Op, class T>
EvalFn relation() {
  return Loop<Op, uint8_t, T, T>::pick();
}

// In a function that returns an EvalFn: returns `expression` with T the lane type of `t`, or null
// for types outside the group.
#define VYRE_FOR_INTEGERS(t, expression) \
  switch (t) {                           \
    case Type::I8: {                     \
      using T = int8_t;                  \
      return expression;                 \
    }                                    \
    case Type::U8: {                     \
      using T = uint8_t;                 \
      return expression;                 \
    }                                    \
    case Type::I16: {                    \
      using T = int16_t;                 \
      return expression;                 \
    }                                    \
    case Type::U16: {                    \
      using T = uint16_t;                \
      return expression;                 \
    }                                    \
    case Type::I32: {                    \
      using T = int32_t;                 \
      return expression;                 \
    }                                    \
    case Type::U32: {                    \
      using T = uint32_t;                \
      return expression;                 \
    }                                    \
    case Type::I64: {                    \
      using T = int64_t;                 \
      return expression;                 \
    }                                    \
    case Type::U64: {                    \
      using T = uint64_t;                \
      return expression;                 \
    }                                    \
    default: return nullptr;             \
  }

#define VYRE_FOR_FLOATS(t, expression) \
  switch (t) {                         \
    case Type::F32: {                  \
      using T = float;                 \
      return expression;               \
    }                                  \
    case Type::F64: {                  \
      using T = double;                \
      return expression;               \
    }                                  \
    default: return nullptr;           \
  }

// The parts of find_eval; each returns null for ops and types that it does not handle.
EvalFn find_integer(Opcode code, Type type);
EvalFn find_float(Opcode code, Type type);
EvalFn find_function(Opcode code);  // exp … atan2, on f32
EvalFn find_conversion(Opcode code, Type type, Type source);

}  // namespace vyre::lanes
