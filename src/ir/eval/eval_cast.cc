// Casts and bitcasts.

#include <bit>
#include <limits>

#include "ir/eval/eval_lanes.h"

namespace vyre::lanes {
namespace {

// Bool lanes are bytes like u8 lanes, but convert differently, so they have a separate type.
struct Flag {
  uint8_t byte;
};

/// 2^n as a float: the first value too large for an integer with n magnitude bits.
template <class F>
constexpr F power_of_two(int n) {
  F x = 1;
  for (int i = 0; i < n; ++i) x *= 2;
  return x;
}

template <class To, class From>
To saturate(From x) {
  using Limits = std::numeric_limits<To>;
  constexpr From above = power_of_two<From>(Limits::digits);
  constexpr From below = std::is_signed_v<To> ? -above : From(0);
  // The conversion itself only sees values that fit, so it is defined and may be vectorized.
  const bool fits = x >= below && x < above;
  const To inside = static_cast<To>(fits ? x : From(0));
  const To outside = x >= above ? Limits::max() : (x < below ? Limits::min() : To(0));  // NaN: 0
  return fits ? inside : outside;
}

template <class To>
struct Cast {
  template <class From>
  static To apply(From x) {
    if constexpr (std::is_same_v<To, Flag>) {
      if constexpr (std::is_same_v<From, Flag>)
        return {uint8_t(x.byte != 0)};
      else
        return {uint8_t(x != 0)};
    } else if constexpr (std::is_same_v<From, Flag>) {
      return static_cast<To>(x.byte);
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
      return saturate<To>(x);
    } else {
      return static_cast<To>(x);
    }
  }
};

template <class To>
struct Bitcast {
  template <class From>
  static To apply(From x) {
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      constexpr To canonical =
          static_cast<To>(sizeof(From) == 4 ? uint64_t{canonical_nan_f32} : canonical_nan_f64);
      return x != x ? canonical : std::bit_cast<To>(x);
    } else {
      return std::bit_cast<To>(x);
    }
  }
};

template <class T>
struct Tag {
  using type = T;
};

/// Calls fn(Tag<lane type>) for a value type; null for others.
template <class Fn>
EvalFn with_lane_type(Type t, Fn fn) {
  switch (t) {
    case Type::Bool: return fn(Tag<Flag>());
    case Type::I8: return fn(Tag<int8_t>());
    case Type::U8: return fn(Tag<uint8_t>());
    case Type::I16: return fn(Tag<int16_t>());
    case Type::U16: return fn(Tag<uint16_t>());
    case Type::I32: return fn(Tag<int32_t>());
    case Type::U32: return fn(Tag<uint32_t>());
    case Type::I64: return fn(Tag<int64_t>());
    case Type::U64: return fn(Tag<uint64_t>());
    case Type::F32: return fn(Tag<float>());
    case Type::F64: return fn(Tag<double>());
    default: return nullptr;
  }
}

}  // namespace

EvalFn find_conversion(Opcode code, Type type, Type source) {
  if (code == Opcode::Cast)
    return with_lane_type(type, [&]<class To>(Tag<To>) {
      return with_lane_type(
          source, []<class From>(Tag<From>) -> EvalFn { return Loop<Cast<To>, To, From>::pick(); });
    });
  if (code == Opcode::Bitcast && width_of(type) == width_of(source))
    return with_lane_type(type, [&]<class To>(Tag<To>) {
      return with_lane_type(source, []<class From>(Tag<From>) -> EvalFn {
        if constexpr (sizeof(To) == sizeof(From) &&
                      std::is_same_v<To, Flag> == std::is_same_v<From, Flag>)
          return Loop<Bitcast<To>, To, From>::pick();
        else
          return nullptr;
      });
    });
  return nullptr;
}

}  // namespace vyre::lanes
