#pragma once

// Operations on f32 and f64 with the specified results, on a device that may compute some of them
// wrong. Each function creates the native op if the profile says that it is right, else an exact
// form from ops that are right. The forms depend on each other only towards integers, so expansion
// ends.
//
// Assumptions about every device: integer ops are right; bitcast, select, load, store, shuffle and
// the values of control flow move bits as they are. About wrong f32 ops: those that profile.h
// states for normal32 and fused32, and that the sqrt of a number from 1 to 4 is within 2^-21 of it.

#include <span>

#include "legalize/profile.h"
#include "legalize/term_builder.h"

namespace vyre::emit_exact {

/// True if the op is right as it is. `type` is the op's, `source` that of its first operand.
bool is_native(const Profile& profile, Opcode code, Type type, Type source);
/// True for comparisons of f32.
bool compares32(Opcode code, Type type, Type source);

class Floats {
 public:
  /// `functions`: long forms stay ops that are marked ByFunction.
  Floats(TermBuilder& code, const Profile& profile, bool functions)
      : c_(code), p_(profile), functions_(functions) {}

  /// The same for the ops of a form. (A form may select by the results of its comparisons.)
  bool is_native(Opcode code, Type type, Type source) const {
    return emit_exact::is_native(p_, code, type, source) &&
           (p_.choose32 || !compares32(code, type, source));
  }
  /// An op that is not.
  Term expand(Opcode code, Type type, std::span<const Term> operands);

  Term neg(const Term& x);
  Term abs(const Term& x);
  Term is_nan(const Term& x);
  Term is_inf(const Term& x);
  Term compare(Opcode code, const Term& a, const Term& b);
  Term minimum(const Term& a, const Term& b) { return extreme(Opcode::Min, a, b); }
  Term maximum(const Term& a, const Term& b) { return extreme(Opcode::Max, a, b); }
  Term add(const Term& a, const Term& b);
  Term sub(const Term& a, const Term& b) { return add_signed(Opcode::Sub, a, b); }
  Term mul(const Term& a, const Term& b);
  Term div(const Term& a, const Term& b);
  Term sqrt(const Term& x);
  Term fma(const Term& a, const Term& b, const Term& c);
  Term round(Opcode code, const Term& x);
  Term convert(Type to, const Term& x);
  /// The form after the test for operands that the native op computes right, if there is one: exact
  /// for the others. Add, Mul, Div, Sqrt, Fma.
  Term long_form(Opcode code, std::span<const Term> operands);

 private:
  /// The out-of-line expansion, or the op that stands for it.
  Term by_long_form(Opcode code, std::initializer_list<Term> operands);
  bool is_short(Opcode code, Type type) const;
  Term long_add(const Term& a, const Term& b);
  Term long_div(const Term& a, const Term& b);
  Term long_sqrt(const Term& x);
  Term long_fma(const Term& a, const Term& b, const Term& c);
  Term slow_fma(const Term& a, const Term& b, const Term& c);
  bool finds_small32() const;
  template <class Fn>
  Term unless_subnormal(const Term& a, const Term& b, const Term& c, const Term& result,
                        Fn&& otherwise);
  Term add_signed(Opcode code, const Term& a, const Term& b);
  Term compare_with(Opcode code, const Term& x, const Term& constant);
  Term extreme(Opcode code, const Term& a, const Term& b);
  Term native(Opcode code, const Term& a, const Term& b) { return c_.op(code, a.type, {a, b}); }
  Term widen(const Term& x);
  Term narrow(const Term& x);
  Term to_integer(Type to, const Term& x);
  Term from_integer(Type to, const Term& x);
  /// True if f64 add, mul and both conversions are available to compute f32 with.
  bool has_f64() const { return p_.float64 && p_.add64 && p_.mul64; }

  TermBuilder& c_;
  const Profile p_;
  const bool functions_;
};

}  // namespace vyre::emit_exact
