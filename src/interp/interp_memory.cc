#include "interp/interp_memory.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ir/eval/eval.h"

namespace vyre::interp {
namespace {

// The representation of an element type: Stored in memory, Value in lanes. Signs do not matter
// here.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static T get(T x) { return x; }
  static T put(T x) { return x; }
};
struct Flag {
  using Stored = uint8_t;
  using Value = uint8_t;
  static uint8_t get(uint8_t x) { return x != 0; }
  static uint8_t put(uint8_t x) { return x != 0; }
};
struct F32 {
  using Stored = uint32_t;
  using Value = uint32_t;
  static uint32_t get(uint32_t x) { return x; }
  static uint32_t put(uint32_t x) {
    return (x & 0x7fffffffu) > 0x7f800000u ? canonical_nan_f32 : x;
  }
};
struct F64 {
  using Stored = uint64_t;
  using Value = uint64_t;
  static uint64_t get(uint64_t x) { return x; }
  static uint64_t put(uint64_t x) {
    return (x & ~(1ull << 63)) > 0x7ff0000000000000ull ? canonical_nan_f64 : x;
  }
};
struct F16 {
  using Stored = uint16_t;
  using Value = float;
  static float get(uint16_t x) { return from_f16(x); }
  static uint16_t put(float x) { return to_f16(x); }
};
struct BF16 {
  using Stored = uint16_t;
  using Value = float;
  static float get(uint16_t x) { return from_bf16(x); }
  static uint16_t put(float x) { return to_bf16(x); }
};

constexpr uint64_t nowhere = ~0ull;

/// The index as a number; negative ones become larger than any length.
template <class I>
uint64_t place(I index, uint32_t plus) {
  if constexpr (std::is_same_v<I, uint64_t>) {
    const uint64_t at = index + plus;
    return at < index ? nowhere : at;
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(index)) + plus;
  }
}
template <>
uint64_t place<uint32_t>(uint32_t index, uint32_t plus) {
  return uint64_t{index} + plus;
}

/// Returns whether the indices are first, first + 1, …
template <class I>
bool consecutive(const I* index, uint32_t lanes) {
  I wrong = 0;
  using U = std::make_unsigned_t<I>;
  const U first = static_cast<U>(index[0]);
  for (uint32_t l = 0; l < lanes; ++l)
    wrong |= static_cast<I>(static_cast<U>(index[l]) ^ static_cast<U>(first + l));
  return wrong == 0;
}

/// Consecutive and all in bounds: the index of the first element; otherwise nowhere.
template <class I>
uint64_t dense(const Access& a) {
  const I* index = static_cast<const I*>(a.index);
  if (a.view->lane_stride != 0) return nowhere;
  const uint64_t first = place(index[0], a.plus);
  if (first >= a.view->count || a.view->count - first < a.lanes) return nowhere;
  if constexpr (sizeof(I) ==
                4) {  // indices that wrap in their own type are not consecutive numbers
    if (static_cast<int64_t>(index[0]) + a.lanes - 1 > std::numeric_limits<I>::max())
      return nowhere;
  }
  return consecutive(index, a.lanes) ? first : nowhere;
}

template <class T>
T read(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof(T));
  return x;
}
template <class T>
void write(std::byte* p, T x) {
  std::memcpy(p, &x, sizeof(T));
}

template <class E, class I>
void load(const Access& a) {
  using S = typename E::Stored;
  using V = typename E::Value;
  V* __restrict out = static_cast<V*>(a.value);
  const I* __restrict index = static_cast<const I*>(a.index);
  const View& v = *a.view;
  if (const uint64_t first = dense<I>(a); first != nowhere) {
    const std::byte* __restrict from = v.base + first * sizeof(S);
    for (uint32_t l = 0; l < a.lanes; ++l) out[l] = E::get(read<S>(from + l * sizeof(S)));
    return;
  }
  for (uint32_t l = 0; l < a.lanes; ++l) {
    if (!a.active[l]) continue;
    const uint64_t at = place(index[l], a.plus);
    out[l] = at < v.count ? E::get(read<S>(v.base + l * v.lane_stride + at * sizeof(S))) : V(0);
  }
}

