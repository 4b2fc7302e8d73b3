// exp … atan2 on f32: the one source of functions.h on plain numbers. Its text has no branches and
// everything in it is inlined, so the lane loops vectorize: 4 to 25 instructions per element
// (docs/functions.md).

#include "ir/eval/eval_lanes.h"
#include "ir/functions.h"
#include "ir/functions_native.h"

namespace vyre::lanes {
namespace {

#define VYRE_FUNCTION(Name, function)                          \
  struct Name {                                                \
    template <class... X>                                      \
    [[gnu::always_inline]] static inline float apply(X... x) { \
      functions::NativeAlgebra numbers;                        \
      return functions::function(numbers, x...);               \
    }                                                          \
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
    case Opcode::Exp: return unary<Exp, float>();
    case Opcode::Exp2: return unary<Exp2, float>();
    case Opcode::Log: return unary<Log, float>();
    case Opcode::Log2: return unary<Log2, float>();
    case Opcode::Sin: return unary<Sin, float>();
    case Opcode::Cos: return unary<Cos, float>();
    case Opcode::Tan: return unary<Tan, float>();
    case Opcode::Tanh: return unary<Tanh, float>();
    case Opcode::Pow: return binary<Pow, float>();
    case Opcode::Atan2: return binary<Atan2, float>();
    default: return nullptr;
  }
}

}  // namespace vyre::lanes
