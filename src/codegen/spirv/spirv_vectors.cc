// Neighbouring elements at once: one access where all of them are inside and the address is known
// to be aligned; else one after the other.

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

bool Emitter::as_vector(OpId id, uint32_t n) const {
  const MemoryRef ref = p_.memory(id);
  if (space_of(ref.buffer) != Space::Buffer || n < 2) return false;
  const uint32_t size = size_of(p_.buffers[ref.buffer].element), bytes = n * size;
  return (1u << ref.align_log2) >= bytes && bytes >= 4 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

/// Returns a bool: all n elements are inside. With a negative index the last element may be inside
/// while the first is not.
Id Emitter::inside_all(BufferId buffer, ValueId index, uint32_t n) {
  const Id last = inside(buffer, index, n - 1);
  return is_signed(p_.type(index)) ? both(inside(buffer, index, 0), last) : last;
}

void Emitter::load_n(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const auto results = p_.results(id);
  const auto n = static_cast<uint32_t>(results.size());
  const ValueId index = p_.operand(id, 0);
  Place place = place_of(id);
  const auto each = [&] {
    std::vector<Id> all;
    for (uint32_t k = 0; k < n; ++k) {
      place.inside = ref.in_bounds ? 0 : inside(ref.buffer, index, k);
      all.push_back(is_outside_always(place.inside) ? zero_of(p_.type(results[k]))
                                                    : load_element(place, k));
    }
    return all;
  };
  const auto give = [&](const std::vector<Id>& all) {
    for (uint32_t k = 0; k < n; ++k) set(results[k], all[k]);
  };
  if (!as_vector(id, n)) return give(each());
  if (ref.in_bounds) return give(load_vector(place, n));
  const Id whole = inside_all(ref.buffer, index, n), yes = label(), no = label(), end = label();
  eff(spv::OpSelectionMerge, {end, 0});
  eff(spv::OpBranchConditional, {whole, yes, no});
  begin(yes);
  const std::vector<Id> together = load_vector(place, n);
  const Id yes_end = here_;
  jump(end);
  begin(no);
  std::vector<Id> alone;
  apart([&] { alone = each(); });
  const Id no_end = here_;
  jump(end);
  begin(end);
  for (uint32_t k = 0; k < n; ++k) {
    const Incoming from[] = {{together[k], yes_end}, {alone[k], no_end}};
    set(results[k], phi(type_of(p_.type(results[k])), from));
  }
}

void Emitter::store_n(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const auto values = p_.operands(id).subspan(1);
  const auto n = static_cast<uint32_t>(values.size());
  const ValueId index = p_.operand(id, 0);
  const Place place = place_of(id);
  std::vector<Id> raw;
  for (const ValueId v : values) raw.push_back(to_raw(place.element, v, is_visible(ref.buffer)));
  const auto each = [&] {
    for (uint32_t k = 0; k < n; ++k) {
      const Id in = ref.in_bounds ? 0 : inside(ref.buffer, index, k);
      if (!is_outside_always(in)) when(if_alive(in), [&] { store_element(place, k, raw[k]); });
    }
  };
  if (!as_vector(id, n)) return each();
  if (ref.in_bounds) return when(alive(), [&] { store_vector(place, raw); });
  const Id whole = inside_all(ref.buffer, index, n), yes = label(), no = label(), end = label();
  eff(spv::OpSelectionMerge, {end, 0});
  eff(spv::OpBranchConditional, {whole, yes, no});
  begin(yes);
  when(alive(), [&] { store_vector(place, raw); });
  jump(end);
  begin(no);
  apart(each);
  jump(end);
  begin(end);
}

/// Loads all elements as words, from which wide elements are composed and narrow ones extracted.
std::vector<Id> Emitter::load_vector(const Place& p, uint32_t n) {
  const uint32_t size = size_of(p.element), bytes = n * size, count = bytes / 4;
  const Id type = words(count);
  const Id all = load(element_pointer(p.address, type), type, p.space, p.buffer, bytes);
  std::vector<Id> word(count, all);
  if (count > 1)
    for (uint32_t k = 0; k < count; ++k) word[k] = part(all, k);
  std::vector<Id> values;
  for (uint32_t k = 0; k < n; ++k) {
    if (size == 8) {
      const Id halves = pair(word[2 * k], word[2 * k + 1]);
      values.push_back(from_raw(p.element, ins(spv::OpBitcast, u64(), {halves})));
      continue;
    }
    if (size == 4) {
      values.push_back(from_raw(p.element, word[k]));
      continue;
    }
    const uint32_t each = 4 / size, shift = k % each * size * 8;
    Id raw = word[k / each];
    if (shift) raw = ins(spv::OpShiftRightLogical, u32(), {raw, c32(shift)});
    const Type as = is_integer(p.element) ? p.element : size == 1 ? Type::U8 : Type::U16;
    values.push_back(from_raw(p.element, normalize(as, raw)));
  }
  return values;
}

void Emitter::store_vector(const Place& p, std::span<const Id> raw) {
  const auto n = static_cast<uint32_t>(raw.size());
  const uint32_t size = size_of(p.element), bytes = n * size, count = bytes / 4;
  std::vector<Id> word;
  for (uint32_t k = 0; k < n; ++k) {
    if (size == 8) {
      const Id halves = ins(spv::OpBitcast, words(2), {raw[k]});
      word.push_back(part(halves, 0));
      word.push_back(part(halves, 1));
      continue;
    }
    if (size == 4) {
      word.push_back(raw[k]);
      continue;
    }
    const uint32_t each = 4 / size, shift = k % each * size * 8;
    Id piece = raw[k];
    if (shift + size * 8 < 32)
      piece =
          ins(spv::OpBitwiseAnd, u32(), {piece, c32(static_cast<uint32_t>(low_mask(size * 8)))});
    if (shift == 0) {
      word.push_back(piece);
      continue;
    }
    piece = ins(spv::OpShiftLeftLogical, u32(), {piece, c32(shift)});
    word.back() = ins(spv::OpBitwiseOr, u32(), {word.back(), piece});
  }
  Id all = word[0];
  const Id type = words(count);
  if (count > 1) {
    all = m_.new_id();
    put(spv::OpCompositeConstruct, type, all, word);
  }
  store(element_pointer(p.address, type), all, p.space, p.buffer, bytes);
}

}  // namespace vyre::emit_spirv
