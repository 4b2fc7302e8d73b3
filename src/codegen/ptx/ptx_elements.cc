// Elements in memory: a bool is a byte, f16 and bf16 are two. Up to 32 bits they come and go
// through 32-bit registers.

#include "codegen/ptx/ptx_emitter.h"
#include "ir/eval/eval.h"

namespace vyre::emit_ptx {

/// The type, register class and suffix that load and store an element.
Emitter::Raw Emitter::raw_of(Type element) {
  switch (element) {
    case Type::Bool:
    case Type::U8: return {Type::U32, Class::Word, "u8"};
    case Type::I8: return {Type::I32, Class::Word, "s8"};
    case Type::I16: return {Type::I32, Class::Word, "s16"};
    case Type::U16:
    case Type::F16:
    case Type::BF16: return {Type::U32, Class::Word, "u16"};
    case Type::F32: return {Type::F32, Class::Float, "f32"};
    case Type::F64: return {Type::F64, Class::Double, "f64"};
    case Type::I64:
    case Type::U64: return {Type::U64, Class::Long, "u64"};
    default: return {Type::U32, Class::Word, "u32"};
  }
}

void Emitter::from_raw(Type element, const Text& to, const Text& raw) {
  switch (element) {
    case Type::Bool: return ins("setp.ne.u32 {}, {}, 0", to, raw);
    case Type::F16: {
      const Text half = temp(Class::Half);
      ins("cvt.u16.u32 {}, {}", half, raw);
      return ins("cvt.f32.f16 {}, {}", to, half);
    }
    case Type::BF16: {
      const Text bits = word();
      ins("shl.b32 {}, {}, 16", bits, raw);
      return ins("mov.b32 {}, {}", to, bits);
    }
    default: return move(element, to, raw);
  }
}

/// The bits of a float with every NaN the canonical one.
Emitter::Text Emitter::canonical_bits(Type t, ValueId value) {
  const bool is_long = t == Type::F64;
  const Type as = is_long ? Type::U64 : Type::U32;
  const uint64_t nan = is_long ? canonical_nan_f64 : canonical_nan_f32;
  if (const auto c = constant(value)) return immediate(as, never_nan(value) ? *c : nan);
  const Text x = reg(value);
  Text bits = temp(as);
  ins("mov.{} {}, {}", bits_suffix(t), bits, x);
  if (never_nan(value)) return bits;
  const Text is_nan = pred();
  Text result = temp(as);
  ins("setp.nan.{} {}, {}, {}", suffix(t), is_nan, x, x);
  ins("selp.{} {}, {}, {}, {}", bits_suffix(t), result, immediate(as, nan), bits, is_nan);
  return result;
}

/// The bits that are stored for a value. `visible`: the host sees them, so a NaN has its canonical
/// bits; floats are then integers in the registers that hold them.
Emitter::Text Emitter::to_raw(Type element, ValueId value, bool visible) {
  switch (element) {
    case Type::Bool: {
      const Text p = get(value);
      Text r = word();
      ins("selp.u32 {}, 1, 0, {}", r, p);
      return r;
    }
    case Type::F32:
    case Type::F64: return visible ? canonical_bits(element, value) : get(value);
    case Type::F16:
    case Type::BF16: {
      const Text x = reg(value);
      const bool is_half = element == Type::F16;
      const bool native = is_half || options_.arch >= Arch::Sm80;
      Text r = word();
      if (native) {
        const Text half = temp(Class::Half);
        ins("cvt.rn.{}.f32 {}, {}", is_half ? "f16" : "bf16", half, x);
        ins("cvt.u32.u16 {}, {}", r, half);
      } else {  // add half of the last place, or a little less if the result is even
        const Text bits = word(), odd = word();
        ins("mov.b32 {}, {}", bits, x);
        ins("shr.u32 {}, {}, 16", odd, bits);
        ins("and.b32 {}, {}, 1", odd, odd);
        ins("add.u32 {}, {}, 0x7fff", bits, bits);
        ins("add.u32 {}, {}, {}", bits, bits, odd);
        ins("shr.u32 {}, {}, 16", r, bits);
      }
      // Without the instruction rounding could carry a NaN into a number.
      if ((native && !visible) || never_nan(value)) return r;
      const Text is_nan = pred();
      Text result = word();
      ins("setp.nan.f32 {}, {}, {}", is_nan, x, x);
      ins("selp.b32 {}, {}, {}, {}", result, is_half ? 0x7e00 : 0x7fc0, r, is_nan);
      return result;
    }
    default: return get(value);
  }
}

/// The element k positions after that of the Place.
void Emitter::load_element(const Place& p, uint32_t k, const Text& to) {
  const Raw raw = raw_of(p.element);
  const bool direct = p.element != Type::Bool && !is_storage_only(p.element);
  const Text r = direct ? to : word();
  const uint64_t at = p.offset + uint64_t{k} * size_of(p.element);
  if (!p.inside.empty()) move(raw.type, r, immediate(raw.type, 0));
  ins("{}{}.{} {}, [{}+{}]", guard(p), p.load, raw.suffix, r, p.address, at);
  if (!direct) from_raw(p.element, to, r);
}

void Emitter::store_element(const Place& p, uint32_t k, ValueId value) {
  const bool visible = is_visible(p.buffer);
  const Text raw = to_raw(p.element, value, visible);
  std::string_view how = raw_of(p.element).suffix;
  if (how == "s8") how = "u8";
  if (how == "s16") how = "u16";
  if (visible && is_float(p.element)) how = bits_suffix(p.element);
  const uint64_t at = p.offset + uint64_t{k} * size_of(p.element);
  ins("{}{}.{} [{}+{}], {}", guard(p), p.store, how, p.address, at, raw);
}

}  // namespace vyre::emit_ptx
