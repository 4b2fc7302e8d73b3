// The kernel's shared and private arrays, and tables.

#include <fmt/format.h>

#include <cstring>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

namespace {

/// Elements of private arrays that are zeroed by an initializer; drivers make a store of each.
constexpr uint32_t most_initialized = 64;

}  // namespace

/// The type that an array is declared with. Packed arrays are words; private narrow elements have a
/// word each.
Id Emitter::element_type(BufferId buffer) {
  const Buffer& b = p_.buffers[buffer];
  const uint32_t size = size_of(b.element);
  if (f_.packed[buffer] || (size < 4 && b.role == Role::Private)) return u32();
  if (size == 1) m_.capability(spv::CapabilityInt8);
  if (size == 2) m_.capability(spv::CapabilityInt16);
  return m_.type_int(size * 8);
}

uint32_t Emitter::elements(BufferId buffer) const {
  const uint64_t count = f_.buffers[buffer].count;
  if (!f_.packed[buffer]) return static_cast<uint32_t>(std::max<uint64_t>(count, 1));
  const uint64_t bytes = count * size_of(p_.buffers[buffer].element);
  return static_cast<uint32_t>(std::max<uint64_t>((bytes + 3) / 4, 1));
}

Id Emitter::array_of(BufferId buffer) {
  if (arrays_[buffer]) return arrays_[buffer];
  const Buffer& b = p_.buffers[buffer];
  const uint32_t count = elements(buffer);
  const Id element = element_type(buffer), type = m_.type_array(element, count);
  Id made = 0;
  switch (b.role) {
    case Role::Shared:
      made = m_.variable(spv::StorageClassWorkgroup, type);
      info_.shared_bytes +=
          f_.packed[buffer] ? uint64_t{4} * count : uint64_t{count} * size_of(b.element);
      break;
    case Role::Private:
      made = function_variable(type, count > most_initialized ? 0 : m_.constant_null(type));
      break;
    default: {
      const uint64_t bytes = f_.buffers[buffer].count * size_of(b.element);
      std::vector<Id> parts(count);
      for (uint64_t k = 0; k < count; ++k) {
        uint32_t word = 0;
        if (4 * k < bytes)
          std::memcpy(&word, p_.table_bytes.data() + b.table_offset + 4 * k,
                      std::min<uint64_t>(4, bytes - 4 * k));
        parts[k] = c32(word);
      }
      made = m_.variable(spv::StorageClassPrivate, type, m_.constant_composite(type, parts));
      m_.decorate(made, spv::DecorationNonWritable);
    }
  }
  if (options_.debug) m_.name(made, b.name);
  return arrays_[buffer] = made;
}

Id Emitter::shared_words(const char* name, uint32_t count) {
  return once({name}, [&] {
    const Id made = m_.variable(spv::StorageClassWorkgroup, m_.type_array(u32(), count));
    info_.shared_bytes += uint64_t{4} * count;
    if (options_.debug) m_.name(made, name);
    return made;
  });
}

/// Shared arrays are zeros when a workgroup begins.
void Emitter::clear_shared() {
  bool any = false;
  for (const BufferId i : p_.buffers.ids()) {
    if (p_.buffers[i].role != Role::Shared || !f_.buffers[i].needs_zeros) continue;
    if (f_.buffers[i].count == 0) continue;
    any = true;
    const uint32_t count = elements(i);
    const Id type = element_type(i), zero = m_.constant_null(type);
    Place place;
    place.buffer = i;
    place.space = Space::Shared;
    const auto clear = [&](Id index) {
      store(array_pointer(place, index), zero, Space::Shared, i, 0);
    };
    const Id first = linear_id();
    if (count <= f_.invocations) {
      const Id inside =
          count == f_.invocations ? 0 : ins(spv::OpULessThan, b(), {first, c32(count)});
      when(inside, [&] { clear(first); });
      continue;
    }
    // Every invocation clears one element and advances by the size of the workgroup.
    for_each(first, count, f_.invocations, clear);
  }
  if (any) control_barrier(spv::ScopeWorkgroup);
}

/// Calls body with first, first + step … below end.
void Emitter::for_each(Id first, uint32_t end, uint32_t step, const std::function<void(Id)>& body) {
  const Id head = label(), inside = label(), next = label(), exit = label(), before = here_;
  const Id following = m_.new_id();
  jump(head);
  begin(head);
  const Incoming from[] = {{first, before}, {following, next}};
  const Id at = phi(u32(), from);
  const Id more = ins(spv::OpULessThan, b(), {at, c32(end)});
  eff(spv::OpLoopMerge, {exit, next, 0});
  eff(spv::OpBranchConditional, {more, inside, exit});
  begin(inside);
  body(at);
  jump(next);
  begin(next);
  put(spv::OpIAdd, u32(), following, {at, c32(step)});
  jump(head);
  begin(exit);
}

/// Large private arrays are zeros when an invocation begins; small ones have an initializer.
void Emitter::clear_private() {
  for (const BufferId i : p_.buffers.ids()) {
    if (p_.buffers[i].role != Role::Private || !f_.buffers[i].needs_zeros) continue;
    if (elements(i) <= most_initialized) continue;
    Place place;
    place.buffer = i;
    place.space = Space::Private;
    const Id zero = m_.constant_null(element_type(i));
    for_each(c32(0), elements(i), 1,
             [&](Id at) { store(array_pointer(place, at), zero, Space::Private, i, 0); });
  }
}

}  // namespace vyre::emit_spirv
