// exp … atan2 on f32: the one source of functions.h on plain numbers. Its text has no branches, so
// with everything inlined (flatten) the lane loops vectorize.

#include "ir/eval_lanes.h"
#include "ir/functions.h"
#include "ir/functions_native.h"

namespace vyre::lanes {
namespace {

template <class Op, class... A>
struct FlatLoop {
  [[gnu::flatten]] static void base(size_t lanes, void* out, const void* const* in) {
    Loop<Op, float, A...>::cast(lanes, out, in, std::index_sequence_for<A...>());
  }
  [[gnu::flatten]] VYRE_WIDE static void wide(size_t lanes, void* out, const void* const* in) {
    Loop<Op, float, A...>::cast(lanes, out, in, std::index_sequence_for<A...>());
  }
  static EvalFn pick() { return have_wide() ? &wide : &base; }
};

#define VYRE_FUNCTION(Name, function)            \
  struct Name {                                  \
    template <class... X>                        \
    static float apply(X... x) {                 \
      functions::NativeAlgebra numbers;          \
      return functions::function(numbers, x...); \
    }                                            \
  };
VYRE_FUNCTION(Exp, exp)
VYRE_FUNCTION(Exp2, exp2)
VYRE_FUNCTION(Log, log)
VYRE_FUNCTION(Log2, log2)
VYRE_FUNCTION(Sin, sin)
VYRE_FUNCTION(Cos, cos)
VYRE_FUNCTION(Tan, tan)
VYRE_FUNCTION(Tanh, tanh)
VYRE_FUNCTION(Pow, pow)
VYRE_FUNCTION(Atan2, atan2)  // (y, x)
#undef VYRE_FUNCTION

}  // namespace

EvalFn find_function(Opcode code) {
  switch (code) {
    case Opcode::Exp:
      return FlatLoop<Exp, float>::pick();
    case Opcode::Exp2:
      return FlatLoop<Exp2, float>::pick();
    case Opcode::Log:
      return FlatLoop<Log, float>::pick();
    case Opcode::Log2:
      return FlatLoop<Log2, float>::pick();
    case Opcode::Sin:
      return FlatLoop<Sin, float>::pick();
    case Opcode::Cos:
      return FlatLoop<Cos, float>::pick();
    case Opcode::Tan:
      return FlatLoop<Tan, float>::pick();
    case Opcode::Tanh:
      return FlatLoop<Tanh, float>::pick();
    case Opcode::Pow:
      return FlatLoop<Pow, float, float>::pick();
    case Opcode::Atan2:
      return FlatLoop<Atan2, float, float>::pick();
    default:
      return nullptr;
  }
}

}  // namespace vyre::lanes
