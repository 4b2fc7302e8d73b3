// Neighbouring elements at once: one access where all of them are inside and the address is known
// to be aligned; else one after the other.

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {

bool Emitter::as_vector(OpId id, uint32_t n) const {
  const MemoryRef ref = p_.memory(id);
  const uint32_t size = size_of(p_.buffers[ref.buffer].element), bytes = n * size;
  if ((1u << ref.align_log2) < bytes || bytes > 16 || (bytes & (bytes - 1)) != 0 || n < 2)
    return false;
  return size >= 4 || bytes >= 4;
}

void Emitter::load_n(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const auto results = p_.results(id);
  const auto n = static_cast<uint32_t>(results.size());
  const uint32_t size = size_of(p_.buffers[ref.buffer].element);
  const ValueId index = p_.operand(id, 0);
  Place place = place_of(id, size);
  for (const ValueId v : results) dest(v);
  const bool vector = as_vector(id, n);
  if (vector && ref.in_bounds) return load_vector(place, results);
  const uint32_t apart = new_label(), end = new_label();
  if (vector) {
    const Text first = inside(ref.buffer, index, 0), last = inside(ref.buffer, index, n - 1);
    if (!first.empty()) ins("@!{} bra $L{}", first, apart);
    if (!last.empty()) ins("@!{} bra $L{}", last, apart);
    load_vector(place, results);
    ins("bra $L{}", end);
    label(apart);
  }
  for (uint32_t k = 0; k < n; ++k) {
    place.inside = ref.in_bounds ? "" : inside(ref.buffer, index, k);
    load_element(place, k, dest(results[k]));
  }
  label(end);
}

void Emitter::store_n(OpId id) {
  const MemoryRef ref = p_.memory(id);
  const auto values = p_.operands(id).subspan(1);
  const auto n = static_cast<uint32_t>(values.size());
  const uint32_t size = size_of(p_.buffers[ref.buffer].element);
  const ValueId index = p_.operand(id, 0);
  Place place = place_of(id, size);
  const bool vector = as_vector(id, n);
  if (vector && ref.in_bounds) return store_vector(place, values);
  const uint32_t apart = new_label(), end = new_label();
  if (vector) {
    const Text first = inside(ref.buffer, index, 0), last = inside(ref.buffer, index, n - 1);
    if (!first.empty()) ins("@!{} bra $L{}", first, apart);
    if (!last.empty()) ins("@!{} bra $L{}", last, apart);
    store_vector(place, values);
    ins("bra $L{}", end);
    label(apart);
  }
  for (uint32_t k = 0; k < n; ++k) {
    place.inside = ref.in_bounds ? "" : inside(ref.buffer, index, k);
    store_element(place, k, values[k]);
  }
  label(end);
}

/// Elements of 4 and 8 bytes are loaded as a vector; narrower ones are extracted from words.
void Emitter::load_vector(const Place& p, std::span<const ValueId> results) {
  const uint32_t size = size_of(p.element);
  const Raw raw = raw_of(p.element);
  if (size >= 4) {
    std::string list;
    for (const ValueId v : results) list += (list.empty() ? "" : ", ") + dest(v);
    return ins("{}.v{}.{} {{{}}}, [{}+{}]", p.load, results.size(), raw.suffix, list, p.address,
               p.offset);
  }
  const size_t words = results.size() * size / 4, each = 4 / size;
  std::vector<Text> word_of(words);
  std::string list;
  for (Text& w : word_of) list += (list.empty() ? "" : ", ") + (w = word());
  if (words == 1)
    ins("{}.b32 {}, [{}+{}]", p.load, list, p.address, p.offset);
  else
    ins("{}.v{}.b32 {{{}}}, [{}+{}]", p.load, words, list, p.address, p.offset);
  for (size_t k = 0; k < results.size(); ++k) {
    const Text piece = word();
    ins("bfe.{} {}, {}, {}, {}", is_signed(p.element) ? "s32" : "u32", piece, word_of[k / each],
        k % each * size * 8, size * 8);
    from_raw(p.element, dest(results[k]), piece);
  }
}

void Emitter::store_vector(const Place& p, std::span<const ValueId> values) {
  const uint32_t size = size_of(p.element);
  const bool visible = is_visible(p.buffer);
  const auto in_register = [&](Type t, const Text& x) { return x[0] == '%' ? x : moved(t, x); };
  if (size >= 4) {
    std::string_view how = raw_of(p.element).suffix;
    Type as = p.element;
    if (visible && is_float(p.element)) {
      how = bits_suffix(p.element);
      as = size == 8 ? Type::U64 : Type::U32;
    }
    std::string list;
    for (const ValueId v : values)
      list += (list.empty() ? "" : ", ") + in_register(as, to_raw(p.element, v, visible));
    return ins("{}.v{}.{} [{}+{}], {{{}}}", p.store, values.size(), how, p.address, p.offset, list);
  }
  const size_t words = values.size() * size / 4, each = 4 / size;
  std::string list;
  for (size_t w = 0; w < words; ++w) {
    Text all;
    for (size_t k = 0; k < each; ++k) {
      const Text piece = word();
      const Text raw = in_register(Type::U32, to_raw(p.element, values[w * each + k], visible));
      ins("and.b32 {}, {}, {}", piece, raw, low_mask(size * 8));
      if (k) ins("shl.b32 {}, {}, {}", piece, piece, k * size * 8);
      if (k) ins("or.b32 {}, {}, {}", piece, piece, all);
      all = piece;
    }
    list += (list.empty() ? "" : ", ") + all;
  }
  if (words == 1) return ins("{}.b32 [{}+{}], {}", p.store, p.address, p.offset, list);
  ins("{}.v{}.b32 [{}+{}], {{{}}}", p.store, words, p.address, p.offset, list);
}

}  // namespace vyre::emit_ptx
