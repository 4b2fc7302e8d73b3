#include "opt/passes/handoff_proof.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::opt {

HandoffProof::HandoffProof(const Program& program, Facts& facts)
    : p_(program),
      facts_(facts),
      forms_(program, facts.ranges(), TileForms::most_workgroups(program)) {
  if (facts.effects().of_program().barriers >> unsigned(Scope::Grid) & 1)
    orders_ = "a grid barrier";
  if (facts.effects().of_program().acquires) orders_ = "an acq_rel atomic";
}

std::string HandoffProof::why_no_candidate(BufferId buffer) const {
  const Buffer& b = p_.buffers[buffer];
  uint64_t count = 0;
  if (b.count == no_formula || !p_.formulas.is_constant(b.count, &count))
    return fmt::format("`{}` has a run-time length, and shared memory needs a constant one",
                       b.name);
  if (count == 0) return fmt::format("`{}` has length 0", b.name);
  if (count > ~uint64_t{0} / size_of(b.element))
    return fmt::format("the size of `{}` exceeds 64 bits", b.name);
  return "";
}

bool HandoffProof::refuse(OpId op, std::string why) {
  why_ = std::move(why);
  at_ = op;
  return false;
}

bool HandoffProof::prove(BufferId buffer, HandoffCandidate& c, std::string& why, OpId& op) {
  uint64_t count = 0;
  p_.formulas.is_constant(p_.buffers[buffer].count, &count);
  c = {};
  c.buffer = buffer.value();
  name_ = p_.buffers[buffer].name;
  const bool proved =
      find_accesses(buffer) && find_phases(c) && find_windows() && check_cover(count);
  why = why_;
  op = at_;
  if (!proved) return false;
  c.elements = count;
  const Wide stride = accesses_[0].window.group;
  if (stride != 0) {
    Wide low = accesses_[0].window.low, high = low;
    for (const Access& a : accesses_) {
      low = std::min(low, a.window.low);
      high = std::max(high, a.window.high);
      c.is_exact &= a.window.exact;
    }
    c.is_tile = true;
    c.stride = int64_t(stride);
    c.first = int64_t(low);
    c.elements = uint64_t(high - low + 1);
  }
  const uint64_t size = size_of(p_.buffers[buffer].element);
  c.bytes = c.elements * size;
  count_costs(c);
  return true;
}

void HandoffProof::count_costs(HandoffCandidate& c) const {
  // Longer loops and larger arrays are not followed by the proof that an array need not be zeroed
  // (codegen/common/first_writes.cc).
  constexpr uint64_t followed_trips = 64, followed_elements = 1 << 16;
  const uint64_t size = size_of(p_.buffers[c.buffer].element);
  bool is_followed = c.elements <= followed_elements;
  for (const Access& a : accesses_) {
    const uint64_t trips = trips_around(a.op);
    c.traffic += size * a.elements * trips;
    const bool is_checked = !p_.memory(a.op).in_bounds;
    // An access of a tile has no check, and one op for the index; a store also chooses between its
    // value and 0.
    if (c.is_tile) {
      c.checked += is_checked ? trips : 0;
      c.index_ops += is_checked && a.writes ? 2 * trips : trips;
    }
    is_followed &= !a.is_before_loads || trips <= followed_trips;
  }
  if (!is_followed) c.cleared_bytes = c.bytes;
  walk(p_, [&](OpId op) {
    const Op& o = p_.op(op);
    if (info(o.code).attribute != AttrKind::Memory || p_.memory(op).buffer == BufferId(c.buffer))
      return;
    const Buffer& b = p_.buffers[p_.memory(op).buffer];
    if (b.role == Role::Shared || b.role == Role::Private) return;
    const uint64_t elements = o.code == Opcode::LoadN    ? o.results.count
                              : o.code == Opcode::StoreN ? o.operands.count - 1
                                                         : 1;
    c.other_traffic += size_of(b.element) * elements * trips_around(op);
  });
}

bool HandoffProof::find_accesses(BufferId buffer) {
  accesses_.clear();
  bool reads = false, writes = false;
  OpId other = none;  // an access of another kind
  walk(p_, [&](OpId op) {
    const Op& o = p_.op(op);
    if (info(o.code).attribute != AttrKind::Memory || p_.memory(op).buffer != buffer) return;
    Access a;
    a.op = op;
    switch (o.code) {
      case Opcode::Load: break;
      case Opcode::LoadN: a.elements = o.results.count; break;
      case Opcode::Store: a.writes = true; break;
      case Opcode::StoreN:
        a.writes = true;
        a.elements = o.operands.count - 1;
        break;
      default: other = op;
    }
    (a.writes ? writes : reads) = true;
    accesses_.push_back(a);
  });
  if (other != none)
    return refuse(other, fmt::format("`{}` is accessed by `{}`, which is not a plain load or store",
                                     name_, mnemonic(p_.op(other).code)));
  if (!writes) return refuse(none, fmt::format("`{}` is never stored", name_));
  if (!reads) return refuse(none, fmt::format("`{}` is never loaded", name_));
  if (!orders_.empty())
    return refuse(accesses_[0].op,
                  fmt::format("{} lets workgroups exchange elements of `{}`", orders_, name_));
  return true;
}

