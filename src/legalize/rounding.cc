// floor, ceil, trunc and round to even, on the bits.

#include "legalize/float_format.h"
#include "legalize/floats.h"

namespace vyre::emit_exact {

Term Floats::round(Opcode code, const Term& x) {
  if (is_native(code, x.type, x.type)) return c_.op(code, x.type, {x});
  const Shape s = shape_of(x.type);
  const Term word = bits(x), magnitude = word & s.magnitude, sign = word & s.sign;
  const Term below_one = magnitude < (s.bias << s.fraction);
  // The bits after the point; none from 2^fraction on, for infinities and NaN.
  const Term whole = min((magnitude >> s.fraction) - s.bias, c_.constant(s.word, s.fraction));
  const Term behind = c_.constant(s.word, s.leading - 1) >> whole;
  const Term one = c_.constant(s.word, s.bias << s.fraction), zero = c_.constant(s.word, 0);

  Term small = zero, more = zero;  // the result for a number below 1; the addend before truncation
  if (code == Opcode::Round) {
    small = select(magnitude > ((s.bias - 1) << s.fraction), one, zero);
    // A half goes up if the bit before the point is set.
    // Named in order: the evaluation order of arguments is unspecified.
    const Term last = behind & 1;
    const Term up = min(word & (behind + 1), last);
    more = (behind >> 1) + up;
  } else if (code != Opcode::Trunc) {
    const Term away = code == Opcode::Floor ? sign != 0 : sign == 0;
    small = select(away & (magnitude != 0), one, zero);
    more = select(away, behind, zero);
  }
  const Term before = ~behind;
  const Term cut = (word + more) & before;
  return real(select(below_one, small | sign, cut));
}

}  // namespace vyre::emit_exact
