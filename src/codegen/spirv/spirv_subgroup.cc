// Subgroups: reductions, scans, votes and moves, in the defined order.
//
// Lanes may be missing: the last subgroup may be partial. They are the highest lanes; they
// contribute the identity, and continue to take part in the definition of a reduction. After a step
// with distance d all lanes with the same number modulo d have the same value. So the value of a
// missing lane is read from the lowest lane with its number; if that is missing, too, nothing was
// combined. Ghosts (spirv_sync.cc) take part and contribute the identity.

#include "codegen/spirv/spirv_emitter.h"
#include "ir/eval/eval.h"
#include "ir/eval/reduction_step.h"

namespace vyre::emit_spirv {

void Emitter::subgroup_op(OpId id) {
  const Op& o = p_.op(id);
  const ValueId value = p_.operand(id, 0), result = p_.result(id);
  const Type t = p_.type(value);
  Id x = get(value);
  switch (o.code) {
    case Opcode::SubgroupBallot: {
      x = if_alive(x);
      const Id low = ballot_word(x, 0), high = f_.lanes > 32 ? ballot_word(x, 1) : c32(0);
      return set(result, wide_words(low, high).low);
    }
    case Opcode::SubgroupAny: return set(result, any_lane(if_alive(x)));
    case Opcode::SubgroupAll: return set(result, negated(any_lane(if_alive(negated(x)))));
    case Opcode::SubgroupBroadcast:
    case Opcode::SubgroupShuffle:
    case Opcode::SubgroupShuffleUp:
    case Opcode::SubgroupShuffleDown:
    case Opcode::SubgroupShuffleXor: return set(result, move_lanes(id));
    default: break;
  }
  const bool scans = o.code == Opcode::SubgroupScanAdd;
  if (f_.has_ghosts) {
    const Id nothing = constant_of(t, scans ? 0 : reduction_identity(o.code, t));
    x = select(t, alive(), x, nothing);
  }
  if (scans) return set(result, scan_add(t, x));
  set(result, reduce(o.code, t, x));
}

/// One instruction, where the order of combining does not matter and the device's subgroups are the
/// program's. 0: not so.
Id Emitter::reduce_natively(Opcode code, Type t, Id v) {
  if (f_.lanes_by != Lanes::Shuffle || f_.lanes != options_.profile.subgroup_size) return 0;
  if (!is_integer(t) || (width_of(t) == 64 && !options_.profile.subgroup_extended_types)) return 0;
  spv::Op op = spv::OpNop;
  switch (code) {
    case Opcode::SubgroupMin:
      op = is_signed(t) ? spv::OpGroupNonUniformSMin : spv::OpGroupNonUniformUMin;
      break;
    case Opcode::SubgroupMax:
      op = is_signed(t) ? spv::OpGroupNonUniformSMax : spv::OpGroupNonUniformUMax;
      break;
    case Opcode::SubgroupAnd: op = spv::OpGroupNonUniformBitwiseAnd; break;
    case Opcode::SubgroupOr: op = spv::OpGroupNonUniformBitwiseOr; break;
    case Opcode::SubgroupXor: op = spv::OpGroupNonUniformBitwiseXor; break;
    default: op = spv::OpGroupNonUniformIAdd;
  }
  m_.capability(spv::CapabilityGroupNonUniform);
  m_.capability(spv::CapabilityGroupNonUniformArithmetic);
  return ins(op, type_of(t), {scope_of(spv::ScopeSubgroup), spv::GroupOperationReduce, v});
}

Id Emitter::reduce(Opcode code, Type t, Id v) {
  if (f_.lanes == 1) return v;
  if (const Id result = reduce_natively(code, t, v)) return result;
  const Opcode step = reduction_step(code);
  for (uint32_t d = f_.lanes / 2; d > 0; d /= 2) {
    const Id across = ins(spv::OpBitwiseXor, u32(), {lane(), c32(d)});
    Id other = 0;
    if (!lacks_lanes()) {
      other = exchange(t, v, across);
    } else {
      const Id lowest = ins(spv::OpBitwiseAnd, u32(), {across, c32(2 * d - 1)});
      const Id number = ins(spv::OpIAdd, u32(), {lanes_first(), lowest});
      const Id there = ins(spv::OpULessThan, b(), {number, c32(f_.invocations)});
      // Named in order: the evaluation order of arguments is unspecified.
      const Id identity = constant_of(t, reduction_identity(code, t));
      other = select(t, there, exchange(t, v, lowest), identity);
    }
    const Id in[] = {v, other};
    v = compute(step, t, in);
  }
  return v;
}

Id Emitter::scan_add(Type t, Id v) {
  const auto lower = [&](uint32_t d, Id& there) {
    const Id from = ins(spv::OpISub, u32(), {lane(), c32(d)});
    there = ins(spv::OpUGreaterThanEqual, b(), {lane(), c32(d)});
    return exchange(t, v, ins(spv::OpBitwiseAnd, u32(), {from, c32(f_.lanes - 1)}));
  };
  for (uint32_t d = 1; d < f_.lanes; d *= 2) {
    Id there = 0;
    const Id in[] = {lower(d, there), v};
    const Id sum = compute(Opcode::Add, t, in);
    v = select(t, there, sum, v);
  }
  if (f_.lanes == 1) return zero_of(t);
  Id there = 0;
  const Id other = lower(1, there);
  return select(t, there, other, zero_of(t));
}

Id Emitter::move_lanes(OpId id) {
  const Op& o = p_.op(id);
  const Type t = p_.type(p_.operand(id, 0));
  Id v = get(p_.operand(id, 0));
  if (f_.has_ghosts) {
    const Id zero = zero_of(t);
    v = select(t, alive(), v, zero);
  }
  const Id x = get(p_.operand(id, 1)), size = c32(f_.lanes);
  Id from = x, there = 0;
  switch (o.code) {
    case Opcode::SubgroupShuffleUp:
      from = ins(spv::OpISub, u32(), {lane(), x});
      there = ins(spv::OpULessThanEqual, b(), {x, lane()});
      break;
    case Opcode::SubgroupShuffleDown: {
      from = ins(spv::OpIAdd, u32(), {lane(), x});
      const Id ends_inside = ins(spv::OpULessThan, b(), {from, size});
      // A distance below the size cannot wrap.
      there = both(ins(spv::OpULessThan, b(), {x, size}), ends_inside);
      break;
    }
    case Opcode::SubgroupShuffleXor:
      from = ins(spv::OpBitwiseXor, u32(), {lane(), x});
      [[fallthrough]];
    default: there = ins(spv::OpULessThan, b(), {from, size});
  }
  if (f_.lanes == 1) return select(t, there, v, zero_of(t));
  const Id inside = ins(spv::OpBitwiseAnd, u32(), {from, c32(f_.lanes - 1)});
  if (lacks_lanes()) {
    const Id number = ins(spv::OpIAdd, u32(), {lanes_first(), inside});
    there = both(there, ins(spv::OpULessThan, b(), {number, c32(f_.invocations)}));
  }
  const Id zero = zero_of(t);
  return select(t, there, exchange(t, v, inside), zero);
}

/// Bit i is the condition of lane 32 * word + i.
Id Emitter::ballot_word(Id condition, uint32_t word) {
  if (f_.lanes_by == Lanes::Alone) return ins(spv::OpSelect, u32(), {condition, c32(1), c32(0)});
  if (f_.lanes_by == Lanes::Shuffle) {
    m_.capability(spv::CapabilityGroupNonUniform);
    m_.capability(spv::CapabilityGroupNonUniformBallot);
    const Id scope = scope_of(spv::ScopeSubgroup);
    const Id all = ins(spv::OpGroupNonUniformBallot, words(4), {scope, condition});
    if (f_.lanes == options_.profile.subgroup_size || f_.lanes > 32) return part(all, word);
    const Id which = ins(spv::OpShiftRightLogical, u32(), {segment(), c32(5)});
    const Id bits = options_.profile.subgroup_size <= 32
                        ? part(all, 0)
                        : ins(spv::OpVectorExtractDynamic, u32(), {all, which});
    const Id shift = ins(spv::OpBitwiseAnd, u32(), {segment(), c32(31)});
    const Id low = ins(spv::OpShiftRightLogical, u32(), {bits, shift});
    return ins(spv::OpBitwiseAnd, u32(), {low, c32(static_cast<uint32_t>(low_mask(f_.lanes)))});
  }
  const Id low = ins(spv::OpBitwiseAnd, u32(), {lane(), c32(31)});
  Id own = condition;
  if (f_.lanes > 32) {
    const Id which = ins(spv::OpShiftRightLogical, u32(), {lane(), c32(5)});
    own = both(own, ins(spv::OpIEqual, b(), {which, c32(word)}));
  }
  const Id bit_ = ins(spv::OpShiftLeftLogical, u32(), {c32(1), low});
  return reduce(Opcode::SubgroupOr, Type::U32, ins(spv::OpSelect, u32(), {own, bit_, c32(0)}));
}

Id Emitter::any_lane(Id condition) {
  if (f_.lanes_by == Lanes::Alone) return condition;
  if (f_.lanes_by == Lanes::Shuffle && f_.lanes == options_.profile.subgroup_size) {
    m_.capability(spv::CapabilityGroupNonUniform);
    m_.capability(spv::CapabilityGroupNonUniformVote);
    return ins(spv::OpGroupNonUniformAny, b(), {scope_of(spv::ScopeSubgroup), condition});
  }
  Id word = 0;
  if (f_.lanes_by == Lanes::Shuffle && f_.lanes <= 32) {
    word = ballot_word(condition, 0);
  } else {
    const Id no = c32(0), yes = c32(1);
    word = reduce(Opcode::SubgroupOr, Type::U32, select(Type::U32, condition, yes, no));
  }
  return ins(spv::OpINotEqual, b(), {word, c32(0)});
}

}  // namespace vyre::emit_spirv