/// Finds the innermost block that holds all accesses, and in it: stores, a barrier, the first load.
/// Accesses after the first load are free: the stores before it cover all that is loaded.
bool HandoffProof::find_phases(HandoffCandidate& c) {
  const auto blocks_around = [&](OpId op) {
    std::vector<BlockId> list;
    for (; op != none; op = p_.blocks[p_.op(op).parent].parent) list.push_back(p_.op(op).parent);
    std::reverse(list.begin(), list.end());
    return list;
  };
  std::vector<BlockId> common = blocks_around(accesses_[0].op);
  for (const Access& a : accesses_) {
    const std::vector<BlockId> list = blocks_around(a.op);
    const auto end = std::mismatch(common.begin(), common.end(), list.begin(), list.end()).first;
    common.erase(end, common.end());
  }
  block_ = common.back();
  for (Access& a : accesses_) {
    a.top = a.op;
    while (p_.op(a.top).parent != block_) a.top = p_.blocks[p_.op(a.top).parent].parent;
  }

  IdMap<OpId, uint8_t> kinds(p_.ops.size(), 0);  // by op of the block: 1 stores, 2 loads
  for (const Access& a : accesses_) kinds[a.top] |= a.writes ? 1 : 2;
  bool wrote = false, left = false, has_barrier = false;
  for (OpId op = p_.blocks[block_].first; op != none; op = p_.op(op).next) {
    if (kinds[op] & 2) {
      if (!wrote) return refuse_first_load(op, kinds[op]);
      if (!has_barrier && (block_ != body_block || left))
        return refuse(
            op,
            fmt::format("no barrier separates the stores of `{}` from its loads, and "
                        "one cannot be inserted {}",
                        name_, block_ != body_block ? "in a loop or branch" : "after a return"));
      if (!has_barrier) c.barrier_before = op;
      break;
    }
    if (kinds[op] & 1) {
      wrote = true;
      has_barrier = false;
      for (Access& a : accesses_) a.is_before_loads |= a.top == op;
    }
    has_barrier |= p_.op(op).code == Opcode::Barrier && Scope(p_.op(op).attr) == Scope::Workgroup;
    has_barrier |= p_.op(op).code == Opcode::UniformLoad;
    left |= facts_.effects().of(op).leaves;
  }
  return true;
}

bool HandoffProof::refuse_first_load(OpId op, uint8_t kinds) {
  if (kinds & 1)
    return refuse(
        op, fmt::format("a loop or branch holds the first stores of `{}` and loads of it", name_));
  return refuse(op, fmt::format("`{}` is loaded before it is stored", name_));
}

bool HandoffProof::find_windows() {
  for (Access& a : accesses_) {
    const ValueId index = p_.operand(a.op, 0);
    const auto w = forms_.window(index, a.op);
    if (!w)
      return refuse(a.op, fmt::format("an index of `{}` has no bounds in its workgroup", name_));
    a.window = *w;
    a.window.high += a.elements - 1;
    if (!w->exact && width_of(p_.type(index)) < 32)
      return refuse(a.op, fmt::format("an index of `{}` may wrap in {} bits", name_,
                                      width_of(p_.type(index))));
    const bool is_bounded = a.window.high - a.window.low < Wide(1) << 31;
    if (a.window.group != accesses_[0].window.group && !is_bounded)
      return refuse(a.op, fmt::format("an index of `{}` has no bounds in its workgroup", name_));
    if (a.window.group != accesses_[0].window.group)
      return refuse(a.op,
                    fmt::format("indices of `{}` advance by {} and by {} per workgroup", name_,
                                int64_t(accesses_[0].window.group), int64_t(a.window.group)));
    if (a.window.group < 0)
      return refuse(a.op,
                    fmt::format("indices of `{}` decrease from workgroup to workgroup", name_));
  }
  return true;
}

std::optional<uint64_t> HandoffProof::constant_trips(OpId loop) const {
  if (p_.op(loop).code != Opcode::For) return std::nullopt;
  const Ranges& r = facts_.ranges();
  const ValueRange &lo = r.of(p_.operand(loop, 0)), &hi = r.of(p_.operand(loop, 1)),
                   &step = r.of(p_.operand(loop, 2));
  if (!lo.is_constant() || !hi.is_constant() || !step.is_constant()) return std::nullopt;
  if (lo.low() >= hi.low() || step.low() <= 0) return 0;
  return uint64_t((hi.low() - lo.low() + step.low() - 1) / step.low());
}

uint64_t HandoffProof::trips_around(OpId op) const {
  constexpr uint64_t guess = 8, most = 1 << 20;
  uint64_t trips = 1;
  for (OpId at = p_.blocks[p_.op(op).parent].parent; at != none;
       at = p_.blocks[p_.op(at).parent].parent)
    if (is_loop(p_.op(at).code)) trips = std::min(most, trips * constant_trips(at).value_or(guess));
  return trips;
}

