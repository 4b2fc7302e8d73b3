// Types, constants and wide numbers.

#include <fmt/format.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {
namespace {

/// True for the bits of 1.0 and -1.0 (workaround zero_operands).
bool is_one(Type t, uint64_t bits) {
  return width_of(t) == 64   ? (bits & low_mask(63)) == 0x3ff0000000000000
         : width_of(t) == 32 ? (bits & low_mask(31)) == 0x3f800000
                             : false;
}

uint64_t sign_bit(Type t) { return uint64_t{1} << (width_of(t) - 1); }

/// The bits of a narrow number in its register: extended as the type says.
uint64_t extended_bits(Type t, uint64_t bits) {
  const uint64_t value = bits & low_mask(width_of(t));
  return is_signed(t) && value & sign_bit(t) ? value | ~low_mask(width_of(t)) : value;
}

}  // namespace

Id Emitter::exact(spv::Op op, Id type, Operands operands) {
  const Id result = ins(op, type, operands);
  m_.decorate(result, spv::DecorationNoContraction);
  return result;
}

Id Emitter::extended(uint32_t what, Id type, Operands operands) {
  const Id set = m_.glsl(), result = m_.new_id();
  out_->put(spv::OpExtInst, {type, result, set, what},
            std::span(operands.begin(), operands.size()));
  return result;
}

Id Emitter::phi(Id type, std::span<const Incoming> from, Id result) {
  if (!result) result = m_.new_id();
  std::vector<uint32_t> all;
  for (const Incoming& i : from) all.insert(all.end(), {i.value, i.label});
  put(spv::OpPhi, type, result, all);
  return result;
}

Id Emitter::type_of(Type t) {
  switch (t) {
    case Type::Bool: return b();
    case Type::I64:
    case Type::U64: return u64();
    case Type::F32: return m_.type_float(32);
    case Type::F64: return m_.type_float(64);
    default: return u32();
  }
}

Id Emitter::constant_of(Type t, uint64_t bits) {
  switch (t) {
    case Type::Bool: return bit(bits & 1);
    case Type::F32: return m_.constant_f32(static_cast<uint32_t>(bits));
    case Type::F64: return m_.constant_f64(bits);
    case Type::I64:
    case Type::U64: return m_.constant64(bits);
    default: return c32(static_cast<uint32_t>(extended_bits(t, bits)));
  }
}

Id Emitter::get(ValueId v) {
  if (made_[v]) return made_[v];
  const auto c = constant(v);
  if (!c) return made_[v];  // unreachable code has no id; checked programs have none
  const Type t = p_.type(v);
  if (!options_.profile.zero_operands && is_one(t, *c)) return made_[v] = unseen(t, *c);
  return made_[v] = constant_of(t, *c);
}

/// The number x, hidden from the device's compiler. That compiler folds an operand wrong if it
/// knows that the operand is zero, even where it is not written as a constant: an element of a
/// private array that is never written, the bits of an integer.
Id Emitter::hidden(Type t, Id x) {
  if (opaque_.contains(x)) return x;
  const Id zero = once({"zero", width_of(t)}, [&] {
    const Id word = param_word(zero_offset);
    if (width_of(t) < 64) return word;
    // Named in order: the evaluation order of arguments is unspecified.
    const Id both = pair(word, word);
    return ins(spv::OpBitcast, u64(), {both});
  });
  const Id bits = is_float(t) ? bits_of(t, x) : x;
  return from_bits(t, ins(spv::OpBitwiseOr, type_of(bits_as(t)), {bits, zero}));
}

/// A constant that is hidden from the device's compiler: shifted by a hidden zero, because no
/// compiler splits such a shift to combine the constant with another.
Id Emitter::unseen(uint32_t bits) {
  return once({"unseen", bits}, [&] {
    return ins(spv::OpShiftRightLogical, u32(), {c32(bits), param_word(zero_offset)});
  });
}

Id Emitter::unseen(Type t, uint64_t bits) {
  bits = extended_bits(t, bits);
  const Id low = unseen(static_cast<uint32_t>(bits));
  if (width_of(t) < 64 && !is_float(t)) return low;
  return once({"unseen of", bits, static_cast<uint32_t>(t)}, [&] {
    if (width_of(t) < 64) return from_bits(t, low);
    const Id both = pair(low, unseen(static_cast<uint32_t>(bits >> 32)));
    return ins(spv::OpBitcast, type_of(t), {both});
  });
}

