// Pure ops: dispatch to their part; bools, comparisons and selections.

#include "codegen/ptx/ptx_emitter.h"
#include "ir/op_properties.h"
#include "legalize/expand.h"

namespace vyre::emit_ptx {
namespace {

/// True for conversions that change nothing: words hold narrow numbers extended.
bool keeps_register(const Op& o, Type from) {
  if (o.type == from || emit_exact::has_mark(o, OpMark::InRange)) return true;
  return is_integer(from) && width_of(from) <= 32 && is_integer(o.type) && width_of(o.type) == 32;
}

}  // namespace

void Emitter::pure_op(OpId id) {
  const Op& o = p_.op(id);
  const ValueId v = p_.result(id);
  if (f_.uses[v] == 0) return;
  const auto operands = p_.operands(id);
  if (o.code == Opcode::Cast || o.code == Opcode::Bitcast) {
    const Type from = p_.type(operands[0]), to = o.type;
    const Text x = reg(operands[0]);
    if (keeps_register(o, from)) {
      // Blocks and control ops write the registers of their values several times.
      const OpId def = p_.values[operands[0]].def;
      const bool is_final = def != none && !is_control(p_.op(def).code);
      return is_final ? set(v, x) : move(to, dest(v), x);
    }
    if (o.code == Opcode::Cast) return cast(to, from, dest(v), x);
    if (is_float(from) && !is_float(to) && never_nan(operands[0]))
      return ins("mov.{} {}, {}", bits_suffix(to), dest(v), x);
    return bitcast(to, from, dest(v), x);
  }
  Text in[4];
  for (size_t k = 0; k < operands.size(); ++k) {
    in[k] = k == 1 && is_shift(o.code) ? amount_of(id) : get(operands[k]);
    // Instructions accept constants as the second operand.
    if (k == 0 && in[k][0] != '%') in[k] = moved(p_.type(operands[k]), in[k]);
  }
  if (o.code == Opcode::Select) return select(o.type, dest(v), in[0], in[1], in[2]);
  compute(o.code, p_.type(operands[0]), dest(v), {in, operands.size()});
}

void Emitter::compute(Opcode code, Type t, const Text& to, std::span<const Text> in) {
  if (t == Type::Bool) return boolean(code, to, in);
  if (compare(code, t, to, in)) return;
  return is_float(t) ? floating(code, t, to, in) : integer(code, t, to, in);
}

void Emitter::boolean(Opcode code, const Text& to, std::span<const Text> in) {
  switch (code) {
    case Opcode::And: return ins("and.pred {}, {}, {}", to, in[0], in[1]);
    case Opcode::Or: return ins("or.pred {}, {}, {}", to, in[0], in[1]);
    case Opcode::Xor:
    case Opcode::Ne: return ins("xor.pred {}, {}, {}", to, in[0], in[1]);
    case Opcode::Eq: {
      const Text differ = pred();
      ins("xor.pred {}, {}, {}", differ, in[0], in[1]);
      return ins("not.pred {}, {}", to, differ);
    }
    default: return ins("not.pred {}, {}", to, in[0]);
  }
}

bool Emitter::compare(Opcode code, Type t, const Text& to, std::span<const Text> in) {
  std::string_view how;
  switch (code) {
    case Opcode::Eq: how = "eq"; break;
    case Opcode::Ne:
      how = is_float(t) ? "neu" : "ne";  // true with NaN
      break;
    case Opcode::Lt: how = "lt"; break;
    case Opcode::Le: how = "le"; break;
    case Opcode::Gt: how = "gt"; break;
    case Opcode::Ge: how = "ge"; break;
    default: return false;
  }
  ins("setp.{}.{} {}, {}, {}", how, suffix(t), to, in[0], in[1]);
  return true;
}

void Emitter::select(Type t, const Text& to, const Text& c, const Text& a, const Text& b) {
  if (t != Type::Bool)
    return ins("selp.{} {}, {}, {}, {}", is_float(t) ? suffix(t) : bits_suffix(t), to, a, b, c);
  const Text yes = pred(), no = pred(), not_c = pred();
  ins("and.pred {}, {}, {}", yes, c, a);
  ins("not.pred {}, {}", not_c, c);
  ins("and.pred {}, {}, {}", no, not_c, b);
  ins("or.pred {}, {}, {}", to, yes, no);
}

/// Narrow integers: the low bits of `from`, extended as their type says.
void Emitter::normalize(Type t, const Text& to, const Text& from) {
  switch (t) {
    case Type::I8: return ins("cvt.s32.s8 {}, {}", to, from);
    case Type::I16: return ins("cvt.s32.s16 {}, {}", to, from);
    case Type::U8: return ins("and.b32 {}, {}, 255", to, from);
    case Type::U16: return ins("and.b32 {}, {}, 65535", to, from);
    default: return move(t, to, from);
  }
}

}  // namespace vyre::emit_ptx
