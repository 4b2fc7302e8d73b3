// Subgroups of 64 lanes are two warps that exchange values in shared memory: each lane has a slot
// for a value and a turn number. A lane that exits sets its turn above all others, so no lane waits
// for it, and it counts as missing.
//
// Both warps are resident and threads make independent progress (sm_70 and later), so waiting ends.
// The hardware's named barriers are not used: there are too few, and they would wait for lanes that
// trapped.

#include "codegen/ptx/ptx_emitter.h"
#include "ir/eval/reduction_step.h"

namespace vyre::emit_ptx {

/// Waits for all lanes of the subgroup. Orders memory between them.
void Emitter::pair_sync() {
  if (pair_turn_.empty()) {
    pair_turn_ = word();
    at_start([&] { ins("mov.u32 {}, 0", pair_turn_); });
  }
  const Text own = once("turn", [&] {
    Text r = word();
    // Named in order: the evaluation order of arguments is unspecified.
    const Text base = shared_base();
    ins("mad.lo.u32 {}, {}, 4, {}", r, linear_id(), base);
    return r;
  });
  const Text first = once("first turn", [&] {
    Text r = word();
    ins("and.b32 {}, {}, 0xffffffc0", r, linear_id());
    ins("mad.lo.u32 {}, {}, 4, {}", r, r, shared_base());
    return r;
  });
  const Text end = once("last turn", [&] {  // of those that exist
    Text r = word();
    ins("and.b32 {}, {}, 0xffffffc0", r, linear_id());
    ins("add.u32 {}, {}, 64", r, r);
    ins("min.u32 {}, {}, {}", r, r, f_.invocations);
    ins("mad.lo.u32 {}, {}, 4, {}", r, r, shared_base());
    return r;
  });
  const Text at = word(), turn = word(), p = pred();
  const uint32_t loop = new_label();
  ins("add.u32 {}, {}, 1", pair_turn_, pair_turn_);
  ins("st.release.cta.shared.u32 [{}+{}], {}", own, pair_turns_, pair_turn_);
  ins("mov.u32 {}, {}", at, first);
  label(loop);
  ins("ld.acquire.cta.shared.u32 {}, [{}+{}]", turn, at, pair_turns_);
  ins("setp.lt.u32 {}, {}, {}", p, turn, pair_turn_);
  ins("@{} bra $L{}", p, loop);
  ins("add.u32 {}, {}, 4", at, at);
  ins("setp.lt.u32 {}, {}, {}", p, at, end);
  ins("@{} bra $L{}", p, loop);
}

void Emitter::pair_put(Type t, const Text& v) {
  const Text own = once("slot", [&] {
    Text r = word();
    const Text base = shared_base();
    ins("mad.lo.u32 {}, {}, 8, {}", r, linear_id(), base);
    return r;
  });
  if (t == Type::Bool) {
    const Text flag = word();
    ins("selp.u32 {}, 1, 0, {}", flag, v);
    ins("st.shared.u32 [{}+{}], {}", own, pair_slots_, flag);
  } else {
    ins("st.shared.{} [{}+{}], {}", suffix(t), own, pair_slots_, v);
  }
  pair_sync();
}

Emitter::Text Emitter::pair_get(Type t, const Text& from, Text* exists) {
  const Text group = once("pair", [&] {
    Text r = word();
    ins("and.b32 {}, {}, 0xffffffc0", r, linear_id());
    return r;
  });
  const Text number = word(), at = word();
  ins("add.u32 {}, {}, {}", number, group, from);
  ins("mad.lo.u32 {}, {}, 8, {}", at, number, shared_base());
  Text result = temp(t);
  if (t == Type::Bool) {
    const Text flag = word();
    ins("ld.shared.u32 {}, [{}+{}]", flag, at, pair_slots_);
    ins("setp.ne.u32 {}, {}, 0", result, flag);
  } else {
    ins("ld.shared.{} {}, [{}+{}]", suffix(t), result, at, pair_slots_);
  }
  if (!may_lack_lanes()) return result;
  *exists = pred();
  const Text turn_at = word(), turn = word();
  ins("mad.lo.u32 {}, {}, 4, {}", turn_at, number, shared_base());
  ins("ld.shared.u32 {}, [{}+{}]", turn, turn_at, pair_turns_);
  ins("setp.lt.u32 {}, {}, {}", *exists, number, f_.invocations);
  ins("setp.ne.and.u32 {}, {}, 0xffffffff, {}", *exists, turn, *exists);
  return result;
}

/// Every lane reads all values and combines them as a tree over halves, which is equivalent to the
/// steps of the definition.
void Emitter::pair_reduce(Opcode code, Type t, const Text& to, Text v) {
  pair_put(t, v);
  std::vector<Text> values;
  const Text nothing = t == Type::Bool ? bool_constant(code == Opcode::SubgroupAnd)
                                       : immediate(t, reduction_identity(code, t));
  for (uint32_t l = 0; l < 64; ++l) {
    Text exists;
    Text x = pair_get(t, fmt::format("{}", l), &exists);
    if (!exists.empty()) {
      const Text chosen = temp(t);
      select(t, chosen, exists, x, nothing);
      x = chosen;
    }
    values.push_back(std::move(x));
  }
  pair_sync();
  for (uint32_t d = 32; d > 0; d /= 2)
    for (uint32_t l = 0; l < d; ++l) {
      const Text both = temp(t), in[] = {values[l], values[l + d]};
      compute(reduction_step(code), t, both, in);
      values[l] = both;
    }
  move(t, to, values[0]);
}

void Emitter::pair_scan(Type t, const Text& to, Text v) {
  const Text zero = immediate(t, 0);
  const auto below = [&](uint32_t d, const Text& there) {
    pair_put(t, v);
    const Text from = word();
    ins("sub.u32 {}, {}, {}", from, lane(), d);
    ins("and.b32 {}, {}, 63", from, from);
    Text exists, other = pair_get(t, from, &exists);
    pair_sync();
    ins("setp.ge.u32 {}, {}, {}", there, lane(), d);
    if (exists.empty()) return other;
    const Text chosen = temp(t);
    select(t, chosen, exists, other, zero);
    return chosen;
  };
  scan_steps(t, to, v, 64, below);
}

/// Bits of the lanes for which v holds, and of those that are there.
void Emitter::pair_ballot(const Text& v, const Text& yes, const Text& live) {
  pair_put(Type::Bool, v);
  const Text at = word(), bit = wide(), both = wide(), p = pred();
  const uint32_t loop = new_label();
  ins("mov.u64 {}, 0", yes);
  ins("mov.u64 {}, 0", live);
  ins("mov.u64 {}, 1", bit);
  ins("mov.u32 {}, 0", at);
  label(loop);
  Text exists;
  const Text flag = pair_get(Type::Bool, at, &exists);
  if (exists.empty()) exists = bool_constant(true);
  ins("selp.b64 {}, {}, 0, {}", both, bit, exists);
  ins("or.b64 {}, {}, {}", live, live, both);
  ins("selp.b64 {}, {}, 0, {}", both, both, flag);
  ins("or.b64 {}, {}, {}", yes, yes, both);
  ins("shl.b64 {}, {}, 1", bit, bit);
  ins("add.u32 {}, {}, 1", at, at);
  ins("setp.lt.u32 {}, {}, 64", p, at);
  ins("@{} bra $L{}", p, loop);
  pair_sync();
}

}  // namespace vyre::emit_ptx
