#pragma once

// Strength reduction of divisions: computes division and remainder of integers by a constant with
// multiplications and shifts.
//
// The identities are those of Granlund and Montgomery. For width N, unsigned x, d ≥ 3 not a power
// of two: with m = ceil(2^(N+s)/d) and m·d - 2^(N+s) ≤ 2^s, floor(x·m / 2^(N+s)) is x/d for every x
// below 2^N. An even d first loses its factors of two (x then has fewer bits and a smaller m
// suffices); other divisors take the form with N+1 bits of m. For signed x the multiplier has N
// bits and the quotient is corrected by the sign. The remainder is x - q·d. Division by 0, 1 and -1
// is left to simplify. Constants are computed in 128 bits. Checked for every dividend and
// divisor of 8 bits, every dividend and many divisors of 16, and 10^8 pairs of 32 and 64.
//
// Pays where the device's compiler does not do it: ptxas keeps even x/8 as a division. Runs in time
// linear in the number of ops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> divide_by_constant(Program& program, PassContext& context);

inline constexpr PassDescriptor divide_by_constant_pass = {
    .name = "divide_by_constant",
    .summary = "divides by constants with multiplications and shifts",
    .run = divide_by_constant,
    .phase = Phase::Scalar,
    .family = CostFamily::Scalar,
    .grows_code = true,
};

}  // namespace vyre::opt
