// Ranges of values that do not come from arithmetic: ids, lengths, memory, other lanes.

#include "opt/analysis/range_rules.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace vyre::opt {
namespace {

constexpr Wide most_invocations = 0xffffffffu;  // in a dimension, by the specification
constexpr uint32_t most_lanes = 64;

uint32_t lanes_of(const Program& p) { return p.subgroup ? p.subgroup : most_lanes; }

/// Smallest set around all elements of a table.
ValueRange table_range(const Program& p, const Buffer& b, Wide count) {
  const uint32_t size = size_of(b.element);
  ValueRange r = constant_range(b.element, 0);  // the result of a load outside
  Wide lo = 0, hi = 0;
  uint64_t zeros = r.zeros, ones = 0;
  for (Wide i = 0; i < count; ++i) {
    uint64_t bits = 0;
    const uint64_t at = b.table_offset + uint64_t(i) * size;
    if (at + size > p.table_bytes.size()) return full_range(b.element);
    std::memcpy(&bits, p.table_bytes.data() + at, size);
    if (b.element == Type::Bool) bits = bits != 0;
    const Wide n = number(b.element, bits);
    lo = std::min(lo, n);
    hi = std::max(hi, n);
    zeros &= ~bits;
  }
  return make_range(b.element, lo, hi, zeros, ones);
}

}  // namespace

RangeRules::RangeRules(const Program& p) : p_(&p), counts_(p), tables_(p.buffers.size()) {
  for (const BufferId i : p.buffers.ids())
    if (p.buffers[i].role == Role::Table && has_range(p.buffers[i].element))
      tables_[i] = table_range(p, p.buffers[i], counts_.of(i).hi);
}

ValueRange RangeRules::source(OpId op) const {
  const Op& o = p_->op(op);
  const auto u32 = [](Wide lo, Wide hi) { return make_range(Type::U32, lo, hi); };
  const uint32_t size = o.attr < 3 ? std::max(1u, p_->workgroup[o.attr]) : 1;
  const Wide groups = most_invocations / size;  // the launch is refused if there are more
  const Wide together = Wide(p_->workgroup[0]) * p_->workgroup[1] * p_->workgroup[2];
  switch (o.code) {
    case Opcode::GlobalId: return u32(0, groups * size - 1);
    case Opcode::LocalId: return u32(0, size - 1);
    case Opcode::WorkgroupId: return u32(0, groups - 1);
    case Opcode::NumWorkgroups: return u32(1, groups);  // at least the workgroup of this invocation
    case Opcode::WorkgroupSize: return u32(size, size);
    case Opcode::LaneId:
      return u32(0, std::min<Wide>(lanes_of(*p_), std::max<Wide>(together, 1)) - 1);
    case Opcode::SubgroupSize:
      return p_->subgroup ? u32(p_->subgroup, p_->subgroup) : u32(1, most_lanes);
    case Opcode::Len: {
      const auto& n = counts_.of(o.buffer());
      return u32(n.lo, std::min<Wide>(n.hi, 0xffffffffu));
    }
    case Opcode::Len64: {
      const auto& n = counts_.of(o.buffer());
      return make_range(Type::U64, n.lo, n.hi);
    }
    default: return full_range(o.type);
  }
}

/// A load: bool elements are 0 or 1 by their type, narrow ones by theirs.
ValueRange RangeRules::element(OpId op) const {
  const Op& o = p_->op(op);
  const BufferId buffer = p_->memory(op).buffer;
  const bool by_element = o.code != Opcode::LoadAs;
  if (by_element && has_range(o.type) && p_->buffers[buffer].role == Role::Table)
    return tables_[buffer];
  return full_range(o.type);
}

/// Absent lanes contribute the identity, or 0 to a shuffle; this lane is present.
ValueRange RangeRules::subgroup(OpId op, const ValueRange& a) const {
  const Op& o = p_->op(op);
  const Type t = o.type;
  const Wide lanes = lanes_of(*p_);
  switch (o.code) {
    case Opcode::SubgroupAdd:
      return make_range(t, a.low() > 0 ? a.low() : a.low() * lanes,
                        a.high() < 0 ? a.high() : a.high() * lanes);
    case Opcode::SubgroupScanAdd:
      return make_range(t, std::min<Wide>(0, a.low() * (lanes - 1)),
                        std::max<Wide>(0, a.high() * (lanes - 1)));
    case Opcode::SubgroupMin:
    case Opcode::SubgroupMax: return a;
    case Opcode::SubgroupAnd:
    case Opcode::SubgroupOr: return make_range(t, least(t), greatest(t), a.zeros, a.ones);
    case Opcode::SubgroupXor: return make_range(t, least(t), greatest(t), a.zeros, 0);
    case Opcode::SubgroupBallot: {
      const uint32_t n = uint32_t(lanes);
      return make_range(Type::U64, 0, greatest(Type::U64),
                        a.is_constant() && a.lo == 0 ? ~0ull : ~low_mask(n));
    }
    case Opcode::SubgroupAny:
    case Opcode::SubgroupAll: return a;
    case Opcode::SubgroupBroadcast:
    case Opcode::SubgroupShuffle:
    case Opcode::SubgroupShuffleUp:
    case Opcode::SubgroupShuffleDown:
    case Opcode::SubgroupShuffleXor: return join(t, a, constant_range(t, 0));
    default: return full_range(t);
  }
}

RangeRules::Result RangeRules::apply(OpId op, uint32_t result,
                                     std::span<const ValueRange> in) const {
  const Op& o = p_->op(op);
  const Type t = p_->type(p_->result(op, result));
  if (!has_range(t)) return {full_range(t)};
  switch (info(o.code).effect) {
    case Effect::Pure: break;
    case Effect::Read: return {element(op)};
    case Effect::Sync: return {o.code == Opcode::UniformLoad ? element(op) : full_range(t)};
    case Effect::Convergent: return {subgroup(op, in[0])};
    default: return {full_range(t)};  // atomics: any value that other invocations stored
  }
  if (o.code == Opcode::Const) return {constant_range(t, o.attr)};
  if (o.operands.count == 0) return {source(op)};
  // The same value twice, whatever it is.
  if (o.operands.count == 2 && p_->operand(op, 0) == p_->operand(op, 1) &&
      has_range(p_->type(p_->operand(op, 0)))) {
    switch (o.code) {
      case Opcode::Eq:
      case Opcode::Le:
      case Opcode::Ge: return {constant_range(t, 1)};
      case Opcode::Ne:
      case Opcode::Lt:
      case Opcode::Gt: return {constant_range(t, 0)};
      case Opcode::Sub: return {constant_range(t, 0), true};
      case Opcode::Xor: return {constant_range(t, 0)};
      default: break;
    }
  }
  return apply_pure(o.code, o.type, p_->type(p_->operand(op, 0)), in);
}

/// lo, lo+s, … below hi, in exact integers: it never wraps. If the body runs, lo < hi and step > 0.
ValueRange RangeRules::counter(Type t, const ValueRange& lo, const ValueRange& hi,
                               const ValueRange& step) const {
  const Wide first = lo.low(), last = hi.high() - 1;
  if (first > last) return lo;  // the body never runs
  // With steps of a multiple of 2^k the low k bits stay those of lo.
  const uint64_t still = low_mask(uint32_t(std::countr_one(step.zeros)));
  return find_range(t, first, last, lo.zeros & still, lo.ones & still).value_or(lo);
}

}  // namespace vyre::opt
