// Integers and bool. Everything is computed in unsigned types at least as wide as `unsigned`, where
// overflow is defined and the usual promotions do no harm.

#include <algorithm>
#include <bit>
#include <limits>

#include "ir/eval/eval_compare.h"
#include "ir/eval/eval_lanes.h"

namespace vyre::lanes {
namespace {

template <class T>
using U = std::make_unsigned_t<T>;
template <class T>
using Wide = std::common_type_t<unsigned, U<T>>;  // wraps, never promotes to int
template <class T>
constexpr uint32_t width = sizeof(T) * 8;
template <class T>
constexpr T lowest = std::numeric_limits<T>::min();
template <class T>
constexpr T highest = std::numeric_limits<T>::max();
template <class T>
constexpr Wide<T> w(T x) {
  return static_cast<Wide<T>>(static_cast<U<T>>(x));
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return T(w(a) + w(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return T(w(a) - w(b));
  }
};
struct Mul {
  template <class T>
  static T apply(T a, T b) {
    return T(w(a) * w(b));
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return T(Wide<T>(0) - w(a));
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    return a < 0 ? Neg::apply(a) : a;
  }
};
struct Clamp {
  template <class T>
  static T apply(T x, T lo, T hi) {
    return Min::apply(Max::apply(x, lo), hi);
  }
};

struct Div {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_unsigned_v<T>) {
      return b == 0 ? highest<T> : T(a / b);
    } else {
      if (b == 0) return 0;
      if (b == -1) return Neg::apply(a);  // MIN / -1 is MIN
      return T(a / b);
    }
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return T(a % b);
  }
};
struct CeilDiv {  // the mathematical ceiling; only MIN / -1 does not fit, and wraps as in div
  template <class T>
  static T apply(T a, T b) {
    const T q = Div::apply(a, b);
    const T r = Rem::apply(a, b);
    const bool up = b != 0 && r != 0 && ((r < 0) == (b < 0));
    return Add::apply(q, T(up ? 1 : 0));
  }
};

struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      using Double = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return T((static_cast<Double>(a) * b) >> 64);
    } else {
      using Double = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return T((static_cast<Double>(a) * static_cast<Double>(b)) >> width<T>);
    }
  }
};
struct SatAdd {
  template <class T>
  static T apply(T a, T b) {
    const T sum = Add::apply(a, b);
    if constexpr (std::is_unsigned_v<T>)
      return sum < a ? highest<T> : sum;
    else {  // overflow: the operands agree in sign and the sum does not
      const bool over = T((sum ^ a) & (sum ^ b)) < 0;
      return over ? (a < 0 ? lowest<T> : highest<T>) : sum;
    }
  }
};
struct SatSub {
  template <class T>
  static T apply(T a, T b) {
    const T difference = Sub::apply(a, b);
    if constexpr (std::is_unsigned_v<T>)
      return a < b ? T(0) : difference;
    else {
      const bool over = T((a ^ b) & (a ^ difference)) < 0;
      return over ? (a < 0 ? lowest<T> : highest<T>) : difference;
    }
  }
};

