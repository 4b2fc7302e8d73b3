// Atomics: one lane after another in the order of the schedule. No other code runs at the same
// time, so plain reads and writes are atomic here.

#include <bit>
#include <cstring>
#include <type_traits>

#include "interp/interp_memory.h"
#include "ir/eval/eval.h"

namespace vyre::interp {
namespace {

template <class T>
using U = std::make_unsigned_t<T>;

struct Add {
  template <class T>
  static T next(T old, T v, T) {
    return T(U<T>(old) + U<T>(v));
  }
};
struct Sub {
  template <class T>
  static T next(T old, T v, T) {
    return T(U<T>(old) - U<T>(v));
  }
};
struct Min {
  template <class T>
  static T next(T old, T v, T) {
    return v < old ? v : old;
  }
};
struct Max {
  template <class T>
  static T next(T old, T v, T) {
    return old < v ? v : old;
  }
};
struct And {
  template <class T>
  static T next(T old, T v, T) {
    return old & v;
  }
};
struct Or {
  template <class T>
  static T next(T old, T v, T) {
    return old | v;
  }
};
struct Xor {
  template <class T>
  static T next(T old, T v, T) {
    return old ^ v;
  }
};
struct Write {
  template <class T>
  static T next(T, T v, T) {
    return v;
  }
};
struct Cas {
  template <class T>
  static T next(T old, T v, T w) {
    return old == v ? w : old;
  }
};
struct Keep {
  template <class T>
  static T next(T old, T, T) {
    return old;
  }
};
struct AddFloat {
  static uint32_t next(uint32_t old, uint32_t v, uint32_t) {
    const float sum = std::bit_cast<float>(old) + std::bit_cast<float>(v);
    return sum != sum ? canonical_nan_f32 : std::bit_cast<uint32_t>(sum);
  }
};

template <class Op, class T>
void atomic(const Access& a) {
  const uint64_t* index =
      static_cast<const uint64_t*>(a.index);  // a negative i64 is larger than any length
  const T* value = static_cast<const T*>(a.value);
  const T* value2 = static_cast<const T*>(a.value2);
  T* old = static_cast<T*>(a.old);
  const View& v = *a.view;
  for (uint32_t k = 0; k < a.lanes; ++k) {
    const uint32_t l = a.order ? a.order[k] : k;
    if (!a.active[l]) continue;
    T was = 0;
    if (index[l] < v.count) {
      std::byte* const p = v.base + l * v.lane_stride + index[l] * sizeof(T);
      std::memcpy(&was, p, sizeof(T));
      const T now = Op::next(was, value ? value[l] : T(0), value2 ? value2[l] : T(0));
      std::memcpy(p, &now, sizeof(T));
    }
    if (old) old[l] = was;
  }
}

template <class Op>
AtomicFn by_type(Type t) {
  switch (t) {
    case Type::I32: return &atomic<Op, int32_t>;
    case Type::U32: return &atomic<Op, uint32_t>;
    case Type::I64: return &atomic<Op, int64_t>;
    case Type::U64: return &atomic<Op, uint64_t>;
    default: return nullptr;
  }
}

}  // namespace

AtomicFn find_atomic(Opcode code, Type type) {
  switch (code) {
    case Opcode::AtomicAdd:
      return type == Type::F32 ? &atomic<AddFloat, uint32_t> : by_type<Add>(type);
    case Opcode::AtomicSub: return by_type<Sub>(type);
    case Opcode::AtomicMin: return by_type<Min>(type);
    case Opcode::AtomicMax: return by_type<Max>(type);
    case Opcode::AtomicAnd: return by_type<And>(type);
    case Opcode::AtomicOr: return by_type<Or>(type);
    case Opcode::AtomicXor: return by_type<Xor>(type);
    case Opcode::AtomicExchange: return by_type<Write>(type);
    case Opcode::AtomicStore: return by_type<Write>(type);
    case Opcode::AtomicCas: return by_type<Cas>(type);
    case Opcode::AtomicLoad: return by_type<Keep>(type);
    default: return nullptr;
  }
}

}  // namespace vyre::interp
