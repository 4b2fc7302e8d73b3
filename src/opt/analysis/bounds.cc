#include "opt/analysis/bounds.h"

namespace vyre::opt {
namespace {

/// The kernel's op for an op of formulas.
bool corresponds(FormulaOp f, Opcode code) {
  switch (f) {
    case FormulaOp::Add: return code == Opcode::Add;
    case FormulaOp::Sub: return code == Opcode::Sub;
    case FormulaOp::Mul: return code == Opcode::Mul;
    case FormulaOp::Div: return code == Opcode::Div;
    case FormulaOp::Rem: return code == Opcode::Rem;
    case FormulaOp::CeilDiv: return code == Opcode::CeilDiv;
    case FormulaOp::Min: return code == Opcode::Min;
    case FormulaOp::Max: return code == Opcode::Max;
    default: return false;
  }
}

}  // namespace

bool BoundsFacts::proves_below(ValueId index, BufferId buffer, OpId at, uint64_t more) const {
  if (!is_integer(p_.type(index)) || ranges_.at(index, at).low() < 0) return false;
  Search s{buffer, at};
  return below(index, Wide(more), s, most_depth);
}

bool BoundsFacts::proves_access(OpId op) const {
  const Op& o = p_.op(op);
  if (info(o.code).attribute != AttrKind::Memory) return false;
  const BufferId buffer = p_.memory(op).buffer;
  uint64_t more = 0;
  if (o.code == Opcode::LoadN) more = o.results.count - 1;
  if (o.code == Opcode::StoreN) more = o.operands.count - 2;
  if (o.code == Opcode::LoadAs) {  // counts bytes
    if (size_of(p_.buffers[buffer].element) != 1) return false;
    more = size_of(o.type) - 1;
  }
  return proves_below(p_.operand(op, 0), buffer, op, more);
}

/// index + more < count, for an index that is not negative.
bool BoundsFacts::below(ValueId index, Wide more, Search& s, int depth) const {
  if (at_most(index, more + 1, s, depth)) return true;
  return scaled_below(index, more, s, depth);
}

/// True if v + slack <= count. Searches from v upwards: through the operands of v, and through
/// values that v is known to be below.
bool BoundsFacts::at_most(ValueId v, Wide slack, Search& s, int depth) const {
  const BufferCounts& counts = ranges_.rules().counts();
  if (ranges_.at(v, s.at).high() + slack <= counts.of(s.buffer).lo) return true;
  if (depth == 0 || ++s.questions > most_questions) return false;
  const Ranges::Shifted split = ranges_.split(v);
  slack += split.offset;
  v = split.base;
  std::vector<Ranges::Below> known;
  ranges_.below(v, s.at, known);
  for (const Ranges::Below& k : known)  // v <= above - offset - strict
    if (at_most(k.above, slack - k.offset - (k.strict ? 1 : 0), s, depth - 1)) return true;

  const FormulaId formula = counts.formula(s.buffer);
  if (slack <= 0 && formula != no_formula && is_formula(v, formula, most_depth)) return true;

  const OpId def = p_.values[v].def;
  if (def == none) return false;
  const Op& o = p_.op(def);
  const auto operand = [&](uint32_t i) { return p_.operand(def, i); };
  const auto of = [&](uint32_t i) { return ranges_.at(operand(i), s.at); };
  const auto ask = [&](uint32_t i, Wide more) { return at_most(operand(i), more, s, depth - 1); };
  switch (o.code) {
    case Opcode::Len:
    case Opcode::Len64: return counts.count_is_at_most(o.buffer(), slack, s.buffer);
    case Opcode::Min: return ask(0, slack) || ask(1, slack);
    case Opcode::Max: return ask(0, slack) && ask(1, slack);
    case Opcode::Clamp: return ask(2, slack);
    case Opcode::Select: return ask(1, slack) && ask(2, slack);
    case Opcode::Sub: return ranges_.no_wrap(v) && ask(0, slack - of(1).low());
    case Opcode::SatSub: return of(1).low() >= 0 && of(0).low() >= 0 && ask(0, slack);
    case Opcode::Add:
      return ranges_.no_wrap(v) && (ask(0, slack + of(1).high()) || ask(1, slack + of(0).high()));
    case Opcode::Div:
    case Opcode::CeilDiv: return of(0).low() >= 0 && of(1).low() >= 1 && ask(0, slack);
    case Opcode::Shr: return of(0).low() >= 0 && ask(0, slack);
    case Opcode::And:
      return (of(0).low() >= 0 && ask(0, slack)) || (of(1).low() >= 0 && ask(1, slack));
    // x % n is below n unless n is 0, and never above x.
    case Opcode::Rem:
      if (of(0).low() < 0) return false;
      return (of(1).low() >= 1 && ask(1, slack - 1)) || ask(0, slack);
    case Opcode::Cast: {
      // Truncation does not increase a number that is not negative and stays so.
      const Type from = p_.type(operand(0));
      return is_integer(from) && is_unsigned(o.type) && of(0).low() >= 0 && ask(0, slack);
    }
    default: return false;
  }
}

/// index = i · factor + rest with i < n, n <= u / k and factor <= k: then index stays below u as
/// long as rest < factor, which is how a loop over groups of k elements looks.
bool BoundsFacts::scaled_below(ValueId index, Wide more, Search& s, int depth) const {
  if (depth == 0) return false;
  const Ranges::Shifted split = ranges_.split(index);
  const OpId def = p_.values[split.base].def;
  if (def == none || !ranges_.no_wrap(split.base)) return false;
  const auto factor_of = [&](OpId op, ValueId& group) -> Wide {
    const Op& o = p_.op(op);
    if (o.code != Opcode::Mul && o.code != Opcode::Shl) return 0;
    for (uint32_t i = o.code == Opcode::Shl ? 1 : 0; i < 2; ++i) {
      const ValueRange& r = ranges_.of(p_.operand(op, i));
      if (!r.is_constant() || r.low() <= 0) continue;
      group = p_.operand(op, 1 - i);
      if (o.code == Opcode::Mul) return r.low();
      const uint32_t shift = uint32_t(r.ulo()) & (width_of(o.type) - 1);
      return Wide{1} << shift;
    }
    return 0;
  };
  // The product itself, or a sum of it with something small.
  ValueId group = none;
  Wide rest = split.offset + more, factor = factor_of(def, group);
  if (factor == 0 && p_.op(def).code == Opcode::Add)
    for (uint32_t i = 0; i < 2 && factor == 0; ++i) {
      const ValueId product = p_.operand(def, i);
      const OpId inner = p_.values[product].def;
      if (inner == none || !ranges_.no_wrap(product)) continue;
      factor = factor_of(inner, group);
      if (factor) rest += ranges_.at(p_.operand(def, 1 - i), s.at).high();
    }
  if (factor == 0 || rest >= factor) return false;
  const Ranges::Shifted g = ranges_.split(group);
  std::vector<Ranges::Below> known;
  ranges_.below(g.base, s.at, known);
  for (const Ranges::Below& k : known) {
    // group = base + g.offset <= above - k.offset - strict + g.offset; wanted: group <= above - 1.
    if (g.offset - k.offset - (k.strict ? 1 : 0) > -1) continue;
    const Ranges::Shifted n = ranges_.split(k.above);
    const OpId quotient = n.offset == 0 ? p_.values[n.base].def : none;
    if (quotient == none) continue;
    const Op& q = p_.op(quotient);
    if (q.code != Opcode::Div && q.code != Opcode::Shr) continue;
    const ValueRange &dividend = ranges_.of(p_.operand(quotient, 0)),
                     &by = ranges_.of(p_.operand(quotient, 1));
    if (!by.is_constant() || by.low() < 0 || dividend.low() < 0) continue;
    const Wide divisor =
        q.code == Opcode::Div ? by.low() : Wide{1} << (uint32_t(by.ulo()) & (width_of(q.type) - 1));
    if (factor <= divisor && at_most(p_.operand(quotient, 0), 0, s, depth - 1)) return true;
  }
  return false;
}

/// True if the value equals the formula. Formulas are exact, so the kernel's computation must not
/// wrap.
bool BoundsFacts::is_formula(ValueId v, FormulaId f, int depth) const {
  const BufferCounts& counts = ranges_.rules().counts();
  const FormulaNode& n = p_.formulas[f];
  const ValueRange& r = ranges_.of(v);
  if (n.op == FormulaOp::Const)
    return r.is_constant() && r.low() == (n.negative ? -Wide(n.value) : Wide(n.value));
  if (depth == 0) return false;
  // Casts that keep the number.
  OpId def = p_.values[v].def;
  while (def != none && p_.op(def).code == Opcode::Cast) {
    const ValueId from = p_.operand(def, 0);
    const ValueRange& x = ranges_.of(from);
    if (!is_integer(p_.type(from)) || !is_integer(p_.type(v)) || x.low() < least(p_.type(v)) ||
        x.high() > greatest(p_.type(v)))
      return false;
    v = from;
    def = p_.values[v].def;
  }
  if (def == none) return false;
  const Op& o = p_.op(def);
  switch (n.op) {
    case FormulaOp::Scalar: return o.code == Opcode::Scalar && o.buffer() == BufferId(n.a);
    case FormulaOp::Len: {
      const BufferId buffer(n.a);
      if (o.code == Opcode::Len || o.code == Opcode::Len64) {
        if (o.buffer() == buffer) return true;
        return counts.count_is_at_most(o.buffer(), 0, buffer) &&
               counts.count_is_at_most(buffer, 0, o.buffer());
      }
      const FormulaId inner = p_.buffers.contains(buffer) ? counts.formula(buffer) : no_formula;
      return inner != no_formula && inner != f && is_formula(v, inner, depth - 1);
    }
    default: break;
  }
  if (!corresponds(n.op, o.code)) return false;
  const bool may_wrap = o.code == Opcode::Add || o.code == Opcode::Sub || o.code == Opcode::Mul;
  if (may_wrap && !ranges_.no_wrap(v)) return false;
  const bool divides = o.code == Opcode::Div || o.code == Opcode::Rem || o.code == Opcode::CeilDiv;
  if (divides && is_signed(o.type) && ranges_.of(p_.operand(def, 0)).low() < 0) return false;
  if (is_formula(p_.operand(def, 0), n.a, depth - 1) &&
      is_formula(p_.operand(def, 1), n.b, depth - 1))
    return true;
  return info(o.code).commutative && is_formula(p_.operand(def, 0), n.b, depth - 1) &&
         is_formula(p_.operand(def, 1), n.a, depth - 1);
}

}  // namespace vyre::opt
