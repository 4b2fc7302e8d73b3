#include "legalize/legalize_subgroup.h"

#include "ir/eval/reduction_step.h"

namespace vyre::emit_exact {
namespace {

Term shuffle(TermBuilder& c, Opcode code, const Term& value, const Term& lane, bool halves) {
  return halves ? shuffle_by_halves(c, code, value, lane) : c.op(code, value.type, {value, lane});
}

Term scan(TermBuilder& c, const Term& value, uint32_t subgroup, bool halves, const Step& step) {
  const Term lane = c.op(Opcode::LaneId, Type::Void, {});
  Term v = value;
  for (uint32_t d = 1; d < subgroup; d *= 2) {
    const Term lower = shuffle(c, Opcode::SubgroupShuffleUp, v, c.constant(Type::U32, d), halves);
    // Named in order: the evaluation order of arguments is unspecified.
    const Term sum = step(lower, v);
    v = select(lane >= d, sum, v);
  }
  return shuffle(c, Opcode::SubgroupShuffleUp, v, c.constant(Type::U32, 1), halves);
}

}  // namespace

bool is_reduction(Opcode code) {
  return code >= Opcode::SubgroupAdd && code <= Opcode::SubgroupScanAdd;
}
bool is_shuffle(Opcode code) {
  return code >= Opcode::SubgroupBroadcast && code <= Opcode::SubgroupShuffleXor;
}

Term reduce_by_shuffles(TermBuilder& c, Opcode code, const Term& value, uint32_t subgroup,
                        bool halves, const Step& step) {
  if (code == Opcode::SubgroupScanAdd) return scan(c, value, subgroup, halves, step);
  const auto& size = c.program.workgroup;
  const uint64_t total = uint64_t{size[0]} * size[1] * size[2];
  Term v = value;
  if (total % subgroup == 0) {
    for (uint32_t d = subgroup / 2; d > 0; d /= 2)
      v = step(v, shuffle(c, Opcode::SubgroupShuffleXor, v, c.constant(Type::U32, d), halves));
    return v;
  }
  // Absent lanes take part. Before the step of d a lane's value depends on its number modulo 2d
  // alone, so the lowest lane with the wanted remainder has it; if that one is absent, so are all,
  // and their value is the identity.
  const auto local = [&](uint32_t dim) { return c.op(Opcode::LocalId, Type::Void, {}, dim); };
  const Term x = local(0), y = local(1), z = local(2);
  const Term linear = (z * size[1] + y) * size[0] + x;
  const Term lane = c.op(Opcode::LaneId, Type::Void, {});
  const Term first = linear - lane;
  const Term absent = c.constant(v.type, reduction_identity(code, v.type));
  for (uint32_t d = subgroup / 2; d > 0; d /= 2) {
    const Term from = (lane ^ d) & (2 * d - 1);
    const Term other = shuffle(c, Opcode::SubgroupShuffle, v, from, halves);
    v = step(v, select(first + from < total, other, absent));
  }
  return v;
}

Term shuffle_by_halves(TermBuilder& c, Opcode code, const Term& value, const Term& lane) {
  const Term word = value.type == Type::F64 ? bits(value) : as(Type::U64, value);
  const Term low = c.op(code, Type::U32, {cast(Type::U32, word), lane});
  const Term high = c.op(code, Type::U32, {cast(Type::U32, word >> 32), lane});
  const Term upper = cast(Type::U64, high) << 32;
  const Term both = cast(Type::U64, low) | upper;
  return value.type == Type::F64 ? real(both) : as(value.type, both);
}

}  // namespace vyre::emit_exact
