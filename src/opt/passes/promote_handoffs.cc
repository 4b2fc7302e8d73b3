#include "opt/passes/promote_handoffs.h"

#include <fmt/format.h>

#include <algorithm>

#include "opt/passes/handoff_proof.h"

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
    const OpId barrier = p_.add_op(Opcode::Barrier, Type::Void, {}, {}, uint64_t(Scope::Workgroup),
                                   p_.op(c_.barrier_before).loc);
    p_.insert_before(c_.barrier_before, barrier);
  }

 private:
  void make_constant(OpId op) {
    Op& o = p_.op(op);
    o.type = p_.type(p_.result(op));
    o.code = Opcode::Const;
    o.attr = count_;
  }

  ValueId insert(OpId before, Opcode code, Type type, std::initializer_list<ValueId> operands,
                 uint64_t attr = 0) {
    const Type result = result_type(info(code).result, type);
    const OpId op = p_.add_op(code, type, {operands.begin(), operands.size()}, {&result, 1}, attr,
                              p_.op(before).loc);
    p_.insert_before(before, op);
    return p_.result(op);
  }

  /// To the tile, modulo 2^32: what is inside comes out right. A store that the buffer did not have
  /// a place for goes nowhere; then what a load finds there is 0, as it was.
  void move_access(OpId op) {
    const ValueId was = p_.operand(op, 0);
    const ValueId index =
        p_.type(was) == Type::U32 ? was : insert(op, Opcode::Cast, Type::U32, {was});
    const ValueId group = insert(op, Opcode::WorkgroupId, Type::Void, {});
    const ValueId factor = insert(op, Opcode::Const, Type::U32, {}, uint32_t(c_.stride));
    const ValueId first = insert(op, Opcode::Const, Type::U32, {}, uint32_t(c_.first));
    const ValueId base = insert(op, Opcode::Add, Type::U32,
                                {insert(op, Opcode::Mul, Type::U32, {group, factor}), first});
    ValueId moved = insert(op, Opcode::Sub, Type::U32, {index, base});
    MemoryRef m = p_.memory(op);
    if (info(p_.op(op).code).effect == Effect::Write && !m.in_bounds) {
      const ValueId wide =
          p_.type(was) == Type::U64 ? was : insert(op, Opcode::Cast, Type::U64, {was});
      const ValueId count = insert(op, Opcode::Const, Type::U64, {}, count_);
      const ValueId is_there = insert(op, Opcode::Lt, Type::U64, {wide, count});
      const ValueId nowhere = insert(op, Opcode::Const, Type::U32, {}, ~0u);
      moved = insert(op, Opcode::Select, Type::U32, {is_there, moved, nowhere});
    }
    m.in_bounds = false;
    m.align_log2 = 0;
    p_.op(op).attr = m.pack();
    p_.list(p_.op(op).operands)[0] = moved;
  }

  Program& p_;
  const HandoffCandidate& c_;
  uint64_t count_ = 0;  // elements that the buffer had
};

}  // namespace

std::vector<HandoffCandidate> find_handoffs(const Program& p, PassContext& context) {
  std::vector<uint32_t> of_kind;
  std::vector<HandoffCandidate> found, taken;
  const uint64_t used = shared_bytes_of(p);
  const bool is_known = context.target.shared_bytes != 0;
  uint64_t left = is_known
                      ? context.target.shared_bytes - std::min(used, context.target.shared_bytes)
                      : default_promotion_bytes;
  std::optional<HandoffProof> proof;
  for (uint32_t i = 0; i < p.buffers.size(); ++i) {
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
    left -= c.bytes;
    taken.push_back(c);
  }
  return taken;
}

uint64_t count_opportunities(const Program& program, PassContext& context) {
  return find_handoffs(program, context).size();
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