Id Emitter::bits_of(Type t, Id x) {
  return ins(spv::OpBitcast, width_of(t) < 64 ? u32() : u64(), {x});
}

Id Emitter::from_bits(Type t, Id bits) {
  return is_float(t) ? ins(spv::OpBitcast, type_of(t), {bits}) : bits;
}

// ---- Wide numbers.

Emitter::Wide Emitter::wide(uint64_t value) {
  if (has64()) return {m_.constant64(value), 0};
  return {c32(static_cast<uint32_t>(value)), c32(static_cast<uint32_t>(value >> 32))};
}

Emitter::Wide Emitter::wide_of(Type t, Id x) {
  if (width_of(t) == 64) return {x, 0};
  if (!is_signed(t)) return has64() ? Wide{ins(spv::OpUConvert, u64(), {x}), 0} : Wide{x, c32(0)};
  if (has64() && !options_.workarounds.extend_indices_by_words)
    return {ins(spv::OpSConvert, u64(), {x}), 0};
  return wide_words(x, ins(spv::OpShiftRightArithmetic, u32(), {x, c32(31)}));
}

Emitter::Wide Emitter::wide_words(Id low, Id high) {
  if (!has64()) return {low, high};
  const Id both = pair(low, high);
  return {ins(spv::OpBitcast, u64(), {both}), 0};
}

Emitter::Wide Emitter::add(Wide a, Wide b_) {
  if (has64()) return {ins(spv::OpIAdd, u64(), {a.low, b_.low}), 0};
  const Id low = ins(spv::OpIAdd, u32(), {a.low, b_.low});
  const Id carries = ins(spv::OpULessThan, b(), {low, a.low});
  const Id carry = ins(spv::OpSelect, u32(), {carries, c32(1), c32(0)});
  const Id high = ins(spv::OpIAdd, u32(), {a.high, b_.high});
  return {low, ins(spv::OpIAdd, u32(), {high, carry})};
}

Emitter::Wide Emitter::times(Wide a, uint32_t by) {
  if (by == 1) return a;
  const bool is_power = (by & (by - 1)) == 0;
  const auto log2 = static_cast<uint32_t>(std::countr_zero(by));
  if (has64())
    return {is_power ? ins(spv::OpShiftLeftLogical, u64(), {a.low, c32(log2)})
                     : ins(spv::OpIMul, u64(), {a.low, m_.constant64(by)}),
            0};
  if (is_power) {
    const Id low = ins(spv::OpShiftLeftLogical, u32(), {a.low, c32(log2)});
    const Id up = ins(spv::OpShiftRightLogical, u32(), {a.low, c32(32 - log2)});
    const Id high = ins(spv::OpShiftLeftLogical, u32(), {a.high, c32(log2)});
    return {low, ins(spv::OpBitwiseOr, u32(), {high, up})};
  }
  const Id low = ins(spv::OpIMul, u32(), {a.low, c32(by)});
  const Id up = high_product(Type::U32, a.low, c32(by));
  const Id high = ins(spv::OpIMul, u32(), {a.high, c32(by)});
  return {low, ins(spv::OpIAdd, u32(), {high, up})};
}

Id Emitter::below(Wide a, Wide b_) {
  if (has64()) return ins(spv::OpULessThan, b(), {a.low, b_.low});
  const Id low = ins(spv::OpULessThan, b(), {a.low, b_.low});
  const Id high = ins(spv::OpULessThan, b(), {a.high, b_.high});
  const Id same = ins(spv::OpIEqual, b(), {a.high, b_.high});
  return ins(spv::OpLogicalOr, b(), {high, ins(spv::OpLogicalAnd, b(), {same, low})});
}

Id Emitter::low_word(Wide a) { return has64() ? ins(spv::OpUConvert, u32(), {a.low}) : a.low; }

Id Emitter::high_word(Wide a) {
  if (!has64()) return a.high;
  const Id high = ins(spv::OpShiftRightLogical, u64(), {a.low, c32(32)});
  return ins(spv::OpUConvert, u32(), {high});
}

}  // namespace vyre::emit_spirv
