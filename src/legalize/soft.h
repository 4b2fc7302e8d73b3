#pragma once

// Soft-float routines: IEEE arithmetic by integers alone, on the bits of f32 (u32) or f64 (u64).
// They are used where no faster form is right, and after the tests of faster forms. They round to
// nearest even and keep subnormals; a NaN result is some NaN.

#include "legalize/term_builder.h"

namespace vyre::emit_exact {

Term soft_add(const Term& a, const Term& b);
Term soft_mul(const Term& a, const Term& b);
Term soft_div(const Term& a, const Term& b);
Term soft_fma(const Term& a, const Term& b, const Term& c);

/// A positive significand with its first bit at the word's top (or 0), and below it all that was
/// lost as a last bit, times 2^(exponent - bias - width + 1): rounded to the float's bits.
Term round_to_float(const Term& significand, const Term& exponent);

}  // namespace vyre::emit_exact
