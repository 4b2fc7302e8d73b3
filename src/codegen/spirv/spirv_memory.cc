// Addresses and bounds of accesses: a bool tells whether the index, as a number, is below the
// length. A load outside returns 0 and a store outside writes nothing. One comparison of 32 bits
// suffices for most indices, because the length is clamped to the index's range once, at the start
// (where that pays).

#include <fmt/format.h>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {
namespace {

/// A comparison of 64 bits takes two instructions on most devices; cutting the length takes more.
constexpr uint32_t most_wide_tests = 3;

}  // namespace

Emitter::Space Emitter::space_of(BufferId buffer) const {
  switch (p_.buffers[buffer].role) {
    case Role::Shared: return Space::Shared;
    case Role::Private: return Space::Private;
    case Role::Table: return Space::Table;
    default: return Space::Buffer;
  }
}

/// The limit that an index of 32 bits is compared with, computed once. For signed and narrow types
/// it is at most 2^31, so a negative index, read as unsigned, is above it. Without 64-bit integers
/// there are fewer than 2^32 elements.
Id Emitter::limit32(BufferId buffer) {
  return once({"limit of", f_.buffers[buffer].length_of}, [&] {
    const Wide count = count_of(buffer);
    if (has64()) {
      const Id most = m_.constant64(1ull << 31);
      const Id less = ins(spv::OpULessThan, b(), {count.low, most});
      const Id low = ins(spv::OpSelect, u64(), {less, count.low, most});
      return ins(spv::OpUConvert, u32(), {low});
    }
    const Id many = ins(spv::OpINotEqual, b(), {count.high, c32(0)});
    return ins(spv::OpSelect, u32(), {many, c32(~0u), count.low});
  });
}

/// Returns a bool: index + plus, in exact integers, is below the buffer's length. 0: always true.
Id Emitter::inside(BufferId buffer, ValueId index, uint32_t plus) {
  const bool is_array = !is_parameter(p_.buffers[buffer].role);
  const uint64_t count = f_.buffers[buffer].count;
  if (const auto c = constant(index); c && is_array)
    return is_inside(p_.type(index), *c, plus, count) ? 0 : never_ = bit(false);
  if (is_array && is_always_inside(p_.type(index), plus, count)) return 0;
  if (!is_array) buffer = f_.buffers[buffer].length_of;
  return known({Fact::Inside, buffer, plus, get(index), p_.type(index)},
               [&] {
                 const bool short_index = plus == 0 && width_of(p_.type(index)) <= 32;
                 if (is_array && short_index)  // at most 2^31 elements
                   return Wide{
                       ins(spv::OpULessThan, b(), {get(index), c32(static_cast<uint32_t>(count))}),
                       0};
                 return Wide{
                     short_index ? inside_short(buffer, index) : inside_wide(buffer, index, plus),
                     0};
               })
      .low;
}

/// For an index of at most 32 bits, of the first buffer with this length.
Id Emitter::inside_short(BufferId buffer, ValueId index) {
  const Id i = get(index);
  if (p_.type(index) != Type::U32 || !has64())
    return ins(spv::OpULessThan, b(), {i, limit32(buffer)});
  if (f_.buffers[buffer].has_len)  // it fits
    return ins(spv::OpULessThan, b(), {i, low_count(buffer)});
  if (f_.buffers[buffer].tests <= most_wide_tests) return inside_wide(buffer, index, 0);
  // With 2^32 elements and more all indices are inside. So the index is compared with the last one.
  const Id some = once({"some", buffer}, [&] {
    return ins(spv::OpINotEqual, b(), {count_of(buffer).low, m_.constant64(0)});
  });
  const Id last = once({"last", buffer}, [&] {
    const Id end = ins(spv::OpISub, u64(), {count_of(buffer).low, m_.constant64(1)});
    const Id most = m_.constant64(~0u);
    const Id less = ins(spv::OpULessThan, b(), {end, most});
    const Id low = ins(spv::OpSelect, u64(), {less, end, most});
    return ins(spv::OpUConvert, u32(), {low});
  });
  return both(ins(spv::OpULessThanEqual, b(), {i, last}), some);
}

Id Emitter::inside_wide(BufferId buffer, ValueId index, uint32_t plus) {
  const Type t = p_.type(index);
  const Wide number = index_of(index, 1), count = count_of(buffer);
  if (plus == 0) return below(number, count);
  const Wide sum = add(number, wide(plus));
  const Id in = below(sum, count);
  // Only the sum of a u64 index can wrap, and is then outside; the sum of a signed index is exact.
  return t == Type::U64 ? both(in, negated(below(sum, number))) : in;
}