struct And {
  template <class T>
  static T apply(T a, T b) {
    return T(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return T(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return T(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return T(~a);
  }
};
struct NotBool {
  static uint8_t apply(uint8_t a) { return a == 0; }
};

template <class T>
uint32_t amount(T b) {
  return uint32_t(w(b)) & (width<T> - 1);
}

struct Shl {
  template <class T>
  static T apply(T a, T b) {
    return T(w(a) << amount(b));
  }
};
struct Shr {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      return T(a >> amount(b));
    else
      return T(w(a) >> amount(b));
  }
};
struct RotL {
  template <class T>
  static T apply(T a, T b) {
    const uint32_t s = amount(b), back = (width<T> - s) & (width<T> - 1);
    return T(w(a) << s | w(a) >> back);
  }
};
struct RotR {
  template <class T>
  static T apply(T a, T b) {
    const uint32_t s = amount(b), back = (width<T> - s) & (width<T> - 1);
    return T(w(a) >> s | w(a) << back);
  }
};
struct Clz {
  template <class T>
  static T apply(T a) {
    return T(std::countl_zero(U<T>(a)));
  }
};
struct Ctz {
  template <class T>
  static T apply(T a) {
    return T(std::countr_zero(U<T>(a)));
  }
};
struct PopCount {
  template <class T>
  static T apply(T a) {
    return T(std::popcount(U<T>(a)));
  }
};
struct ReverseBits {
  template <class T>
  static T apply(T a) {
    uint64_t x = uint64_t(U<T>(a)) << (64 - width<T>);
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
    return T(__builtin_bswap64(x));
  }
};

// Offset and count are clamped to the width, the offset first.
struct Extract {
  template <class T>
  static T apply(T v, uint32_t offset, uint32_t n) {
    offset = std::min(offset, width<T>);
    n = std::min(n, width<T> - offset);
    if (n == 0) return 0;
    const uint64_t top = uint64_t(U<T>(v)) << (64 - offset - n);  // the field, at bit 63
    if constexpr (std::is_signed_v<T>)
      return T(int64_t(top) >> (64 - n));
    else
      return T(top >> (64 - n));
  }
};
struct Insert {
  template <class T>
  static T apply(T v, T x, uint32_t offset, uint32_t n) {
    offset = std::min(offset, width<T>);
    n = std::min(n, width<T> - offset);
    if (n == 0) return v;
    const uint64_t field = (~0ull >> (64 - n)) << offset;
    return T((uint64_t(U<T>(v)) & ~field) | ((uint64_t(U<T>(x)) << offset) & field));
  }
};

using namespace compare;

EvalFn find_bool(Opcode code) {
  switch (code) {
    case Opcode::And: return binary<And, uint8_t>();
    case Opcode::Or: return binary<Or, uint8_t>();
    case Opcode::Xor: return binary<Xor, uint8_t>();
    case Opcode::Not: return unary<NotBool, uint8_t>();
    case Opcode::Eq: return relation<Eq, uint8_t>();
    case Opcode::Ne: return relation<Ne, uint8_t>();
    case Opcode::Select: return Loop<Select, uint8_t, uint8_t, uint8_t, uint8_t>::pick();
    default: return nullptr;
  }
}

}  // namespace

EvalFn find_integer(Opcode code, Type type) {
  if (type == Type::Bool) return find_bool(code);
  switch (code) {
    case Opcode::Add: VYRE_FOR_INTEGERS(type, (binary<Add, T>()))
    case Opcode::Sub: VYRE_FOR_INTEGERS(type, (binary<Sub, T>()))
    case Opcode::Mul: VYRE_FOR_INTEGERS(type, (binary<Mul, T>()))
    case Opcode::Div: VYRE_FOR_INTEGERS(type, (binary<Div, T>()))
    case Opcode::Rem: VYRE_FOR_INTEGERS(type, (binary<Rem, T>()))
    case Opcode::Neg:
      if (!is_signed(type)) return nullptr;
      VYRE_FOR_INTEGERS(type, (unary<Neg, T>()))
    case Opcode::Min: VYRE_FOR_INTEGERS(type, (binary<Min, T>()))
    case Opcode::Max: VYRE_FOR_INTEGERS(type, (binary<Max, T>()))
    case Opcode::Abs: VYRE_FOR_INTEGERS(type, (unary<Abs, T>()))
    case Opcode::Clamp: VYRE_FOR_INTEGERS(type, (ternary<Clamp, T>()))
    case Opcode::MulHi: VYRE_FOR_INTEGERS(type, (binary<MulHi, T>()))
    case Opcode::SatAdd: VYRE_FOR_INTEGERS(type, (binary<SatAdd, T>()))
    case Opcode::SatSub: VYRE_FOR_INTEGERS(type, (binary<SatSub, T>()))
    case Opcode::CeilDiv: VYRE_FOR_INTEGERS(type, (binary<CeilDiv, T>()))
    case Opcode::And: VYRE_FOR_INTEGERS(type, (binary<And, T>()))
    case Opcode::Or: VYRE_FOR_INTEGERS(type, (binary<Or, T>()))
    case Opcode::Xor: VYRE_FOR_INTEGERS(type, (binary<Xor, T>()))
    case Opcode::Not: VYRE_FOR_INTEGERS(type, (unary<Not, T>()))
    case Opcode::Shl: VYRE_FOR_INTEGERS(type, (binary<Shl, T>()))
    case Opcode::Shr: VYRE_FOR_INTEGERS(type, (binary<Shr, T>()))
    case Opcode::RotL: VYRE_FOR_INTEGERS(type, (binary<RotL, T>()))
    case Opcode::RotR: VYRE_FOR_INTEGERS(type, (binary<RotR, T>()))
    case Opcode::Clz: VYRE_FOR_INTEGERS(type, (unary<Clz, T>()))
    case Opcode::Ctz: VYRE_FOR_INTEGERS(type, (unary<Ctz, T>()))
    case Opcode::PopCount: VYRE_FOR_INTEGERS(type, (unary<PopCount, T>()))
    case Opcode::ReverseBits: VYRE_FOR_INTEGERS(type, (unary<ReverseBits, T>()))
    case Opcode::Extract: VYRE_FOR_INTEGERS(type, (Loop<Extract, T, T, uint32_t, uint32_t>::pick()))
    case Opcode::Insert:
      VYRE_FOR_INTEGERS(type, (Loop<Insert, T, T, T, uint32_t, uint32_t>::pick()))
    case Opcode::Eq: VYRE_FOR_INTEGERS(type, (relation<Eq, T>()))
    case Opcode::Ne: VYRE_FOR_INTEGERS(type, (relation<Ne, T>()))
    case Opcode::Lt: VYRE_FOR_INTEGERS(type, (relation<Lt, T>()))
    case Opcode::Le: VYRE_FOR_INTEGERS(type, (relation<Le, T>()))
    case Opcode::Gt: VYRE_FOR_INTEGERS(type, (relation<Gt, T>()))
    case Opcode::Ge: VYRE_FOR_INTEGERS(type, (relation<Ge, T>()))
    case Opcode::Select: VYRE_FOR_INTEGERS(type, (Loop<Select, T, uint8_t, T, T>::pick()))
    default: return nullptr;
  }
}

}  // namespace vyre::lanes
