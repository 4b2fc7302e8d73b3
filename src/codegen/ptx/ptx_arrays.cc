// The kernel's shared and private arrays, and tables.

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {
namespace {

constexpr uint64_t unrolled_clear = 256;  // bytes of local memory that are cleared without a loop

}  // namespace

/// Shared arrays are zero when a workgroup begins, private ones when an invocation does.
void Emitter::clear_arrays() {
  uint64_t first = ~uint64_t{0}, end = 0;
  for (const BufferId i : p_.buffers.ids()) {
    const BufferAnalysis& b = f_.buffers[i];
    const uint64_t bytes = (b.count * size_of(p_.buffers[i].element) + 15) / 16 * 16;
    if (!b.needs_zeros || bytes == 0) continue;
    if (p_.buffers[i].role == Role::Shared) {
      first = std::min(first, b.offset);
      end = std::max(end, b.offset + bytes);
    } else if (p_.buffers[i].role == Role::Private) {
      const Text base = pointer_of(i);
      if (bytes <= unrolled_clear) {
        for (uint64_t at = 0; at < bytes; at += 16)
          ins("st.local.v4.b32 [{}+{}], {{0, 0, 0, 0}}", base, b.offset + at);
        continue;
      }
      const Text at = wide(), last = wide(), more = pred();
      const uint32_t loop = new_label();
      ins("add.u64 {}, {}, {}", at, base, b.offset);
      ins("add.u64 {}, {}, {}", last, at, bytes);
      label(loop);
      ins("st.local.v4.b32 [{}], {{0, 0, 0, 0}}", at);
      ins("add.u64 {}, {}, 16", at, at);
      ins("setp.lt.u64 {}, {}, {}", more, at, last);
      ins("@{} bra $L{}", more, loop);
    }
  }
  if (uses_pairs()) {  // turns begin at zero
    first = std::min(first, pair_turns_);
    end = info_.static_shared_bytes + info_.dynamic_shared_bytes;
  }
  if (first >= end) return;
  // Every thread clears 16 bytes and advances by the size of the workgroup.
  const uint64_t bytes = (end - first + 15) / 16 * 16, step = uint64_t{16} * f_.invocations;
  const Text at = word(), last = word(), more = pred();
  // Named in order: the evaluation order of arguments is unspecified.
  const Text base = shared_base(), thread = linear_id();
  ins("mad.lo.u32 {}, {}, 16, {}", at, thread, base);
  ins("add.u32 {}, {}, {}", last, base, first + bytes);
  if (first) ins("add.u32 {}, {}, {}", at, at, first);
  if (bytes <= step) {
    if (bytes < step) {
      ins("setp.lt.u32 {}, {}, {}", more, at, last);
      ins("@{} st.shared.v4.b32 [{}], {{0, 0, 0, 0}}", more, at);
    } else {
      ins("st.shared.v4.b32 [{}], {{0, 0, 0, 0}}", at);
    }
  } else {
    const uint32_t loop = new_label(), done = new_label();
    label(loop);
    ins("setp.ge.u32 {}, {}, {}", more, at, last);
    ins("@{} bra $L{}", more, done);
    ins("st.shared.v4.b32 [{}], {{0, 0, 0, 0}}", at);
    ins("add.u32 {}, {}, {}", at, at, step);
    ins("bra $L{}", loop);
    label(done);
  }
  ins("bar.sync 0");
}

/// Tables and shared memory, outside of the entry.
void Emitter::arrays() {
  for (const BufferId i : p_.buffers.ids()) {
    if (!once_.contains(fmt::format("pointer {}", i.value())) || p_.buffers[i].role != Role::Table)
      continue;
    const uint64_t bytes = f_.buffers[i].count * size_of(p_.buffers[i].element);
    const uint64_t from = p_.buffers[i].table_offset;
    append(head_, ".global .align 16 .b8 vyre_table_{}[{}] = {{", i.value(),
           std::max<uint64_t>(bytes, 1));
    for (uint64_t k = 0; k < bytes; ++k)
      append(head_, "{}{}",
             k == 0   ? ""
             : k % 32 ? ","
                      : ",\n",
             static_cast<unsigned>(p_.table_bytes[from + k]));
    head_ += bytes ? "};\n" : "0};\n";
  }
  if (info_.dynamic_shared_bytes)
    head_ += ".extern .shared .align 16 .b8 vyre_shared[];\n";
  else if (info_.static_shared_bytes)
    append(head_, ".shared .align 16 .b8 vyre_shared[{}];\n", info_.static_shared_bytes);
}

}  // namespace vyre::emit_ptx
