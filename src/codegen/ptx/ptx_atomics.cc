// Atomics, each with its order and scope. Out of bounds nothing happens and the old value is 0.

#include "codegen/ptx/ptx_emitter.h"
#include "ir/eval/eval.h"

namespace vyre::emit_ptx {

void Emitter::atomic_op(OpId id) {
  const Op& o = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const Type t = o.type;
  const bool is_shared = p_.buffers[ref.buffer].role == Role::Shared;
  const std::string_view scope = is_shared || ref.scope != Scope::Grid ? "cta" : "gpu";
  const std::string_view order = ref.acq_rel ? "acq_rel" : "relaxed";
  Text p;
  if (!ref.in_bounds) p = inside(ref.buffer, p_.operand(id, 0), 0);
  Place place = place_of(id, size_of(t));
  place.inside = p;
  const Text at = fmt::format("[{}+{}]", place.address, place.offset);
  const Text g = guard(place);
  if (o.code == Opcode::AtomicStore)
    return ins("{}st.{}.{}{}.{} {}, {}", g, ref.acq_rel ? "release" : "relaxed", scope, place.space,
               bits_suffix(t), at, reg(p_.operand(id, 1)));
  const Text old = dest(p_.result(id));
  if (!p.empty()) move(t, old, immediate(t, 0));
  if (o.code == Opcode::AtomicLoad)
    return ins("{}ld.{}.{}{}.{} {}, {}", g, ref.acq_rel ? "acquire" : "relaxed", scope, place.space,
               bits_suffix(t), old, at);
  Text v = reg(p_.operand(id, 1));
  std::string_view what, how = bits_suffix(t);
  switch (o.code) {
    case Opcode::AtomicSub: {
      const Text minus = temp(t);
      ins("neg.{} {}, {}", width_of(t) == 64 ? "s64" : "s32", minus, v);
      v = minus;
      [[fallthrough]];
    }
    case Opcode::AtomicAdd:
      what = "add";
      how = t == Type::F32 ? "f32" : width_of(t) == 64 ? "u64" : "u32";
      break;
    case Opcode::AtomicMin: what = "min", how = suffix(t); break;
    case Opcode::AtomicMax: what = "max", how = suffix(t); break;
    case Opcode::AtomicAnd: what = "and"; break;
    case Opcode::AtomicOr: what = "or"; break;
    case Opcode::AtomicXor: what = "xor"; break;
    case Opcode::AtomicExchange: what = "exch"; break;
    default:
      return ins("{}atom.{}.{}{}.cas.{} {}, {}, {}, {}", g, order, scope, place.space, how, old, at,
                 v, reg(p_.operand(id, 2)));
  }
  const bool is_native = !is_shared || (t != Type::F32 && (width_of(t) == 32 || what == "exch"));
  if (!is_native || (t == Type::F32 && options_.exact_float_add))
    return swap_until_same({place, order, scope, what, how}, t, old, v);
  ins("{}atom.{}.{}{}.{}.{} {}, {}, {}", g, order, scope, place.space, what, how, old, at, v);
  if (t != Type::F32 || !is_visible(ref.buffer)) return;
  // An addition whose result is NaN stores the canonical NaN after it. No addition turns a NaN back
  // into a number, so the last write to the element is one of these stores.
  const Text sum = temp(t), is_nan = pred();
  ins("add.rn.f32 {}, {}, {}", sum, old, v);
  if (p.empty())
    ins("setp.nan.f32 {}, {}, {}", is_nan, sum, sum);
  else
    ins("setp.nan.and.f32 {}, {}, {}, {}", is_nan, sum, sum, p);
  ins("@{} st.relaxed.{}{}.b32 {}, {}", is_nan, scope, place.space, at, canonical_nan_f32);
}

/// Implements the op by a compare-and-swap loop. For f32 in global memory this keeps subnormals,
/// which the instruction flushes. Shared memory lacks instructions for f32 and 64 bits. There
/// ptxas inserts such a loop itself, but after its uniformity analysis: the counter of an enclosing
/// loop was seen to advance once for each part of a warp that had diverged in the inserted loop.
/// ptxas analyzes the loop that is written here.
void Emitter::swap_until_same(const Atomic& a, Type t, const Text& old, const Text& v) {
  const Text at = fmt::format("[{}+{}]", a.place.address, a.place.offset);
  const bool is_float = t == Type::F32;
  const auto bits_of = [&] { return width_of(t) == 64 ? wide() : word(); };
  const std::string_view bits = bits_suffix(t);
  const Text was = bits_of(), now = bits_of(), found = bits_of(), again = pred();
  const uint32_t loop = new_label(), end = new_label();
  if (!a.place.inside.empty()) ins("@!{} bra $L{}", a.place.inside, end);
  ins("ld.relaxed.{}{}.{} {}, {}", a.scope, a.place.space, bits, found, at);
  label(loop);
  ins("mov.{} {}, {}", bits, was, found);
  if (is_float) {
    const Text before = temp(t), sum = temp(t), is_nan = pred();
    ins("mov.b32 {}, {}", before, was);
    ins("add.rn.f32 {}, {}, {}", sum, before, v);
    ins("mov.b32 {}, {}", now, sum);
    ins("setp.nan.f32 {}, {}, {}", is_nan, sum, sum);
    ins("selp.b32 {}, {}, {}, {}", now, canonical_nan_f32, now, is_nan);
  } else {
    ins("{}.{} {}, {}, {}", a.what, a.how, now, was, v);
  }
  ins("atom.{}.{}{}.cas.{} {}, {}, {}, {}", a.order, a.scope, a.place.space, bits, found, at, was,
      now);
  ins("setp.ne.{} {}, {}, {}", bits, again, found, was);
  ins("@{} bra $L{}", again, loop);
  ins("mov.{} {}, {}", bits, old, was);
  label(end);
}

}  // namespace vyre::emit_ptx