/// True if every invocation that comes to the phases' block executes the op, for all values of the
/// counters around it.
bool HandoffProof::is_always_run(const Access& a) const {
  for (OpId at = p_.blocks[p_.op(a.op).parent].parent; p_.op(a.op).parent != block_ && at != none;
       at = p_.blocks[p_.op(at).parent].parent) {
    const Opcode code = p_.op(at).code;
    if (code != Opcode::Region && !(code == Opcode::For && constant_trips(at).value_or(0) > 0))
      return false;
    bool exits = false;
    walk(p_, p_.op(at).first_block, [&](OpId op) {
      const Opcode c = p_.op(op).code;
      exits |=
          c == Opcode::Break || c == Opcode::Continue || c == Opcode::Return || c == Opcode::Trap;
    });
    if (exits) return false;
    if (p_.op(at).parent == block_) break;
  }
  return true;
}

/// All elements from one to another, if the sum of lane and counters leaves no gaps.
std::optional<HandoffProof::Cover> HandoffProof::cover_of(const Access& a) const {
  const AffineForm& f = facts_.affine().of(p_.operand(a.op, 0));
  const Wide lanes = p_.workgroup[0];
  Cover c;
  Wide offset = f.offset, of_lane[3] = {};
  struct Digit {
    Wide factor, span;
  };
  std::vector<Digit> digits;
  for (const AffineTerm& t : f.terms) {
    const Value& v = p_.values[t.symbol];
    if (v.def != none) {
      const Op& o = p_.op(v.def);
      if (o.code == Opcode::GlobalId && o.attr == 0) {
        c.group += lanes * t.factor;
        of_lane[0] += t.factor;
      } else if (o.code == Opcode::WorkgroupId && o.attr == 0) {
        c.group += t.factor;
      } else if (o.code == Opcode::LocalId) {
        of_lane[o.attr] += t.factor;
      } else {
        return std::nullopt;
      }
      continue;
    }
    const OpId loop = p_.blocks[v.block].parent;
    if (loop == none || p_.op(loop).code != Opcode::For || v.index != 0) return std::nullopt;
    // A counter of a loop outside of the phases is one number for all of them only if it is the
    // same for all lanes, and it moves the tile: unsupported.
    BlockId inside = p_.op(a.op).parent;
    while (inside != block_ && p_.blocks[inside].parent != loop)
      inside = p_.op(p_.blocks[inside].parent).parent;
    if (inside == block_) return std::nullopt;
    const auto trips = constant_trips(loop);
    if (!trips || *trips == 0) return std::nullopt;
    offset += Wide(t.factor) * facts_.ranges().of(p_.operand(loop, 0)).low();
    digits.push_back(
        {Wide(t.factor) * facts_.ranges().of(p_.operand(loop, 2)).low(), Wide(*trips)});
  }
  for (int dim = 0; dim < 3; ++dim) digits.push_back({of_lane[dim], p_.workgroup[dim]});
  if (c.group == 0 && !f.exact) return std::nullopt;
  for (Digit& d : digits) {
    if (d.factor >= 0) continue;
    offset += d.factor * (d.span - 1);
    d.factor = -d.factor;
  }
  std::sort(digits.begin(), digits.end(),
            [](const Digit& x, const Digit& y) { return x.factor < y.factor; });
  Wide run = a.elements;
  for (const Digit& d : digits) {
    if (d.factor == 0 || d.span <= 1) continue;
    if (d.factor > run) return std::nullopt;
    run += d.factor * (d.span - 1);
  }
  c.low = offset;
  c.high = offset + run - 1;
  return c;
}

bool HandoffProof::check_cover(uint64_t count) {
  const Wide group = accesses_[0].window.group;
  std::vector<std::pair<Wide, Wide>> covers;
  for (const Access& a : accesses_) {
    if (!a.is_before_loads || !is_always_run(a)) continue;
    const auto c = cover_of(a);
    if (c && c->group == group) covers.push_back({c->low, c->high});
  }
  std::sort(covers.begin(), covers.end());
  std::vector<std::pair<Wide, Wide>> joined;
  for (const auto& c : covers) {
    if (!joined.empty() && c.first <= joined.back().second + 1)
      joined.back().second = std::max(joined.back().second, c.second);
    else
      joined.push_back(c);
  }
  for (const Access& a : accesses_) {
    if (a.writes) continue;
    Wide low = a.window.low, high = a.window.high;
    if (group == 0) {  // elements outside of the buffer are not read
      low = std::max<Wide>(low, 0);
      high = std::min<Wide>(high, Wide(count) - 1);
    }
    const bool is_covered =
        low > high || std::any_of(joined.begin(), joined.end(), [&](const auto& c) {
          return c.first <= low && high <= c.second;
        });
    if (!is_covered)
      return refuse(a.op, fmt::format("it is not proved that the workgroup stores every element of "
                                      "`{}` that it loads",
                                      name_));
  }
  return true;
}

}  // namespace vyre::opt
