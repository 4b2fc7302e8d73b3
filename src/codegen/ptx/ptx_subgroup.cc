// Subgroups of up to 32 lanes: a warp, or an aligned part of one, since both count invocations in
// linear order. Instructions name only the lanes of their subgroup, because other lanes of the same
// warp may be elsewhere. Subgroups of 64 lanes are in ptx_subgroup_pair.cc.
//
// Lanes may be missing: the last subgroup may be partial, and lanes that trapped have exited. They
// contribute the identity, and continue to take part in the definition of a reduction. After a step
// with distance d all lanes with the same number modulo d have the same value. So the value of a
// missing lane is read from any other lane with its number; if there is none, nothing was combined.

#include "codegen/ptx/ptx_emitter.h"
#include "ir/eval/eval.h"
#include "ir/eval/reduction_step.h"

namespace vyre::emit_ptx {

Emitter::Text Emitter::warp_lane() { return special("%laneid"); }

Emitter::Text Emitter::lane() {
  if (f_.lanes == 32) return warp_lane();
  return once("lane", [&] {
    Text r = word();
    ins("and.b32 {}, {}, {}", r, linear_id(), f_.lanes - 1);
    return r;
  });
}

Emitter::Text Emitter::segment() {
  if (f_.lanes >= 32) return "0";
  return once("segment", [&] {
    Text r = word();
    ins("and.b32 {}, {}, {}", r, warp_lane(), 31 & ~(f_.lanes - 1));
    return r;
  });
}

/// The threads of the warp that exist: of the last one only some may.
Emitter::Text Emitter::warp_mask() {
  if (f_.invocations % 32 == 0) return "0xffffffff";
  return once("warp", [&] {
    const Text first = word(), count = word(), missing = word();
    Text there = word();
    ins("and.b32 {}, {}, 0xffffffe0", first, linear_id());
    ins("sub.u32 {}, {}, {}", count, f_.invocations, first);
    ins("min.u32 {}, {}, 32", count, count);
    ins("sub.u32 {}, 32, {}", missing, count);
    ins("mov.u32 {}, 0xffffffff", there);
    ins("shr.u32 {}, {}, {}", there, there, missing);
    return there;
  });
}

Emitter::Text Emitter::member_mask() {
  if (f_.lanes >= 32) return warp_mask();
  return once("members", [&] {
    Text mask = moved(Type::U32, fmt::format("{}", low_mask(f_.lanes)));
    ins("shl.b32 {}, {}, {}", mask, mask, segment());
    if (f_.invocations % 32 != 0) ins("and.b32 {}, {}, {}", mask, mask, warp_mask());
    return mask;
  });
}

Emitter::Text Emitter::live_mask() {
  if (!f_.has_traps) return member_mask();
  Text r = word();
  // Named in order: the evaluation order of arguments is unspecified.
  const Text members = member_mask();
  ins("vote.sync.ballot.b32 {}, {}, {}", r, bool_constant(true), members);
  return r;
}

/// The value of another lane of the warp. `from`: its number, or the mask that is xored to the
/// lane's own number.
Emitter::Text Emitter::shuffle(std::string_view mode, Type t, const Text& v, const Text& from,
                               const Text& mask) {
  const auto one = [&](const Text& x) {
    Text r = word();
    ins("shfl.sync.{}.b32 {}, {}, {}, 31, {}", mode, r, x, from, mask);
    return r;
  };
  Text result = temp(t);
  switch (class_of(t)) {
    case Class::Pred: {
      const Text flag = word();
      ins("selp.u32 {}, 1, 0, {}", flag, v);
      ins("setp.ne.u32 {}, {}, 0", result, one(flag));
      break;
    }
    case Class::Long:
    case Class::Double: {
      const Text low = word(), high = word();
      ins("mov.b64 {{{}, {}}}, {}", low, high, v);
      const Text l = one(low), h = one(high);
      ins("mov.b64 {}, {{{}, {}}}", result, l, h);
      break;
    }
    case Class::Float: {
      const Text bits = word();
      ins("mov.b32 {}, {}", bits, v);
      ins("mov.b32 {}, {}", result, one(bits));
      break;
    }
    default: return one(v);
  }
  return result;
}

void Emitter::subgroup_op(OpId id) {
  const Op& o = p_.op(id);
  switch (o.code) {
    case Opcode::SubgroupBallot:
    case Opcode::SubgroupAny:
    case Opcode::SubgroupAll: return vote(id);
    case Opcode::SubgroupBroadcast:
    case Opcode::SubgroupShuffle:
    case Opcode::SubgroupShuffleUp:
    case Opcode::SubgroupShuffleDown:
    case Opcode::SubgroupShuffleXor: return move_lanes(id);
    default: break;
  }
  const ValueId v = p_.operand(id, 0);
  const Type t = p_.type(v);
  const Text to = dest(p_.result(id)), x = reg(v);
  if (o.code == Opcode::SubgroupScanAdd)
    return is_pair() ? pair_scan(t, to, x) : scan_add(t, to, x);
  if (is_pair()) return pair_reduce(o.code, t, to, x);
  if (t == Type::Bool) return reduce_bools(o.code, to, x);
  reduce(o.code, t, to, x);
}

void Emitter::reduce_bools(Opcode code, const Text& to, const Text& v) {
  const Text mask = member_mask();
  if (code == Opcode::SubgroupAnd) return ins("vote.sync.all.pred {}, {}, {}", to, v, mask);
  if (code == Opcode::SubgroupOr) return ins("vote.sync.any.pred {}, {}, {}", to, v, mask);
  const Text yes = word(), n = word();
  ins("vote.sync.ballot.b32 {}, {}, {}", yes, v, mask);
  ins("popc.b32 {}, {}", n, yes);
  ins("and.b32 {}, {}, 1", n, n);
  ins("setp.ne.u32 {}, {}, 0", to, n);
}

void Emitter::reduce(Opcode code, Type t, const Text& to, Text v) {
  const uint32_t lanes = f_.lanes;
  if (lanes == 1) return move(t, to, v);
  const Opcode step = reduction_step(code);
  const bool lacking = may_lack_lanes();
  const Text mask = member_mask(), live = lacking ? live_mask() : mask;
  for (uint32_t d = lanes / 2; d > 0; d /= 2) {
    Text other;
    if (!lacking) {
      other = shuffle("bfly", t, v, fmt::format("{}", d), mask);
    } else {
      uint32_t pattern = 0;  // lanes with the number 0 modulo 2d
      for (uint32_t l = 0; l < lanes; l += 2 * d) pattern |= 1u << l;
      const Text number = word(), those = word(), from = word(), some = pred();
      ins("xor.b32 {}, {}, {}", number, lane(), d);
      ins("and.b32 {}, {}, {}", number, number, 2 * d - 1);
      ins("add.u32 {}, {}, {}", number, number, segment());
      ins("mov.u32 {}, {}", those, pattern);
      ins("shl.b32 {}, {}, {}", those, those, number);
      ins("and.b32 {}, {}, {}", those, those, live);
      ins("setp.ne.u32 {}, {}, 0", some, those);
      ins("brev.b32 {}, {}", from, those);
      ins("clz.b32 {}, {}", from, from);
      const Text theirs = shuffle("idx", t, v, from, mask);
      other = temp(t);
      select(t, other, some, theirs, immediate(t, reduction_identity(code, t)));
    }
    const Text next = temp(t), in[] = {v, other};
    compute(step, t, next, in);
    v = next;
  }
  move(t, to, v);
}

void Emitter::scan_add(Type t, const Text& to, Text v) {
  const Text mask = member_mask(), live = f_.has_traps ? live_mask() : mask;
  const Text zero = immediate(t, 0);
  // The value `d` lanes below, 0 where that lane has trapped; `there`: it is in the subgroup.
  const auto below = [&](uint32_t d, const Text& there) {
    const Text from = word();
    ins("sub.u32 {}, {}, {}", from, warp_lane(), d);
    Text other = shuffle("idx", t, v, from, mask);
    ins("setp.ge.u32 {}, {}, {}", there, lane(), d);
    if (!f_.has_traps) return other;
    const Text bit = word(), lives = pred(), chosen = temp(t);
    ins("shr.u32 {}, {}, {}", bit, live, from);
    ins("and.b32 {}, {}, 1", bit, bit);
    ins("setp.ne.u32 {}, {}, 0", lives, bit);
    select(t, chosen, lives, other, zero);
    return chosen;
  };
  scan_steps(t, to, v, f_.lanes, below);
}

void Emitter::scan_steps(Type t, const Text& to, Text& v, uint32_t lanes,
                         const std::function<Text(uint32_t, const Text&)>& below) {
  for (uint32_t d = 1; d < lanes; d *= 2) {
    const Text there = pred(), other = below(d, there), sum = temp(t), next = temp(t);
    const Text in[] = {other, v};
    compute(Opcode::Add, t, sum, in);
    select(t, next, there, sum, v);
    v = next;
  }
  const Text there = pred(), other = below(1, there);
  select(t, to, there, other, immediate(t, 0));
}

void Emitter::vote(OpId id) {
  const Op& o = p_.op(id);
  const Text v = reg(p_.operand(id, 0)), to = dest(p_.result(id));
  if (is_pair()) {
    const Text yes = wide(), live = wide();
    pair_ballot(v, yes, live);
    if (o.code == Opcode::SubgroupBallot) return move(Type::U64, to, yes);
    if (o.code == Opcode::SubgroupAny) return ins("setp.ne.u64 {}, {}, 0", to, yes);
    return ins("setp.eq.u64 {}, {}, {}", to, yes, live);
  }
  const Text mask = member_mask();
  if (o.code == Opcode::SubgroupAny) return ins("vote.sync.any.pred {}, {}, {}", to, v, mask);
  if (o.code == Opcode::SubgroupAll) return ins("vote.sync.all.pred {}, {}, {}", to, v, mask);
  const Text yes = word();
  ins("vote.sync.ballot.b32 {}, {}, {}", yes, v, mask);
  if (f_.lanes < 32) ins("shr.u32 {}, {}, {}", yes, yes, segment());
  ins("cvt.u64.u32 {}, {}", to, yes);
}

void Emitter::move_lanes(OpId id) {
  const Op& o = p_.op(id);
  const ValueId value = p_.operand(id, 0);
  const Type t = p_.type(value);
  const Text v = reg(value), x = reg(p_.operand(id, 1)), to = dest(p_.result(id));
  Text from = x;
  const Text there = pred();
  const uint32_t lanes = f_.lanes;
  switch (o.code) {
    case Opcode::SubgroupShuffleUp:
      from = word();
      ins("sub.u32 {}, {}, {}", from, lane(), x);
      ins("setp.le.u32 {}, {}, {}", there, x, lane());
      break;
    case Opcode::SubgroupShuffleDown:
      from = word();
      ins("add.u32 {}, {}, {}", from, lane(), x);
      ins("setp.lt.u32 {}, {}, {}", there, x, lanes);  // a distance below the size cannot wrap
      ins("setp.lt.and.u32 {}, {}, {}, {}", there, from, lanes, there);
      break;
    case Opcode::SubgroupShuffleXor:
      from = word();
      ins("xor.b32 {}, {}, {}", from, lane(), x);
      [[fallthrough]];
    default: ins("setp.lt.u32 {}, {}, {}", there, from, lanes);
  }
  const Text inside = word();
  ins("and.b32 {}, {}, {}", inside, from, lanes - 1);
  Text other;
  if (is_pair()) {
    pair_put(t, v);
    Text exists;
    other = pair_get(t, inside, &exists);
    if (!exists.empty()) ins("and.pred {}, {}, {}", there, there, exists);
    pair_sync();
  } else {
    Text at = inside;
    if (lanes < 32) {
      at = word();
      ins("add.u32 {}, {}, {}", at, inside, segment());
    }
    const Text mask = member_mask(), live = may_lack_lanes() ? live_mask() : mask;
    other = shuffle("idx", t, v, at, mask);
    if (may_lack_lanes()) {
      const Text bit = word();
      ins("shr.u32 {}, {}, {}", bit, live, at);
      ins("and.b32 {}, {}, 1", bit, bit);
      ins("setp.ne.and.u32 {}, {}, 0, {}", there, bit, there);
    }
  }
  if (t == Type::Bool) return ins("and.pred {}, {}, {}", to, other, there);
  select(t, to, there, other, immediate(t, 0));
}

}  // namespace vyre::emit_ptx
