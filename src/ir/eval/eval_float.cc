// Floats: IEEE 754, round to nearest even (the caller holds an ExactFloats), nothing contracted.

#include <bit>
#include <cmath>
#include <limits>

#include "ir/eval/eval_compare.h"
#include "ir/eval/eval_lanes.h"

namespace vyre::lanes {
namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    return -a;
  }
};  // the sign bit only
struct Abs {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};  // the sign bit only

// Equal operands have equal bits, but for zeros: there `or` gives -0 and `and` +0.
struct Min {
  template <class T>
  static T apply(T a, T b) {
    const T zero = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b));
    const T ordered = a == b ? zero : (a < b ? a : b);
    return a != a ? b : (b != b ? a : ordered);
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    const T zero = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b));
    const T ordered = a == b ? zero : (a > b ? a : b);
    return a != a ? b : (b != b ? a : ordered);
  }
};
struct Clamp {
  template <class T>
  static T apply(T x, T lo, T hi) {
    return Min::apply(Max::apply(x, lo), hi);
  }
};

struct Fma {
  template <class T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Sqrt {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct Rsqrt {
  template <class T>
  static T apply(T a) {
    return T(1) / std::sqrt(a);
  }
};
struct Floor {
  template <class T>
  static T apply(T a) {
    return std::floor(a);
  }
};
struct Ceil {
  template <class T>
  static T apply(T a) {
    return std::ceil(a);
  }
};
struct Round {
  template <class T>
  static T apply(T a) {
    return std::rint(a);
  }
};
struct Trunc {
  template <class T>
  static T apply(T a) {
    return std::trunc(a);
  }
};
struct IsNan {
  template <class T>
  static uint8_t apply(T a) {
    return a != a;
  }
};
struct IsInf {
  template <class T>
  static uint8_t apply(T a) {
    return std::fabs(a) == std::numeric_limits<T>::infinity();
  }
};

using namespace compare;

}  // namespace

EvalFn find_float(Opcode code, Type type) {
  switch (code) {
    case Opcode::Add: VYRE_FOR_FLOATS(type, (binary<Add, T>()))
    case Opcode::Sub: VYRE_FOR_FLOATS(type, (binary<Sub, T>()))
    case Opcode::Mul: VYRE_FOR_FLOATS(type, (binary<Mul, T>()))
    case Opcode::Div: VYRE_FOR_FLOATS(type, (binary<Div, T>()))
    case Opcode::Neg: VYRE_FOR_FLOATS(type, (unary<Neg, T>()))
    case Opcode::Abs: VYRE_FOR_FLOATS(type, (unary<Abs, T>()))
    case Opcode::Min: VYRE_FOR_FLOATS(type, (binary<Min, T>()))
    case Opcode::Max: VYRE_FOR_FLOATS(type, (binary<Max, T>()))
    case Opcode::Clamp: VYRE_FOR_FLOATS(type, (ternary<Clamp, T>()))
    case Opcode::Fma: VYRE_FOR_FLOATS(type, (ternary<Fma, T>()))
    case Opcode::Sqrt: VYRE_FOR_FLOATS(type, (unary<Sqrt, T>()))
    case Opcode::Rsqrt: VYRE_FOR_FLOATS(type, (unary<Rsqrt, T>()))
    case Opcode::Floor: VYRE_FOR_FLOATS(type, (unary<Floor, T>()))
    case Opcode::Ceil: VYRE_FOR_FLOATS(type, (unary<Ceil, T>()))
    case Opcode::Round: VYRE_FOR_FLOATS(type, (unary<Round, T>()))
    case Opcode::Trunc: VYRE_FOR_FLOATS(type, (unary<Trunc, T>()))
    case Opcode::IsNan: VYRE_FOR_FLOATS(type, (property<IsNan, T>()))
    case Opcode::IsInf: VYRE_FOR_FLOATS(type, (property<IsInf, T>()))
    case Opcode::Eq: VYRE_FOR_FLOATS(type, (relation<Eq, T>()))
    case Opcode::Ne: VYRE_FOR_FLOATS(type, (relation<Ne, T>()))
    case Opcode::Lt: VYRE_FOR_FLOATS(type, (relation<Lt, T>()))
    case Opcode::Le: VYRE_FOR_FLOATS(type, (relation<Le, T>()))
    case Opcode::Gt: VYRE_FOR_FLOATS(type, (relation<Gt, T>()))
    case Opcode::Ge: VYRE_FOR_FLOATS(type, (relation<Ge, T>()))
    case Opcode::Select: VYRE_FOR_FLOATS(type, (Loop<Select, T, uint8_t, T, T>::pick()))
    default: return nullptr;
  }
}

}  // namespace vyre::lanes
