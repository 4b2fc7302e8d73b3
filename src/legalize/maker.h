#pragma once

// The program that an expansion is making: terms with operators, so that expansions read like the
// formulas they are.
//
// Ops are not repeated where an equal pure op is visible already, operations on constants are done
// at once, and constants stand once, at the very beginning. Expansions need not care for any of it.

#include <initializer_list>
#include <span>
#include <vector>

#include "ir/program.h"
#include "legalize/known_ops.h"

namespace vyre::emit_exact {

/// Op::attr of a `bitcast` from a float to an integer that may give any NaN's bits for a NaN:
/// whoever emits it need not make them canonical. (The interpreter does, which is one way.)
inline constexpr uint64_t any_nan = 1;
/// Op::attr of a float op that is to be computed by its long form: form() of expand.h, a function
/// where it is emitted. (The interpreter computes the op, which gives the same.)
inline constexpr uint64_t by_function = 2;
/// Op::attr of an `abs` of a float that may give a zero for a subnormal.
inline constexpr uint64_t may_flush = 4;

class Maker;

/// A value, or a constant that becomes an op when it is used.
struct Term {
  Maker* code = nullptr;
  Type type = Type::Void;
  ValueId value = none;  // none: the constant `bits`
  uint64_t bits = 0;

  bool is_constant() const { return value == none; }
  bool is(uint64_t b) const { return is_constant() && bits == b; }
};

class Maker {
 public:
  /// Everything of `like` but its body.
  explicit Maker(const Program& like);
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  Program program;
  LocId loc = none;   // of the ops made next
  BlockId block = body_block;  // where they go

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
  /// Any op as it is.
  OpId raw(Opcode code, Type type, std::span<const ValueId> operands, std::span<const Type> results,
           uint64_t attr = 0);
  /// Gives an op that has none its blocks.
  void add_blocks(OpId op, uint32_t count);
  /// Gives an op its results after the fact.
  void set_results(OpId op, std::span<const Type> types);

  /// An `if` with one result.
  template <class Then, class Else>
  Term branch(const Term& condition, Then&& then, Else&& otherwise) {
    if (condition.is_constant()) return condition.bits ? then() : otherwise();
    const ValueId c[] = {value(condition)};
    const OpId id = raw(Opcode::If, Type::Void, c, {});
    add_blocks(id, 2);
    const BlockId outside = block;
    const Type type = arm(program.op(id).first_block, then);
    arm(program.op(id).first_block + 1, otherwise);
    block = outside;
    const Type types[] = {type};
    set_results(id, types);
    return term(program.result(id));
  }

  /// What is made until close() is visible until then only.
  void open() { known_.open(); }
  void close() { known_.close(); }

  /// The program, with its constants in front.
  Program finish();

 private:
  template <class Fn>
  Type arm(BlockId b, Fn&& fn) {
    block = b;
    open();
    const Term result = fn();
    const ValueId yielded[] = {value(result)};
    raw(Opcode::Yield, Type::Void, yielded, {});
    close();
    return result.type;
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
  return x.code->op(Opcode::Bitcast, bits_type(x.type), {x}, any_nan);
}
/// The float that has these bits.
inline Term real(const Term& bits) {
  return bits.code->op(Opcode::Bitcast, width_of(bits.type) == 64 ? Type::F64 : Type::F32, {bits});
}

}  // namespace vyre::emit_exact
