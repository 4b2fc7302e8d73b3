#include "ir/expand_functions.h"

#include <bit>
#include <initializer_list>
#include <span>
#include <vector>

#include "ir/functions.h"
#include "ir/ir_builder.h"

namespace vyre {
namespace {

/// The algebra of functions.h over IR values: an operation inserts an op.
class Recorder {
 public:
  /// A value, or a constant that becomes an op when it is used: the result must not depend on the
  /// order in which a compiler evaluates the arguments of a call.
  struct Term {
    Type type = Type::Void;
    ValueId value = none;
    uint32_t bits = 0;
  };
  using F = Term;
  using U = Term;
  using I = Term;
  using B = Term;

  Recorder(Program& program, OpId before) : p_(program), b_(program) { b_.before(before); }

  Term operand(uint32_t i) const {
    const ValueId v = p_.operand(b_.next, i);
    return {p_.type(v), v};
  }

  Term f(float v) { return {Type::F32, none, std::bit_cast<uint32_t>(v)}; }
  Term u(uint32_t v) { return {Type::U32, none, v}; }
  Term i(int32_t v) { return {Type::I32, none, static_cast<uint32_t>(v)}; }

#define VYRE_RECORD1(name, code) \
  Term name(Term a) { return op(Opcode::code, a.type, {a}); }
#define VYRE_RECORD2(name, code) \
  Term name(Term a, Term b) { return op(Opcode::code, a.type, {a, b}); }
  VYRE_RECORD2(add, Add)
  VYRE_RECORD2(sub, Sub)
  VYRE_RECORD2(mul, Mul)
  VYRE_RECORD2(div, Div)
  VYRE_RECORD2(mulhi, MulHi)
  VYRE_RECORD1(neg, Neg)
  VYRE_RECORD1(abs, Abs)
  VYRE_RECORD2(min, Min)
  VYRE_RECORD2(max, Max)
  VYRE_RECORD1(floor, Floor)
  VYRE_RECORD1(round, Round)
  VYRE_RECORD1(trunc, Trunc)
  VYRE_RECORD2(and_, And)
  VYRE_RECORD2(or_, Or)
  VYRE_RECORD2(xor_, Xor)
  VYRE_RECORD2(shl, Shl)
  VYRE_RECORD2(shr, Shr)
  VYRE_RECORD2(lt, Lt)
  VYRE_RECORD2(le, Le)
  VYRE_RECORD2(gt, Gt)
  VYRE_RECORD2(ge, Ge)
  VYRE_RECORD2(eq, Eq)
  VYRE_RECORD2(ne, Ne)
  VYRE_RECORD2(band, And)
  VYRE_RECORD2(bor, Or)
  VYRE_RECORD1(bnot, Not)
#undef VYRE_RECORD1
#undef VYRE_RECORD2
  Term fma(Term a, Term b, Term c) { return op(Opcode::Fma, a.type, {a, b, c}); }
  Term select(Term c, Term yes, Term no) { return op(Opcode::Select, yes.type, {c, yes, no}); }

  Term f_of(Term a) { return op(Opcode::Bitcast, Type::F32, {a}); }
  Term u_of(Term a) { return op(Opcode::Bitcast, Type::U32, {a}); }
  Term i_of(Term a) { return op(Opcode::Bitcast, Type::I32, {a}); }
  Term f_from_i(Term a) { return op(Opcode::Cast, Type::F32, {a}); }
  Term i_from_f(Term a) { return op(Opcode::Cast, Type::I32, {a}); }

 private:
  Term op(Opcode code, Type type, std::initializer_list<Term> terms) {
    ValueId operands[3];
    size_t count = 0;
    for (const Term& t : terms) operands[count++] = t.value != none ? t.value : constant(t);
    const Type result = result_type(info(code).result, type);
    return {result, b_.op(code, type, {operands, count})};
  }

  // A function has at most about 50 constants, so a linear search is fast.
  ValueId constant(const Term& term) {
    for (const Term& c : constants_)
      if (c.type == term.type && c.bits == term.bits) return c.value;
    const ValueId v = b_.constant(term.type, term.bits);
    constants_.push_back({term.type, v, term.bits});
    return v;
  }

  Program& p_;
  IrBuilder b_;
  std::vector<Term> constants_;  // with their ops
};

/// The function's body; nothing for an op that is not one of these functions.
Recorder::Term expand(Recorder& r, Opcode code) {
  switch (code) {
    case Opcode::Exp: return functions::exp(r, r.operand(0));
    case Opcode::Exp2: return functions::exp2(r, r.operand(0));
    case Opcode::Log: return functions::log(r, r.operand(0));
    case Opcode::Log2: return functions::log2(r, r.operand(0));
    case Opcode::Sin: return functions::sin(r, r.operand(0));
    case Opcode::Cos: return functions::cos(r, r.operand(0));
    case Opcode::Tan: return functions::tan(r, r.operand(0));
    case Opcode::Tanh: return functions::tanh(r, r.operand(0));
    case Opcode::Pow: return functions::pow(r, r.operand(0), r.operand(1));
    case Opcode::Atan2: return functions::atan2(r, r.operand(0), r.operand(1));
    default: return {};
  }
}

bool is_function(const Op& op) {
  return info(op.code).types == TypeSet::F32 && op.type == Type::F32;
}

}  // namespace

bool expand_functions(Program& p, const OpMask& which) {
  std::vector<OpId> found;  // first, as expanding adds ops
  walk(p, [&](OpId id) {
    if (is_function(p.op(id)) && which[static_cast<size_t>(p.op(id).code)]) found.push_back(id);
  });
  if (found.empty()) return false;

  IdMap<ValueId, ValueId> replaced(p.values.size());
  for (const auto v : replaced.ids()) replaced[v] = v;
  for (const OpId id : found) {
    Recorder recorder(p, id);
    const Recorder::Term result = expand(recorder, p.op(id).code);
    if (result.value == none) continue;
    replaced[p.result(id)] = result.value;
    p.unlink(id);
  }
  replace_values(p, replaced);  // operands of expansions too: exp(exp(x))
  compact(p);
  return true;
}

}  // namespace vyre
