// Floats: every operation names its rounding, which also keeps a product and a sum apart; nothing
// flushes subnormals. The bits of a NaN don't exist here.

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {

void Emitter::floating(Opcode code, Type t, const Text& to, std::span<const Text> in) {
  const std::string_view s = suffix(t);
  const Text one = immediate(t, t == Type::F32 ? 0x3f800000 : 0x3ff0000000000000);
  const Text inf = immediate(t, t == Type::F32 ? 0x7f800000 : 0x7ff0000000000000);
  switch (code) {
    case Opcode::Add: return ins("add.rn.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Sub: return ins("sub.rn.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Mul: return ins("mul.rn.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Div: return ins("div.rn.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Fma: return ins("fma.rn.{} {}, {}, {}, {}", s, to, in[0], in[1], in[2]);
    case Opcode::Neg: return ins("neg.{} {}, {}", s, to, in[0]);
    case Opcode::Abs: return ins("abs.{} {}, {}", s, to, in[0]);
    case Opcode::Min:  // one NaN is ignored, -0 is below +0
      return ins("min.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Max: return ins("max.{} {}, {}, {}", s, to, in[0], in[1]);
    case Opcode::Clamp: {
      const Text low = temp(t);
      ins("max.{} {}, {}, {}", s, low, in[0], in[1]);
      return ins("min.{} {}, {}, {}", s, to, low, in[2]);
    }
    case Opcode::Sqrt: return ins("sqrt.rn.{} {}, {}", s, to, in[0]);
    case Opcode::Rsqrt: {  // rounded twice
      const Text root = temp(t), unit = moved(t, one);
      ins("sqrt.rn.{} {}, {}", s, root, in[0]);
      return ins("div.rn.{} {}, {}, {}", s, to, unit, root);
    }
    case Opcode::Floor: return ins("cvt.rmi.{}.{} {}, {}", s, s, to, in[0]);
    case Opcode::Ceil: return ins("cvt.rpi.{}.{} {}, {}", s, s, to, in[0]);
    case Opcode::Round: return ins("cvt.rni.{}.{} {}, {}", s, s, to, in[0]);
    case Opcode::Trunc: return ins("cvt.rzi.{}.{} {}, {}", s, s, to, in[0]);
    case Opcode::IsNan: return ins("setp.nan.{} {}, {}, {}", s, to, in[0], in[0]);
    case Opcode::IsInf: {
      const Text magnitude = temp(t);
      ins("abs.{} {}, {}", s, magnitude, in[0]);
      return ins("setp.eq.{} {}, {}, {}", s, to, magnitude, inf);
    }
    default: return;
  }
}

}  // namespace vyre::emit_ptx