/// Returns a bool: `size` bytes at a byte offset are inside.
Id Emitter::inside_bytes(BufferId buffer, ValueId index, uint32_t size) {
  const uint32_t element = size_of(p_.buffers[buffer].element);
  const Wide bytes = once_wide({"bytes", buffer}, [&] { return times(count_of(buffer), element); });
  const Wide first = index_of(index, 1);
  if (size == 1) return below(first, bytes);
  const Wide last = add(first, wide(size - 1));
  const Id in = below(last, bytes);
  // A sum that wraps is outside, also for a negative offset.
  const Type t = p_.type(index);
  return t == Type::U64 || is_signed(t) ? both(in, negated(below(last, first))) : in;
}

Emitter::Wide Emitter::moved_by(Wide address, uint32_t bytes) {
  return bytes ? add(address, wide(bytes)) : address;
}

/// An index as a number, times the scale.
Emitter::Wide Emitter::index_of(ValueId index, uint32_t scale) {
  return known({Fact::Distance, none, scale, get(index), p_.type(index)}, [&] {
    if (scale != 1) return times(index_of(index, 1), scale);
    return wide_of(p_.type(index), get(index));
  });
}

Emitter::Wide Emitter::address(BufferId buffer, ValueId index, uint32_t scale) {
  const Wide base = pointer_of(buffer);
  // A negative index counts if elements after it are inside.
  if (const auto c = constant(index)) {
    const uint64_t number = index_number(p_.type(index), *c);
    return number ? add(base, wide(number * scale)) : base;
  }
  return known({Fact::Address, buffer, scale, get(index), p_.type(index)},
               [&] { return add(base, index_of(index, scale)); });
}

Id Emitter::index32(ValueId index) {
  const Id i = get(index);
  return width_of(p_.type(index)) == 64 ? ins(spv::OpUConvert, u32(), {i}) : i;
}

Id Emitter::pointer(Wide address, Id type) {
  const Id to = m_.type_pointer(spv::StorageClassPhysicalStorageBuffer, type);
  if (has64()) return ins(spv::OpConvertUToPtr, to, {address.low});
  return ins(spv::OpBitcast, to, {pair(address.low, address.high)});
}

/// A zero whose value and uniformity are hidden from the compiler.
Id Emitter::lane_zero() {
  return once({"lane zero"}, [&] {
    const Id lane = builtin_word(spv::BuiltInLocalInvocationIndex);
    return ins(spv::OpBitwiseAnd, u32(), {lane, param_word(zero_offset)});
  });
}

/// Mesa determines whether all invocations have the same address by following each path to the
/// inputs of the computation, of which there may be 2^n. It follows the first operand of a sum
/// first, so a lane-dependent zero there ends the search.
Id Emitter::element_pointer(Wide address, Id type) {
  if (options_.profile.uniform_addresses) return pointer(address, type);
  const Wide zero = once_wide({"wide lane zero"}, [&] { return wide_of(Type::U32, lane_zero()); });
  return pointer(add(zero, address), type);
}

Id Emitter::array_pointer(const Place& p, Id index) {
  if (!options_.profile.uniform_addresses && p.space == Space::Shared)
    index = ins(spv::OpIAdd, u32(), {lane_zero(), index});
  const spv::StorageClass c = p.space == Space::Shared    ? spv::StorageClassWorkgroup
                              : p.space == Space::Private ? spv::StorageClassFunction
                                                          : spv::StorageClassPrivate;
  const Id array = array_of(p.buffer);
  return ins(spv::OpAccessChain, m_.type_pointer(c, element_type(p.buffer)), {array, index});
}

bool Emitter::is_shared_order(BufferId buffer) const {
  return f_.orders && f_.buffers[buffer].written;
}

Id Emitter::load(Id pointer, Id type, Space space, BufferId buffer, uint32_t align) {
  if (space == Space::Buffer) {
    uint32_t how = spv::MemoryAccessAlignedMask;
    if (is_shared_order(buffer)) how |= spv::MemoryAccessNonPrivatePointerMask;
    return ins(spv::OpLoad, type, {pointer, how, align});
  }
  if (space == Space::Shared)
    return ins(spv::OpLoad, type, {pointer, spv::MemoryAccessNonPrivatePointerMask});
  return ins(spv::OpLoad, type, {pointer});
}

void Emitter::store(Id pointer, Id value, Space space, BufferId buffer, uint32_t align) {
  if (space == Space::Buffer) {
    uint32_t how = spv::MemoryAccessAlignedMask;
    if (is_shared_order(buffer)) how |= spv::MemoryAccessNonPrivatePointerMask;
    return eff(spv::OpStore, {pointer, value, how, align});
  }
  if (space == Space::Shared)
    return eff(spv::OpStore, {pointer, value, spv::MemoryAccessNonPrivatePointerMask});
  eff(spv::OpStore, {pointer, value});
}

