#include "legalize/term_builder.h"

#include "ir/eval/eval.h"
#include "legalize/expand.h"

namespace vyre::emit_exact {
namespace {

uint64_t sign_bit(Type t) { return 1ull << (width_of(t) - 1); }
uint64_t infinity(Type t) { return t == Type::F64 ? 0x7ffull << 52 : 0xffull << 23; }
bool is_comparison(Opcode code) { return code >= Opcode::Eq && code <= Opcode::Ge; }

}  // namespace

TermBuilder::TermBuilder(const Program& like) : IrBuilder(program), program(without_body(like)) {
  // Enough capacity for most programs, so that little is moved: untouched memory costs nothing.
  constexpr size_t growth = 16;
  program.ops.reserve(growth * like.ops.size());
  program.values.reserve(growth * like.values.size());
  program.ids.reserve(growth * like.ids.size());
}

ValueId TermBuilder::value(const Term& t) {
  if (!t.is_constant()) return t.value;
  ValueId& made =
      constants_.result(KnownOps::key_of(Opcode::Const, t.type, t.bits, {none, none, none, none}));
  if (made == none) {  // linked in finish(), before everything else
    const OpId id = program.add_op(Opcode::Const, t.type, {}, {&t.type, 1}, t.bits, none);
    constant_ops_.push_back(id);
    made = program.result(id);
  }
  return made;
}

Term TermBuilder::op(Opcode code, Type type, std::span<const Term> operands, uint64_t attr) {
  Term simple;
  if (simplify(code, type, operands, attr, simple)) return simple;
  ValueId values[4] = {none, none, none, none};
  for (size_t i = 0; i < operands.size(); ++i) values[i] = value(operands[i]);
  const std::span<const ValueId> list(values, operands.size());
  if (!is_pure(code)) return term(IrBuilder::op(code, type, list, attr));

  // Commutative ops have one order, with constants second.
  if (info(code).commutative) {
    const bool first = operands[0].is_constant(), second = operands[1].is_constant();
    if (first != second ? first : values[1] < values[0]) std::swap(values[0], values[1]);
  }
  ValueId& made = known_.result(KnownOps::key_of(code, type, attr, values));
  if (made == none) made = IrBuilder::op(code, type, list, attr);
  return term(made);
}

/// Simplifies ops that need no code: integers and bools that are constant, or unchanged operands.
bool TermBuilder::simplify(Opcode code, Type type, std::span<const Term> x, uint64_t attr,
                           Term& result) {
  if (!is_pure(code) || x.empty()) return false;
  const Type to = result_type(info(code).result, type);
  // Bits of a float and back. Between floats and integers only NaNs could differ, and they cannot
  // where any NaN is allowed.
  const bool any_nan = attr == uint64_t(OpMark::AnyNan);
  if (code == Opcode::Bitcast && x[0].is_constant()) {
    const bool is_nan =
        is_float(x[0].type) && (x[0].bits & ~sign_bit(x[0].type)) > infinity(x[0].type);
    if (is_nan && !any_nan) return false;
    result = constant(to, x[0].bits);
    return true;
  }
  if (code == Opcode::Bitcast) {
    const OpId def = program.values[x[0].value].def;
    const bool plain = any_nan || is_float(to) || !is_float(x[0].type);
    if (plain && def != none && program.op(def).code == Opcode::Bitcast &&
        program.type(program.operand(def, 0)) == to) {
      result = term(program.operand(def, 0));
      return true;
    }
  }
  if (code == Opcode::Cast && !x[0].is_constant()) {  // a word in range, widened and cast back
    const OpId def = program.values[x[0].value].def;
    if (def != none && program.op(def).code == Opcode::Cast &&
        has_mark(program.op(def), OpMark::InRange) && program.type(program.operand(def, 0)) == to) {
      result = term(program.operand(def, 0));
      return true;
    }
  }
  if (code == Opcode::Select) {
    if (x[0].is_constant() || (x[1].value == x[2].value && x[1].bits == x[2].bits)) {
      result = x[0].is_constant() && !x[0].bits ? x[2] : x[1];
      return true;
    }
    return false;
  }
  bool all = true, whole = !is_float(to);
  for (const Term& t : x) {
    all = all && t.is_constant();
    whole = whole && !is_float(t.type);
  }
  if (!whole) return false;
  if (all) {
    uint64_t in[4] = {};
    for (size_t i = 0; i < x.size(); ++i) in[i] = x[i].bits;
    result = constant(to, eval_bits(code, type, x[0].type, in, x.size()));
    return true;
  }
  if (x.size() != 2) return false;
  if (x[0].value == x[1].value && x[0].bits == x[1].bits && is_comparison(code)) {
    result = constant(to, code == Opcode::Eq || code == Opcode::Le || code == Opcode::Ge);
    return true;
  }
  const uint64_t ones = low_mask(width_of(type));
  const auto give = [&](const Term& t) {
    result = t;
    return true;
  };
  for (const bool swapped : {false, true}) {
    const Term& a = x[swapped];
    const Term& b = x[!swapped];
    if (!b.is_constant() || (swapped && !info(code).commutative)) continue;
    switch (code) {
      case Opcode::And:
        if (b.bits == 0) return give(constant(to, 0));
        if (b.bits == ones) return give(a);
        break;
      case Opcode::Or:
        if (b.bits == ones) return give(constant(to, ones));
        [[fallthrough]];
      case Opcode::Xor:
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Shl:
      case Opcode::Shr:
        if (b.bits == 0) return give(a);
        break;
      case Opcode::Mul:
        if (b.bits == 0) return give(constant(to, 0));
        if (b.bits == 1) return give(a);
        break;
      case Opcode::MulHi:
        if (b.bits == 0 || (b.bits == 1 && is_unsigned(type))) return give(constant(to, 0));
        break;
      default: break;
    }
  }
  return false;
}

Program TermBuilder::finish() {
  OpId first = program.blocks[body_block].first;
  for (const OpId id : constant_ops_) {
    if (first == none)
      program.append(body_block, id);
    else
      program.insert_before(first, id);
  }
  return std::move(program);
}

}  // namespace vyre::emit_exact
