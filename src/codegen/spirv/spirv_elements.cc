// Elements in memory: a bool is a byte, f16 and bf16 are two. Memory holds integers; floats are
// their bits. Elements of up to 32 bits are loaded and stored as words. Where the device has no
// narrow elements, they are parts of words, which a store changes by an atomic `and` and an atomic
// `or`, so that neighbours do not change.

#include "codegen/spirv/spirv_emitter.h"
#include "ir/eval/eval.h"

namespace vyre::emit_spirv {

/// The type of a loaded element before its conversion to a value: a word, or 64 bits.
Id Emitter::raw_type(Type element) { return size_of(element) < 8 ? u32() : u64(); }

bool Emitter::is_word_access(BufferId buffer) const {
  const uint32_t size = size_of(p_.buffers[buffer].element);
  if (size >= 4) return false;
  if (!is_parameter(p_.buffers[buffer].role)) return f_.packed[buffer];
  return !has_narrow(size);
}

/// Narrow elements in buffers. Without 64-bit integers an address becomes a pointer by a bitcast,
/// which validators do not take for narrow types.
bool Emitter::has_narrow(uint32_t size) const {
  return has64() && (size == 1 ? options_.profile.storage8 : options_.profile.storage16);
}

/// The word that holds a narrow element, and where in it.
Emitter::Piece Emitter::piece_of(const Place& p, uint32_t k) {
  const uint32_t size = size_of(p.element);
  Piece piece;
  Id byte = 0;
  if (p.space == Space::Buffer) {
    const Wide at = moved_by(p.address, k * size);
    byte = low_word(at);
    const Wide word = has64()
                          ? Wide{ins(spv::OpBitwiseAnd, u64(), {at.low, m_.constant64(~3ull)}), 0}
                          : Wide{ins(spv::OpBitwiseAnd, u32(), {at.low, c32(~3u)}), at.high};
    piece.pointer = element_pointer(word, u32());
  } else {
    const Id index = k ? ins(spv::OpIAdd, u32(), {p.index, c32(k)}) : p.index;
    byte = size == 1 ? index : ins(spv::OpShiftLeftLogical, u32(), {index, c32(1)});
    piece.pointer = array_pointer(p, ins(spv::OpShiftRightLogical, u32(), {byte, c32(2)}));
  }
  const Id low = ins(spv::OpBitwiseAnd, u32(), {byte, c32(3)});
  piece.shift = ins(spv::OpShiftLeftLogical, u32(), {low, c32(3)});
  return piece;
}

Id Emitter::narrow_load(const Place& p, uint32_t k) {
  const Piece piece = piece_of(p, k);
  // Others may change the rest of the word at the same time.
  const bool changes = f_.buffers[p.buffer].written && p.space != Space::Private;
  const spv::Scope scope = p.space == Space::Shared ? spv::ScopeWorkgroup : spv::ScopeQueueFamily;
  const Id word = changes ? ins(spv::OpAtomicLoad, u32(), {piece.pointer, scope_of(scope), c32(0)})
                          : load(piece.pointer, u32(), p.space, p.buffer, 4);
  const Id raw = ins(spv::OpShiftRightLogical, u32(), {word, piece.shift});
  const bool byte = size_of(p.element) == 1;
  const Type as = is_integer(p.element) ? p.element : byte ? Type::U8 : Type::U16;
  return normalize(as, raw);
}

void Emitter::narrow_store(const Place& p, uint32_t k, Id raw) {
  const Piece piece = piece_of(p, k);
  const Id mask = c32(static_cast<uint32_t>(low_mask(8 * size_of(p.element))));
  const Id place = ins(spv::OpShiftLeftLogical, u32(), {mask, piece.shift});
  const Id others = ins(spv::OpNot, u32(), {place});
  const Id low = ins(spv::OpBitwiseAnd, u32(), {raw, mask});
  const Id bits = ins(spv::OpShiftLeftLogical, u32(), {low, piece.shift});
  if (p.space == Space::Private) {
    const Id old = load(piece.pointer, u32(), p.space, p.buffer, 4);
    const Id rest = ins(spv::OpBitwiseAnd, u32(), {old, others});
    return store(piece.pointer, ins(spv::OpBitwiseOr, u32(), {rest, bits}), p.space, p.buffer, 4);
  }
  const Id scope = scope_of(p.space == Space::Shared ? spv::ScopeWorkgroup : spv::ScopeQueueFamily);
  // Not one exclusive or with the changed bits: two invocations that write the same value would
  // undo each other's write.
  ins(spv::OpAtomicAnd, u32(), {piece.pointer, scope, c32(0), others});
  ins(spv::OpAtomicOr, u32(), {piece.pointer, scope, c32(0), bits});
}

/// A word of an array, by the word's number.
Id Emitter::word_at(const Place& p, Id word) {
  const uint32_t size = size_of(p_.buffers[p.buffer].element);
  if (size < 8 || f_.packed[p.buffer])
    return load(array_pointer(p, word), u32(), p.space, p.buffer, 4);
  const Id index = ins(spv::OpShiftRightLogical, u32(), {word, c32(1)});
  // Named in order: the evaluation order of arguments is unspecified.
  const Id type = raw_type(Type::U64);
  const Id whole = load(array_pointer(p, index), type, p.space, p.buffer, 8);
  const Id halves = ins(spv::OpBitcast, words(2), {whole});
  const Id odd = ins(spv::OpBitwiseAnd, u32(), {word, c32(1)});
  return ins(spv::OpVectorExtractDynamic, u32(), {halves, odd});
}

Id Emitter::raw_load(const Place& p, uint32_t k) {
  const uint32_t size = size_of(p.element);
  if (size < 4 && is_word_access(p.buffer)) return narrow_load(p, k);
  if (p.space == Space::Buffer) {
    const Wide at = moved_by(p.address, k * size);
    if (size >= 4) {
      const Id type = raw_type(p.element);
      return load(element_pointer(at, type), type, p.space, p.buffer, size);
    }
    m_.capability(size == 1 ? spv::CapabilityStorageBuffer8BitAccess
                            : spv::CapabilityStorageBuffer16BitAccess);
    const Id type = m_.type_int(8 * size);
    const Id raw = load(element_pointer(at, type), type, p.space, p.buffer, size);
    return ins(is_signed(p.element) ? spv::OpSConvert : spv::OpUConvert, u32(), {raw});
  }
  const Id index = k ? ins(spv::OpIAdd, u32(), {p.index, c32(k)}) : p.index;
  if (p.space == Space::Table && size == 8) {
    const Id first = ins(spv::OpShiftLeftLogical, u32(), {index, c32(1)});
    const Id low = word_at(p, first);
    const Id high = word_at(p, ins(spv::OpIAdd, u32(), {first, c32(1)}));
    const Id both = pair(low, high);
    return ins(spv::OpBitcast, u64(), {both});
  }
  const Id type = element_type(p.buffer);
  const Id raw = load(array_pointer(p, index), type, p.space, p.buffer, size);
  if (size >= 4 || p.space == Space::Private) return raw;
  return ins(is_signed(p.element) ? spv::OpSConvert : spv::OpUConvert, u32(), {raw});
}

/// Kernels that use the control block have its address in the parameter for zeros.
bool Emitter::has_zeros() const {
  return !f_.has_traps && !(f_.polls_any && options_.stoppable) && options_.profile.long_loops;
}

Emitter::Wide Emitter::zeros() {
  info_.uses_zeros = true;
  return param_wide(control_offset);
}

/// A load outside a buffer is not executed. In unrolled loops, however, loads without branches can
/// be moved up, so another load takes its place, as in arrays: of zeros if their address is
/// available, else of element 0. (Otherwise the test is needed once more when the element has
/// arrived. NVIDIA's GPUs have seven predicate registers, so no more loads would be in flight at
/// once.)
Id Emitter::load_element(const Place& p, uint32_t k) {
  const Id type = raw_type(p.element);
  const bool chooses = p.space != Space::Buffer || (in_unrolled_ && has64());
  if (!p.inside || !chooses)
    return from_raw(p.element, when_value(p.inside, type, [&] { return raw_load(p, k); }));
  Place safe = p;
  if (p.space == Space::Buffer) {
    const Wide at = moved_by(p.address, k * size_of(p.element));
    const Wide other = has_zeros() ? zeros() : pointer_of(p.buffer);
    safe.address = {ins(spv::OpSelect, u64(), {p.inside, at.low, other.low}), 0};
    if (has_zeros()) return from_raw(p.element, raw_load(safe, 0));
  } else {
    const Id index = k ? ins(spv::OpIAdd, u32(), {p.index, c32(k)}) : p.index;
    safe.index = ins(spv::OpSelect, u32(), {p.inside, index, c32(0)});
  }
  const Id raw = raw_load(safe, 0);
  return from_raw(p.element, ins(spv::OpSelect, type, {p.inside, raw, m_.constant_null(type)}));
}

void Emitter::store_element(const Place& p, uint32_t k, Id raw) {
  const uint32_t size = size_of(p.element);
  if (is_word_access(p.buffer)) return narrow_store(p, k, raw);
  const bool narrow = size < 4 && p.space != Space::Private;
  if (narrow) raw = ins(spv::OpUConvert, m_.type_int(8 * size), {raw});
  if (p.space == Space::Buffer) {
    if (narrow)
      m_.capability(size == 1 ? spv::CapabilityStorageBuffer8BitAccess
                              : spv::CapabilityStorageBuffer16BitAccess);
    const Id type = narrow ? m_.type_int(8 * size) : raw_type(p.element);
    return store(element_pointer(moved_by(p.address, k * size), type), raw, p.space, p.buffer,
                 size);
  }
  const Id index = k ? ins(spv::OpIAdd, u32(), {p.index, c32(k)}) : p.index;
  store(array_pointer(p, index), raw, p.space, p.buffer, size);
}

// ---- Between memory and values.

Id Emitter::from_raw(Type element, Id raw) {
  switch (element) {
    case Type::Bool: return ins(spv::OpINotEqual, b(), {raw, c32(0)});
    case Type::F16: return half_to_float(raw);
    case Type::BF16:
      return from_bits(Type::F32, ins(spv::OpShiftLeftLogical, u32(), {raw, c32(16)}));
    default: return from_bits(element, raw);
  }
}

/// The bits that are stored for a value. `visible`: the host sees them, so a NaN has its canonical
/// bits.
Id Emitter::to_raw(Type element, ValueId value, bool visible) {
  const Id x = get(value);
  switch (element) {
    case Type::Bool: return ins(spv::OpSelect, u32(), {x, c32(1), c32(0)});
    case Type::F32:
    case Type::F64:
      return visible ? canonical_bits(element, x, never_nan(value)) : bits_of(element, x);
    case Type::F16: return float_to_half(x);
    case Type::BF16: {
      // Add half of the last place, or a little less if the result is even. That could carry a NaN
      // into a number.
      const Id bits = bits_of(Type::F32, x);
      const Id last = ins(spv::OpShiftRightLogical, u32(), {bits, c32(16)});
      const Id odd = ins(spv::OpBitwiseAnd, u32(), {last, c32(1)});
      const Id half = ins(spv::OpIAdd, u32(), {odd, c32(0x7fff)});
      const Id sum = ins(spv::OpIAdd, u32(), {bits, half});
      const Id raw = ins(spv::OpShiftRightLogical, u32(), {sum, c32(16)});
      if (never_nan(value)) return raw;
      return ins(spv::OpSelect, u32(), {is_nan(Type::F32, bits), c32(0x7fc0), raw});
    }
    default: return x;
  }
}

Id Emitter::canonical_bits(Type t, Id x, bool never_nan) {
  const Id bits = bits_of(t, x);
  if (never_nan) return bits;
  const Type as = t == Type::F32 ? Type::U32 : Type::U64;
  const Id nan = constant_of(as, t == Type::F32 ? canonical_nan_f32 : canonical_nan_f64);
  return select(as, is_nan(t, bits), nan, bits);
}

/// f16 as f32, in integers: devices may flush subnormals of 16 bits.
Id Emitter::half_to_float(Id raw) {
  const Id magnitude = ins(spv::OpBitwiseAnd, u32(), {raw, c32(0x7fff)});
  const Id top = ins(spv::OpBitwiseAnd, u32(), {raw, c32(0x8000)});
  const Id sign = ins(spv::OpShiftLeftLogical, u32(), {top, c32(16)});
  const Id moved = ins(spv::OpShiftLeftLogical, u32(), {magnitude, c32(13)});
  // The exponent's bias grows by 112; that of infinities and NaN by as much again.
  const Id special = ins(spv::OpUGreaterThanEqual, b(), {magnitude, c32(0x7c00)});
  const Id bias = ins(spv::OpSelect, u32(), {special, c32(224u << 23), c32(112u << 23)});
  const Id normal = ins(spv::OpIAdd, u32(), {moved, bias});
  // A subnormal is a number of 2^-24, which f32 has as normal numbers.
  const Id number = ins(spv::OpConvertUToF, type_of(Type::F32), {magnitude});
  const Id scaled = exact(spv::OpFMul, type_of(Type::F32), {number, m_.constant_f32(0x33800000)});
  const Id is_small = ins(spv::OpULessThan, b(), {magnitude, c32(0x0400)});
  const Id bits = ins(spv::OpSelect, u32(), {is_small, bits_of(Type::F32, scaled), normal});
  return from_bits(Type::F32, ins(spv::OpBitwiseOr, u32(), {bits, sign}));
}

/// The nearest f16, ties to even; a NaN is the canonical one.
Id Emitter::float_to_half(Id x) {
  const Type f32 = Type::F32;
  const Id bits = bits_of(f32, x);
  const Id magnitude = ins(spv::OpBitwiseAnd, u32(), {bits, c32(0x7fffffff)});
  const Id top = ins(spv::OpShiftRightLogical, u32(), {bits, c32(16)});
  const Id sign = ins(spv::OpBitwiseAnd, u32(), {top, c32(0x8000)});
  // Normal: half of the last place, or a little less before an even one, and another bias.
  const Id last = ins(spv::OpShiftRightLogical, u32(), {magnitude, c32(13)});
  const Id odd = ins(spv::OpBitwiseAnd, u32(), {last, c32(1)});
  const Id half = ins(spv::OpIAdd, u32(), {odd, c32(0xfffu - (112u << 23))});
  const Id sum = ins(spv::OpIAdd, u32(), {magnitude, half});
  const Id normal = ins(spv::OpShiftRightLogical, u32(), {sum, c32(13)});
  // Subnormal: 0.5 has 2^-24 as its last place, so the sum is rounded to it.
  const Id positive = from_bits(f32, magnitude);
  const Id shifted = exact(spv::OpFAdd, type_of(f32), {positive, m_.constant_f32(0x3f000000)});
  const Id small = ins(spv::OpISub, u32(), {bits_of(f32, shifted), c32(0x3f000000)});
  const Id is_small = ins(spv::OpULessThan, b(), {magnitude, c32(0x38800000)});
  const Id is_large = ins(spv::OpUGreaterThanEqual, b(), {magnitude, c32(0x477ff000)});
  const Id is_nan = ins(spv::OpUGreaterThan, b(), {magnitude, c32(0x7f800000)});
  Id raw = ins(spv::OpSelect, u32(), {is_small, small, normal});
  raw = ins(spv::OpSelect, u32(), {is_large, c32(0x7c00), raw});
  raw = ins(spv::OpBitwiseOr, u32(), {raw, sign});
  return ins(spv::OpSelect, u32(), {is_nan, c32(0x7e00), raw});
}

}  // namespace vyre::emit_spirv
