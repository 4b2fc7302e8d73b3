#include "opt/passes/promote_handoffs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/ir_builder.h"
#include "opt/passes/handoff_profit.h"
#include "opt/passes/handoff_proof.h"
#include "opt/passes/tile_index.h"

namespace vyre::opt {
namespace {

uint64_t shared_bytes_of(const Program& p) {
  uint64_t bytes = 0;
  for (const Buffer& b : p.buffers) {
    uint64_t count = 0;
    if (b.role == Role::Shared && p.formulas.is_constant(b.count, &count))
      bytes += count * size_of(b.element);
  }
  return bytes;
}

/// Changes the program for one candidate. Ops are not compacted in between, so their ids stay.
class Promoter {
 public:
  Promoter(Program& program, const HandoffCandidate& candidate) : p_(program), c_(candidate) {}

  void run() {
    Buffer& b = p_.buffers[c_.buffer];
    p_.formulas.is_constant(b.count, &count_);
    for (FormulaNode& n : p_.formulas.nodes)
      if (n.op == FormulaOp::Len && n.a == c_.buffer) n = {FormulaOp::Const, 0, 0, count_, false};
    b.role = Role::Shared;
    b.count = p_.formulas.constant(c_.elements);
    std::vector<OpId> uses;
    walk(p_, [&](OpId op) {
      const AttrKind kind = info(p_.op(op).code).attribute;
      if ((kind == AttrKind::Memory || kind == AttrKind::Buffer) &&
          uint32_t(p_.op(op).attr) == c_.buffer)
        uses.push_back(op);
    });
    for (const OpId op : uses) {
      if (p_.op(op).code == Opcode::Len || p_.op(op).code == Opcode::Len64)
        make_constant(op);
      else if (c_.is_tile)
        move_access(op);
    }
    if (c_.barrier_before == none) return;
    b_.before(c_.barrier_before);
    b_.effect(Opcode::Barrier, Type::Void, {}, uint64_t(Scope::Workgroup));
  }

 private:
  void make_constant(OpId op) {
    Op& o = p_.op(op);
    o.type = p_.type(p_.result(op));
    o.code = Opcode::Const;
    o.attr = count_;
  }

  /// An access to the tile. Outside of the buffer, where a load returns 0, a store stores 0: so
  /// every element of the tile is still stored before it is loaded, and the tile need not be
  /// cleared.
  void move_access(OpId op) {
    const ValueId index = p_.operand(op, 0);
    b_.before(op);
    const ValueId moved = TileIndex(b_).rewrite(index, c_.stride, c_.first);
    MemoryRef m = p_.memory(op);
    if (info(p_.op(op).code).effect == Effect::Write && !m.in_bounds) {
      const ValueId is_there = is_in_buffer(index);
      for (uint32_t i = 1; i < p_.op(op).operands.count; ++i) {
        const ValueId value = p_.operand(op, i);
        const Type type = p_.type(value);
        const ValueId zero = b_.constant(type, 0);
        const ValueId stored = b_.op(Opcode::Select, type, {is_there, value, zero});
        p_.list(p_.op(op).operands)[i] = stored;
      }
    }
    m.in_bounds = true;  // the tile has all elements that an access can reach
    m.align_log2 = 0;
    p_.op(op).attr = m.pack();
    p_.list(p_.op(op).operands)[0] = moved;
  }

  /// The condition that the buffer has the element. It is the workgroup's where tiles do not lie
  /// across the end.
  ValueId is_in_buffer(ValueId index) {
    // In 32 bits if the index has them: a negative i32 is not below 2^31 as a u32.
    const Type from = p_.type(index);
    const Type type = count_ <= uint64_t{1} << 31 && width_of(from) == 32 ? Type::U32 : Type::U64;
    const ValueId count = b_.constant(type, count_);
    const uint64_t stride = uint64_t(c_.stride);
    const bool is_aligned =
        c_.first >= 0 && uint64_t(c_.first) + c_.elements <= stride && count_ % stride == 0;
    ValueId place = index;
    // The base wraps with the index if 2^width is a multiple of the stride, too.
    if (is_aligned && stride >> 31 == 0 && (c_.is_exact || std::has_single_bit(stride))) {
      place = b_.op(Opcode::WorkgroupId, Type::Void, {}, 0);
      if (from != Type::U32) place = b_.op(Opcode::Cast, from, {place});
      place = b_.op(Opcode::Mul, from, {place, b_.constant(from, stride)});
    }
    if (from != type) place = b_.op(Opcode::Cast, type, {place});
    return b_.op(Opcode::Lt, type, {place, count});
  }

  Program& p_;
  IrBuilder b_{p_};
  const HandoffCandidate& c_;
  uint64_t count_ = 0;  // elements that the buffer had
};

}  // namespace

std::vector<HandoffCandidate> find_handoffs(const Program& p, PassContext& context) {
  std::vector<uint32_t> of_kind;
  std::vector<HandoffCandidate> found, taken;
  uint64_t shared = shared_bytes_of(p);
  const bool is_known = context.target.shared_bytes != 0;
  uint64_t left = is_known
                      ? context.target.shared_bytes - std::min(shared, context.target.shared_bytes)
                      : default_promotion_bytes;
  std::optional<HandoffProof> proof;
  for (const BufferId i : p.buffers.ids()) {
    if (p.buffers[i].role != Role::Scratch) continue;
    if (!proof) proof.emplace(p, context.facts);
    if (const std::string why = proof->why_no_candidate(i); !why.empty()) {
      context.refuse(none, why);
      continue;
    }
    HandoffCandidate c;
    std::string why;
    OpId at = none;
    if (!proof->prove(i, c, why, at))
      context.refuse(at, why);
    else
      found.push_back(c);
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const HandoffCandidate& a, const HandoffCandidate& b) { return a.traffic > b.traffic; });
  for (const HandoffCandidate& c : found) {
    if (c.bytes > left) {
      context.refuse(none, fmt::format("`{}` needs {} bytes of shared memory, and {} are available",
                                       p.buffers[c.buffer].name, c.bytes, left));
      continue;
    }
    if (const DeviceCosts* costs = context.target.costs) {
      const HandoffProfit profit = handoff_profit(p, c, *costs, shared);
      if (!profit.pays()) {
        context.refuse(none, in_words(p, c, *costs, profit));
        continue;
      }
    }
    left -= c.bytes;
    shared += c.bytes;
    taken.push_back(c);
  }
  return taken;
}

Result<bool> promote_handoffs(Program& program, PassContext& context) {
  const std::vector<HandoffCandidate> found = find_handoffs(program, context);
  context.nothing_to_do = found.empty() && context.refused == 0;
  if (found.empty()) return false;
  for (const HandoffCandidate& c : found) Promoter(program, c).run();
  compact(program);
  return true;
}

}  // namespace vyre::opt
