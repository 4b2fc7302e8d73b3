// `for` counters. The exact integers of the specification without wide arithmetic: while i < hi, hi
// - i fits the unsigned type, and i + step stays below hi exactly if step < hi - i.

#include "interp/counters.h"

#include <type_traits>

namespace vyre::interp {
namespace {

template <class T>
uint32_t begin(uint32_t lanes, uint8_t* active, void* i_, const void* lo_, const void* hi_,
               const void* step_) {
  T* __restrict i = static_cast<T*>(i_);
  const T* __restrict lo = static_cast<const T*>(lo_);
  const T* __restrict hi = static_cast<const T*>(hi_);
  const T* __restrict step = static_cast<const T*>(step_);
  uint32_t count = 0;
  for (uint32_t l = 0; l < lanes; ++l) {
    i[l] = lo[l];
    active[l] &= static_cast<uint8_t>((lo[l] < hi[l]) & (step[l] > 0));
    count += active[l];
  }
  return count;
}

template <class T>
uint32_t next(uint32_t lanes, uint8_t* active, void* i_, const void* hi_, const void* step_) {
  using U = std::make_unsigned_t<T>;
  T* __restrict i = static_cast<T*>(i_);
  const T* __restrict hi = static_cast<const T*>(hi_);
  const T* __restrict step = static_cast<const T*>(step_);
  uint32_t count = 0;
  for (uint32_t l = 0; l < lanes; ++l) {
    const U left = static_cast<U>(static_cast<U>(hi[l]) - static_cast<U>(i[l]));
    active[l] &= static_cast<uint8_t>(left > static_cast<U>(step[l]));
    i[l] = static_cast<T>(static_cast<U>(static_cast<U>(i[l]) + static_cast<U>(step[l])));
    count += active[l];
  }
  return count;
}

template <class T>
const ForFns* fns() {
  static constexpr ForFns f = {&begin<T>, &next<T>};
  return &f;
}

}  // namespace

const ForFns* find_counter(Type t) {
  switch (t) {
    case Type::I8: return fns<int8_t>();
    case Type::U8: return fns<uint8_t>();
    case Type::I16: return fns<int16_t>();
    case Type::U16: return fns<uint16_t>();
    case Type::I32: return fns<int32_t>();
    case Type::U32: return fns<uint32_t>();
    case Type::I64: return fns<int64_t>();
    case Type::U64: return fns<uint64_t>();
    default: return nullptr;
  }
}

}  // namespace vyre::interp