/// Everything but the bool.
Emitter::Place Emitter::place_of(OpId id) {
  Place p;
  p.buffer = p_.memory(id).buffer;
  p.space = space_of(p.buffer);
  p.element = p_.buffers[p.buffer].element;
  if (p.space == Space::Buffer)
    p.address = address(p.buffer, p_.operand(id, 0), size_of(p.element));
  else
    p.index = index32(p_.operand(id, 0));
  return p;
}

void Emitter::load_op(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const ValueId v = p_.result(id);
  if (f_.uses[v] == 0) return;
  const Id in = ref.in_bounds ? 0 : inside(ref.buffer, p_.operand(id, 0), 0);
  if (is_outside_always(in)) return set(v, zero_of(p_.type(v)));
  Place place = place_of(id);
  place.inside = in;
  set(v, load_element(place, 0));
}

void Emitter::store_op(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const Id in = ref.in_bounds ? 0 : inside(ref.buffer, p_.operand(id, 0), 0);
  if (is_outside_always(in)) return;
  Place place = place_of(id);
  const Id raw = to_raw(place.element, p_.operand(id, 1), is_visible(ref.buffer));
  when(if_alive(in), [&] { store_element(place, 0, raw); });
}

/// A little-endian value at any byte: one access where the address is aligned, else composed from
/// the words that hold its bytes.
void Emitter::load_as(OpId id) {
  const Type t = p_.op(id).type;
  const MemoryRef ref = p_.memory(id);
  const ValueId v = p_.result(id), index = p_.operand(id, 0);
  const uint32_t size = size_of(t);
  if (f_.uses[v] == 0) return;
  Place place;
  place.buffer = ref.buffer;
  place.space = space_of(ref.buffer);
  place.element = t;
  const Id in = ref.in_bounds ? 0 : inside_bytes(ref.buffer, index, size);
  const bool is_buffer = place.space == Space::Buffer;
  const bool aligned = (1u << ref.align_log2) >= size;
  if (is_buffer && (size == 1 || aligned) && (size >= 4 || has_narrow(size))) {
    place.address = address(ref.buffer, index, 1);
    place.inside = in;
    return set(v, load_element(place, 0));
  }
  const Id type = size == 8 ? raw_type(t) : u32();
  const Id raw = when_value(in, type, [&] {
    Id byte = 0, word = 0;
    Wide base;
    if (is_buffer) {
      const Wide at = address(ref.buffer, index, 1);
      byte = low_word(at);
      base = has64() ? Wide{ins(spv::OpBitwiseAnd, u64(), {at.low, m_.constant64(~3ull)}), 0}
                     : Wide{ins(spv::OpBitwiseAnd, u32(), {at.low, c32(~3u)}), at.high};
    } else {
      byte = index32(index);
      word = ins(spv::OpShiftRightLogical, u32(), {byte, c32(2)});
    }
    const auto word_of = [&](uint32_t k) {
      if (is_buffer)
        return load(element_pointer(moved_by(base, 4 * k), u32()), u32(), Space::Buffer, ref.buffer,
                    4);
      return word_at(place, k ? ins(spv::OpIAdd, u32(), {word, c32(k)}) : word);
    };
    const Id low = ins(spv::OpBitwiseAnd, u32(), {byte, c32(3)});
    const Id bits = ins(spv::OpShiftLeftLogical, u32(), {low, c32(3)});
    const uint32_t n = size < 4 ? 1 : size / 4;
    Id all[3];
    for (uint32_t k = 0; k < n; ++k) all[k] = word_of(k);
    if (size > 1 && !aligned) {
      const Id crosses = size == 2 ? ins(spv::OpIEqual, b(), {low, c32(3)})
                                   : ins(spv::OpINotEqual, b(), {low, c32(0)});
      all[n] = when_value(crosses, u32(), [&] { return word_of(n); });
      const Id up = ins(spv::OpISub, u32(), {c32(31), bits});
      for (uint32_t k = 0; k < n; ++k) {
        const Id here = ins(spv::OpShiftRightLogical, u32(), {all[k], bits});
        const Id twice = ins(spv::OpShiftLeftLogical, u32(), {all[k + 1], c32(1)});
        const Id there = ins(spv::OpShiftLeftLogical, u32(), {twice, up});
        all[k] = ins(spv::OpBitwiseOr, u32(), {here, there});
      }
    } else if (size < 4) {
      all[0] = ins(spv::OpShiftRightLogical, u32(), {all[0], bits});
    }
    if (size == 8) return ins(spv::OpBitcast, type, {pair(all[0], all[1])});
    if (size == 4) return all[0];
    const Type as = t == Type::Bool || is_storage_only(t) ? (size == 1 ? Type::U8 : Type::U16) : t;
    return normalize(as, all[0]);
  });
  set(v, from_raw(t, raw));
}

}  // namespace vyre::emit_spirv
