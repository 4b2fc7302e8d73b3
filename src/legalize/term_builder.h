#pragma once

// The IR builder of expansions: terms with operators, so that expansions read like formulas.
//
// A pure op is not repeated where an equal one is visible. Operations on constants are folded, and
// each constant exists once, at the very beginning. Expansions need not handle any of this.

#include <cassert>
#include <initializer_list>
#include <span>
#include <vector>

#include "ir/ir_builder.h"
#include "legalize/known_ops.h"

namespace vyre::emit_exact {

class TermBuilder;

/// A value, or a constant that becomes an op when it is used.
struct Term {
  TermBuilder* code = nullptr;
  Type type = Type::Void;
  ValueId value = none;  // none: the constant `bits`
  uint64_t bits = 0;

  bool is_constant() const { return value == none; }
  bool is(uint64_t b) const { return is_constant() && bits == b; }
};

class TermBuilder : public IrBuilder {
 public:
  /// Everything of `like` but its body.
  explicit TermBuilder(const Program& like);
  TermBuilder(const TermBuilder&) = delete;
  TermBuilder& operator=(const TermBuilder&) = delete;

  Program program;

  Term constant(Type type, uint64_t bits) {
    return {this, type, none, bits & low_mask(width_of(type))};
  }
  Term term(ValueId v) { return {this, program.type(v), v, 0}; }
  /// The value of a term; makes the constant.
  ValueId value(const Term& t);

  /// An op of the table with one result. Pure ones may turn out to be there already.
  Term op(Opcode code, Type type, std::initializer_list<Term> operands, uint64_t attr = 0) {
    return op(code, type, std::span<const Term>(operands.begin(), operands.size()), attr);
  }
  Term op(Opcode code, Type type, std::span<const Term> operands, uint64_t attr = 0);
  /// The same with a mark that the op's row declares.
  Term marked(OpMark mark, Opcode code, Type type, std::initializer_list<Term> operands) {
    assert((info(code).marks & uint64_t(mark)) != 0);
    return op(code, type, operands, uint64_t(mark));
  }

  /// An `if` with one result.
  template <class Then, class Else>
  Term branch(const Term& condition, Then&& then, Else&& otherwise) {
    if (condition.is_constant()) return condition.bits ? then() : otherwise();
    const ValueId c[] = {value(condition)};
    const OpId id = IrBuilder::open(Opcode::If, c, 2);
    const Type type = arm(program.block(id, 0), then);
    arm(program.block(id, 1), otherwise);
    return term(set_results(id, {&type, 1})[0]);
  }

  /// Ops that are created until close() are visible only until then.
  void open() { known_.open(); }
  void close() { known_.close(); }

  /// The program, with its constants in front.
  Program finish();

 private:
  template <class Fn>
  Type arm(BlockId b, Fn&& fn) {
    return in(b, [&] {
      open();
      const Term result = fn();
      const ValueId yielded[] = {value(result)};
      exit(Opcode::Yield, yielded);
      close();
      return result.type;
    });
  }
  bool simplify(Opcode code, Type type, std::span<const Term> operands, uint64_t attr,
                Term& result);

  KnownOps known_, constants_;
  std::vector<OpId> constant_ops_;
};

// Operators. Shifts are logical on unsigned, arithmetic on signed types, as `shr` is.
#define VYRE_TERM(symbol, code_)                                                \
  inline Term operator symbol(const Term& a, const Term& b) {                   \
    return a.code->op(Opcode::code_, a.type, {a, b});                           \
  }                                                                             \
  inline Term operator symbol(const Term& a, uint64_t b) {                      \
    return a.code->op(Opcode::code_, a.type, {a, a.code->constant(a.type, b)}); \
  }                                                                             \
  inline Term operator symbol(uint64_t a, const Term& b) {                      \
    return b.code->op(Opcode::code_, b.type, {b.code->constant(b.type, a), b}); \
  }
VYRE_TERM(+, Add)
VYRE_TERM(-, Sub)
VYRE_TERM(*, Mul)
VYRE_TERM(/, Div)
VYRE_TERM(&, And)
VYRE_TERM(|, Or)
VYRE_TERM(^, Xor)
VYRE_TERM(<<, Shl)
VYRE_TERM(>>, Shr)
VYRE_TERM(==, Eq)
VYRE_TERM(!=, Ne)
VYRE_TERM(<, Lt)
VYRE_TERM(<=, Le)
VYRE_TERM(>, Gt)
VYRE_TERM(>=, Ge)
#undef VYRE_TERM

inline Term operator~(const Term& a) { return a.code->op(Opcode::Not, a.type, {a}); }
inline Term operator!(const Term& a) { return a.code->op(Opcode::Not, a.type, {a}); }
inline Term select(const Term& c, const Term& yes, const Term& no) {
  return yes.code->op(Opcode::Select, yes.type, {c, yes, no});
}
inline Term select(const Term& c, uint64_t yes, const Term& no) {
  return select(c, no.code->constant(no.type, yes), no);
}
inline Term select(const Term& c, const Term& yes, uint64_t no) {
  return select(c, yes, yes.code->constant(yes.type, no));
}
inline Term min(const Term& a, const Term& b) { return a.code->op(Opcode::Min, a.type, {a, b}); }
inline Term max(const Term& a, const Term& b) { return a.code->op(Opcode::Max, a.type, {a, b}); }
inline Term mulhi(const Term& a, const Term& b) {
  return a.code->op(Opcode::MulHi, a.type, {a, b});
}
/// A quotient of unsigned integers whose divisor is not 0, unless the result is not used.
inline Term quotient(const Term& a, const Term& b) {
  return a.code->marked(OpMark::InRange, Opcode::Div, a.type, {a, b});
}
inline Term clz(const Term& a) { return a.code->op(Opcode::Clz, a.type, {a}); }
inline Term cast(Type t, const Term& a) {
  return a.type == t ? a : a.code->op(Opcode::Cast, t, {a});
}
/// The bits of an integer as one of another sign.
inline Term as(Type t, const Term& a) {
  return a.type == t ? a : a.code->op(Opcode::Bitcast, t, {a});
}
/// 1 or 0.
inline Term one_if(Type t, const Term& c) {
  return select(c, c.code->constant(t, 1), c.code->constant(t, 0));
}

/// The unsigned integer of a float's width.
constexpr Type bits_type(Type t) { return width_of(t) == 64 ? Type::U64 : Type::U32; }
/// The bits of a float; any bits of a NaN for a NaN.
inline Term bits(const Term& x) {
  return x.code->marked(OpMark::AnyNan, Opcode::Bitcast, bits_type(x.type), {x});
}
/// The float that has these bits.
inline Term real(const Term& bits) {
  return bits.code->op(Opcode::Bitcast, width_of(bits.type) == 64 ? Type::F64 : Type::F32, {bits});
}

}  // namespace vyre::emit_exact