template <class E, class I>
void store(const Access& a) {
  using S = typename E::Stored;
  using V = typename E::Value;
  const V* __restrict in = static_cast<const V*>(a.value);
  const I* __restrict index = static_cast<const I*>(a.index);
  const View& v = *a.view;
  if (a.all) {
    if (const uint64_t first = dense<I>(a); first != nowhere) {
      std::byte* __restrict to = v.base + first * sizeof(S);
      for (uint32_t l = 0; l < a.lanes; ++l) write<S>(to + l * sizeof(S), E::put(in[l]));
      return;
    }
  }
  for (uint32_t k = 0; k < a.lanes; ++k) {
    const uint32_t l = a.order ? a.order[k] : k;
    if (!a.active[l]) continue;
    const uint64_t at = place(index[l], a.plus);
    if (at < v.count) write<S>(v.base + l * v.lane_stride + at * sizeof(S), E::put(in[l]));
  }
}

template <class E, class I>
void load_as(const Access& a) {
  using S = typename E::Stored;
  S* __restrict out = static_cast<S*>(a.value);
  const I* __restrict index = static_cast<const I*>(a.index);
  const View& v = *a.view;
  const uint64_t places = v.bytes < sizeof(S) ? 0 : v.bytes - sizeof(S) + 1;
  for (uint32_t l = 0; l < a.lanes; ++l) {
    if (!a.active[l]) continue;
    const uint64_t at = place(index[l], 0);
    out[l] = at < places ? E::get(read<S>(v.base + l * v.lane_stride + at)) : S(0);
  }
}

template <template <class, class> class Fn, class E>
MemoryFn by_index(Type index) {
  switch (index) {
    case Type::U32: return &Fn<E, uint32_t>::run;
    case Type::I32: return &Fn<E, int32_t>::run;
    case Type::U64: return &Fn<E, uint64_t>::run;
    case Type::I64: return &Fn<E, int64_t>::run;
    default: return nullptr;
  }
}

template <class E, class I>
struct Load {
  static void run(const Access& a) { load<E, I>(a); }
};
template <class E, class I>
struct Store {
  static void run(const Access& a) { store<E, I>(a); }
};
template <class E, class I>
struct LoadAs {
  static void run(const Access& a) { load_as<E, I>(a); }
};

template <template <class, class> class Fn>
MemoryFn by_size(uint32_t size, Type index) {
  switch (size) {
    case 1: return by_index<Fn, Plain<uint8_t>>(index);
    case 2: return by_index<Fn, Plain<uint16_t>>(index);
    case 4: return by_index<Fn, Plain<uint32_t>>(index);
    case 8: return by_index<Fn, Plain<uint64_t>>(index);
    default: return nullptr;
  }
}

}  // namespace

MemoryFn find_load(Type element, Type index) {
  switch (element) {
    case Type::Bool: return by_index<Load, Flag>(index);
    case Type::F16: return by_index<Load, F16>(index);
    case Type::BF16: return by_index<Load, BF16>(index);
    default: return by_size<Load>(size_of(element), index);
  }
}

MemoryFn find_store(Type element, Type index) {
  switch (element) {
    case Type::Bool: return by_index<Store, Flag>(index);
    case Type::F16: return by_index<Store, F16>(index);
    case Type::BF16: return by_index<Store, BF16>(index);
    case Type::F32: return by_index<Store, F32>(index);
    case Type::F64: return by_index<Store, F64>(index);
    default: return by_size<Store>(size_of(element), index);
  }
}

MemoryFn find_load_as(Type type, Type index) {
  if (type == Type::Bool) return by_index<LoadAs, Flag>(index);
  return by_size<LoadAs>(size_of(type), index);
}

}  // namespace vyre::interp
