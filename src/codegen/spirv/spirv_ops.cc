// Pure ops: dispatch to their part; bools, comparisons and selections.

#include <spirv/unified1/GLSL.std.450.h>

#include "codegen/spirv/spirv_emitter.h"
#include "ir/op_properties.h"
#include "legalize/expand.h"
#include "legalize/floats.h"

namespace vyre::emit_spirv {
namespace {

/// True if the op with the constant `bits` affects only the sign, or all bits but the sign.
bool masks_sign(Opcode code, uint32_t bits) {
  switch (code) {
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor: return bits == 0x80000000 || bits == 0x7fffffff;
    case Opcode::Add:
    case Opcode::Sub: return bits == 0x80000000;
    default: return false;
  }
}

}  // namespace

void Emitter::pure_op(OpId id) {
  const Op& o = p_.op(id);
  const ValueId v = p_.result(id);
  if (f_.uses[v] == 0) return;
  const auto operands = p_.operands(id);
  if (o.code == Opcode::Cast || o.code == Opcode::Bitcast) {
    const Type from = p_.type(operands[0]), to = o.type;
    const Id x = get(operands[0]);
    if (from == to || emit_exact::has_mark(o, OpMark::InRange)) return set(v, x);
    if (o.code == Opcode::Cast) return set(v, cast(to, from, x));
    return set(
        v, bitcast(to, from, x, never_nan(operands[0]) || emit_exact::has_mark(o, OpMark::AnyNan)));
  }
  if (const Id low = extend_by_shifts(id)) return set(v, low);
  Id in[4];
  for (uint32_t k = 0; k < operands.size(); ++k)
    in[k] = k == 1 && is_shift(o.code) ? amount_of(id) : operand_of(id, k);
  if (emit_exact::has_mark(o, OpMark::MayFlush))
    return set(v, extended(GLSLstd450FAbs, type_of(o.type), {in[0]}));
  if (emit_exact::has_mark(o, OpMark::ByFunction))
    return set(v, call(o.code, o.type, {in, operands.size()}));
  if (o.code == Opcode::Select) return set(v, select(o.type, in[0], in[1], in[2]));
  set(v, compute(o.code, p_.type(operands[0]), {in, operands.size()}));
}

/// An operand of a pure op. Some values are hidden from the device's compiler, so that it does not
/// recognize an operation that it computes wrong. These are constants from which it recognizes
/// float operations that flush subnormals, and one operand of sums that may saturate.
Id Emitter::operand_of(OpId id, uint32_t k) {
  const Op& o = p_.op(id);
  const ValueId v = p_.operand(id, k);
  if (k == 1 && !f_.saturates.empty() && f_.saturates[id]) return hidden(o.type, get(v));
  if (const auto c = constant(v)) {
    const uint32_t bits = static_cast<uint32_t>(*c);
    if (is_integer(o.type) && width_of(o.type) == 32 && masks_sign(o.code, bits))
      return sign_mask(bits);
    if (emit_exact::compares32(o.code, o.type, p_.type(v))) return limit(bits);
  }
  return get(v);
}

Id Emitter::compute(Opcode code, Type t, std::span<const Id> in) {
  if (t == Type::Bool) return boolean(code, in);
  if (is_float(t) && !options_.profile.zero_operands) return compute_hidden(code, t, in);
  return compute_number(code, t, in);
}

/// Computes with operands that are hidden from the device's compiler; the result is hidden, too.
Id Emitter::compute_hidden(Opcode code, Type t, std::span<const Id> in) {
  Id operands[4];
  for (size_t k = 0; k < in.size(); ++k) operands[k] = hidden(t, in[k]);
  const Id result = compute_number(code, t, {operands, in.size()});
  opaque_.insert(result);
  return result;
}

Id Emitter::compute_number(Opcode code, Type t, std::span<const Id> in) {
  if (const Id result = compare(code, t, in)) return result;
  return is_float(t) ? floating(code, t, in) : integer(code, t, in);
}

Id Emitter::boolean(Opcode code, std::span<const Id> in) {
  switch (code) {
    case Opcode::And: return ins(spv::OpLogicalAnd, b(), {in[0], in[1]});
    case Opcode::Or: return ins(spv::OpLogicalOr, b(), {in[0], in[1]});
    case Opcode::Xor:
    case Opcode::Ne: return ins(spv::OpLogicalNotEqual, b(), {in[0], in[1]});
    case Opcode::Eq: return ins(spv::OpLogicalEqual, b(), {in[0], in[1]});
    default: return negated(in[0]);
  }
}

/// Returns 0 for ops that are not comparisons.
Id Emitter::compare(Opcode code, Type t, std::span<const Id> in) {
  const bool f = is_float(t), s = is_signed(t);
  spv::Op op = spv::OpNop;
  switch (code) {
    case Opcode::Eq: op = f ? spv::OpFOrdEqual : spv::OpIEqual; break;
    case Opcode::Ne:
      op = f ? spv::OpFUnordNotEqual : spv::OpINotEqual;  // true with NaN
      break;
    case Opcode::Lt: op = f ? spv::OpFOrdLessThan : s ? spv::OpSLessThan : spv::OpULessThan; break;
    case Opcode::Le:
      op = f ? spv::OpFOrdLessThanEqual : s ? spv::OpSLessThanEqual : spv::OpULessThanEqual;
      break;
    case Opcode::Gt:
      op = f ? spv::OpFOrdGreaterThan : s ? spv::OpSGreaterThan : spv::OpUGreaterThan;
      break;
    case Opcode::Ge:
      op = f   ? spv::OpFOrdGreaterThanEqual
           : s ? spv::OpSGreaterThanEqual
               : spv::OpUGreaterThanEqual;
      break;
    default: return 0;
  }
  return ins(op, b(), {in[0], in[1]});
}

/// Narrow integers: the low bits, extended as their type says.
Id Emitter::normalize(Type t, Id x) {
  const uint32_t width = width_of(t);
  if (width >= 32) return x;
  if (!is_signed(t))
    return ins(spv::OpBitwiseAnd, u32(), {x, c32(static_cast<uint32_t>(low_mask(width)))});
  return sign_extended(x, width);
}

/// The low bits, the highest of them in all above.
Id Emitter::sign_extended(Id x, uint32_t width) {
  if (options_.profile.bits && options_.workarounds.extend_signs_by_field)
    return ins(spv::OpBitFieldSExtract, u32(), {x, c32(0), c32(width)});
  const Id top = ins(spv::OpShiftLeftLogical, u32(), {x, c32(32 - width)});
  return ins(spv::OpShiftRightArithmetic, u32(), {top, c32(32 - width)});
}

}  // namespace vyre::emit_spirv
