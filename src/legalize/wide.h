#pragma once

// Arithmetic on 64-bit integers as pairs of u32.

#include "legalize/term_builder.h"

namespace vyre::emit_exact {

struct Pair {
  Term low, high;
};

Pair pair_of(TermBuilder& c, uint64_t value);
Pair select(const Term& c, const Pair& yes, const Pair& no);
/// From and to an integer of at most 32 bits, or a bool.
Pair widened(const Term& x);
Term is_zero(const Pair& x);
Term is_negative(const Pair& x);  // as i64

Pair operator+(const Pair& a, const Pair& b);
Pair operator-(const Pair& a, const Pair& b);
Pair operator*(const Pair& a, const Pair& b);
Term operator==(const Pair& a, const Pair& b);
Term less(const Pair& a, const Pair& b, bool is_signed);
Pair high_product(const Pair& a, const Pair& b, bool is_signed);
/// Amounts are u32 and count modulo 64.
Pair shift_left(const Pair& x, const Term& n);
Pair shift_right(const Pair& x, const Term& n, bool is_signed);
Pair rotate_left(const Pair& x, const Term& n);

struct Division {
  Pair quotient, remainder;
};
/// With the specified results for 0 and the lowest number.
Division divide(const Pair& a, const Pair& b, bool is_signed);

/// A pure op that legalization of integers leaves, with a 64-bit integer as T and result: operands
/// as pairs, of which those that are u32 or bool have a low part only.
Pair wide_op(Opcode code, bool is_signed, std::span<const Pair> operands);

}  // namespace vyre::emit_exact
