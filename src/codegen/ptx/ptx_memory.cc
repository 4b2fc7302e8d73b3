// Addresses and bounds of accesses: a predicate tells whether the index, as a number, is below the
// length. A load outside returns 0 and a store outside writes nothing. One comparison of 32 bits
// suffices for most indices, because the length is clamped to the index's range once, at the start
// (where that pays).

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {
namespace {

/// A comparison of 64 bits takes two instructions; clamping the length at the start takes eight.
constexpr uint32_t most_wide_tests = 3;

/// An index of 32 bits or less whose top bit is never set while it is inside 2^31 elements.
bool is_below_2_31(Type index) { return index != Type::U32 && width_of(index) <= 32; }

}  // namespace

/// Returns the predicate that index + plus, in exact integers, is below the buffer's length.
Emitter::Text Emitter::inside(BufferId buffer, ValueId index, uint32_t plus) {
  buffer = f_.buffers[buffer].length_of;
  const Type t = p_.type(index);
  const bool is_array = !is_parameter(p_.buffers[buffer].role);
  const uint64_t count = f_.buffers[buffer].count;
  if (const auto c = constant(index); c && is_array)
    return is_inside(t, *c, plus, count) ? "" : bool_constant(false);
  if (is_array && is_always_inside(t, plus, count)) return "";
  Text p = pred();
  const Text i = reg(index);
  if (plus == 0 && width_of(t) <= 32) {
    if (is_array) {
      ins("setp.lt.u32 {}, {}, {}", p, i, count);
    } else if (is_below_2_31(t)) {
      // A negative index is at least 2^31 if read as unsigned.
      const Text limit = once(fmt::format("limit {}", buffer.value()), [&] {
        const Text low = wide();
        Text r = word();
        ins("min.u64 {}, {}, 0x80000000", low, count_of(buffer));
        ins("cvt.u32.u64 {}, {}", r, low);
        return r;
      });
      ins("setp.lt.u32 {}, {}, {}", p, i, limit);
    } else if (f_.buffers[buffer].has_len) {
      ins("setp.lt.u32 {}, {}, {}", p, i, param(offsets_[buffer] + 8, "u32", Class::Word));
    } else if (f_.buffers[buffer].tests <= most_wide_tests) {
      const Text number = wide();
      ins("cvt.u64.u32 {}, {}", number, i);
      ins("setp.lt.u64 {}, {}, {}", p, number, count_of(buffer));
    } else {
      // With 2^32 elements or more all indices are inside. So the index is compared with the last
      // one.
      const Text some = once(fmt::format("some {}", buffer.value()), [&] {
        Text r = pred();
        ins("setp.ne.u64 {}, {}, 0", r, count_of(buffer));
        return r;
      });
      const Text last = once(fmt::format("last {}", buffer.value()), [&] {
        const Text less = wide(), low = wide();
        Text r = word();
        ins("sub.u64 {}, {}, 1", less, count_of(buffer));
        ins("min.u64 {}, {}, 0xffffffff", low, less);
        ins("cvt.u32.u64 {}, {}", r, low);
        return r;
      });
      ins("setp.le.and.u32 {}, {}, {}, {}", p, i, last, some);
    }
    return p;
  }
  Text number = i;
  if (width_of(t) <= 32) {
    number = wide();
    ins("cvt.{}.{} {}, {}", is_signed(t) ? "s64" : "u64", suffix(t), number, i);
  }
  if (plus && t == Type::U64) {  // the sum could wrap: take it from the length
    const Text limit = once(fmt::format("limit {} less {}", buffer.value(), plus), [&] {
      const Text most = moved(Type::U64, count_of(buffer));
      Text r = wide();
      ins("max.u64 {}, {}, {}", most, most, plus);
      ins("sub.u64 {}, {}, {}", r, most, plus);
      return r;
    });
    ins("setp.lt.u64 {}, {}, {}", p, number, limit);
    return p;
  }
  if (plus) {  // a negative number stays negative, or is far above any length
    const Text sum = wide();
    ins("add.s64 {}, {}, {}", sum, number, plus);
    number = sum;
  }
  ins("setp.lt.u64 {}, {}, {}", p, number, count_of(buffer));
  return p;
}

/// Returns the predicate that `size` bytes at a byte offset are inside.
Emitter::Text Emitter::inside_bytes(BufferId buffer, ValueId index, uint32_t size) {
  const Type t = p_.type(index);
  const uint32_t element = size_of(p_.buffers[buffer].element);
  const Text limit = once(fmt::format("bytes {} {}", buffer.value(), size), [&] {
    const Text bytes = wide();
    Text r = wide();
    ins("mov.u64 {}, {}", bytes, count_of(buffer));
    ins("mul.lo.u64 {}, {}, {}", bytes, bytes, element);
    ins("max.u64 {}, {}, {}", bytes, bytes, size - 1);
    ins("sub.u64 {}, {}, {}", r, bytes, size - 1);
    return r;
  });
  Text number = reg(index);
  if (width_of(t) <= 32) {
    const Text extended = wide();
    ins("cvt.{}.{} {}, {}", is_signed(t) ? "s64" : "u64", suffix(t), extended, number);
    number = extended;
  }
  Text p = pred();
  ins("setp.lt.u64 {}, {}, {}", p, number, limit);
  return p;
}

void Emitter::address(Place& p, ValueId index) {
  const Role role = p_.buffers[p.buffer].role;
  const Type t = p_.type(index);
  const bool is_shared = role == Role::Shared;
  const Text base = is_shared ? shared_base() : pointer_of(p.buffer);
  const auto c = constant(index);
  const bool negative = c && is_signed(t) && *c >> (width_of(t) - 1) & 1;
  if (c && !negative && *c < (1u << 30) && *c * p.scale < (1u << 30)) {
    p.address = base;
    p.offset += *c * p.scale;
    return;
  }
  Text i = reg(index);
  if (is_shared) {
    if (width_of(t) == 64) {
      const Text low = word();
      ins("cvt.u32.u64 {}, {}", low, i);
      i = low;
    }
    p.address = word();
    return ins("mad.lo.u32 {}, {}, {}, {}", p.address, i, p.scale, base);
  }
  p.address = wide();
  if (width_of(t) == 64) return ins("mad.lo.u64 {}, {}, {}, {}", p.address, i, p.scale, base);
  // ptxas makes one instruction of these two, but three of a `mad.wide` whose base is a parameter.
  const Text distance = wide();
  ins("mul.wide.{} {}, {}, {}", suffix(t), distance, i, p.scale);
  ins("add.s64 {}, {}, {}", p.address, base, distance);
}

/// Everything but the predicate.
Emitter::Place Emitter::place_of(OpId id, uint32_t scale) {
  const MemoryRef ref = p_.memory(id);
  const Buffer& b = p_.buffers[ref.buffer];
  Place p;
  p.buffer = ref.buffer;
  p.element = b.element;
  p.scale = scale;
  switch (b.role) {
    case Role::Shared:
      p.space = ".shared", p.load = "ld.shared", p.store = "st.shared";
      p.offset = f_.buffers[ref.buffer].offset;
      break;
    case Role::Private:
      p.space = ".local", p.load = "ld.local", p.store = "st.local";
      p.offset = f_.buffers[ref.buffer].offset;
      break;
    default:
      // Distinct parameters do not overlap unless neither is written, so buffers that this program
      // does not write do not change while it runs.
      p.space = ".global", p.store = "st.global";
      p.load = f_.buffers[ref.buffer].written ? "ld.global" : "ld.global.nc";
  }
  address(p, p_.operand(id, 0));
  return p;
}

void Emitter::load_op(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const uint32_t size = size_of(p_.buffers[ref.buffer].element);
  const ValueId v = p_.result(id);
  if (f_.uses[v] == 0) return;
  Text p;
  if (!ref.in_bounds) p = inside(ref.buffer, p_.operand(id, 0), 0);
  Place place = place_of(id, size);
  place.inside = p;
  load_element(place, 0, dest(v));
}

void Emitter::store_op(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const uint32_t size = size_of(p_.buffers[ref.buffer].element);
  Text p;
  if (!ref.in_bounds) p = inside(ref.buffer, p_.operand(id, 0), 0);
  Place place = place_of(id, size);
  place.inside = p;
  store_element(place, 0, p_.operand(id, 1));
}

/// A little-endian value at any byte: one access where the address is aligned, else byte by byte.
void Emitter::load_as(OpId id) {
  const Op& o = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const Type t = o.type;
  const uint32_t size = size_of(t);
  const ValueId v = p_.result(id);
  if (f_.uses[v] == 0) return;
  Text p;
  if (!ref.in_bounds) p = inside_bytes(ref.buffer, p_.operand(id, 0), size);
  Place place = place_of(id, 1);
  place.inside = p;
  place.element = t;
  if (size == 1 || (1u << ref.align_log2) >= size) return load_element(place, 0, dest(v));
  const bool is_long = size == 8;
  const std::string_view b = is_long ? "b64" : "b32";
  const auto bits = [&] { return is_long ? wide() : word(); };
  const Text raw = bits(), odd = pred();
  const uint32_t bytes = new_label(), end = new_label();
  ins("mov.{} {}, 0", b, raw);
  if (!p.empty()) ins("@!{} bra $L{}", p, end);
  const bool narrow_address = place.space == ".shared";
  const Text low = narrow_address ? word() : wide();
  const std::string_view a = narrow_address ? "b32" : "b64";
  ins("add.{} {}, {}, {}", narrow_address ? "u32" : "u64", low, place.address, place.offset);
  ins("and.{} {}, {}, {}", a, low, low, size - 1);
  ins("setp.ne.{} {}, {}, 0", a, odd, low);
  ins("@{} bra $L{}", odd, bytes);
  const std::string_view whole = size == 2 ? "u16" : b;
  ins("{}.{} {}, [{}+{}]", place.load, whole, raw, place.address, place.offset);
  ins("bra $L{}", end);
  label(bytes);
  for (uint32_t k = 0; k < size; ++k) {
    const Text one = bits();
    ins("{}.u8 {}, [{}+{}]", place.load, one, place.address, place.offset + k);
    if (k) ins("shl.{} {}, {}, {}", b, one, one, 8 * k);
    ins("or.{} {}, {}, {}", b, raw, raw, one);
  }
  label(end);
  if (is_float(t)) return ins("mov.{} {}, {}", b, dest(v), raw);
  size == 2 ? normalize(t, dest(v), raw) : move(t, dest(v), raw);
}

}  // namespace vyre::emit_ptx
