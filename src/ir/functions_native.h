#pragma once

// The plain C++ algebra: the one source of src/ir/functions.h evaluated on
// ordinary values. It is the reference for what each operation means; every
// other algebra has to give the same bits.
//
// Must be compiled without contraction (-ffp-contract=off) and without any of
// -ffast-math's licences. std::fma is used for fma: it is one instruction under
// -mfma and correctly rounded (if slower) without.
#include <bit>
#include <cmath>
#include <cstdint>

namespace vyre::functions {

struct NativeAlgebra {
  using F = float;
  using U = std::uint32_t;
  using I = std::int32_t;
  using B = bool;

  // Constants.
  F f(float value) const { return value; }
  U u(std::uint32_t value) const { return value; }
  I i(std::int32_t value) const { return value; }

  // f32 arithmetic: each result correctly rounded, subnormals kept.
  F add(F a, F b) const { return a + b; }
  F sub(F a, F b) const { return a - b; }
  F mul(F a, F b) const { return a * b; }
  F div(F a, F b) const { return a / b; }
  F fma(F a, F b, F c) const { return std::fma(a, b, c); }
  F neg(F a) const { return f_of(u_of(a) ^ 0x80000000u); }
  F abs(F a) const { return f_of(u_of(a) & 0x7fffffffu); }
  // One NaN is ignored and -0 is ordered below +0: for equal operands the sign
  // bits are joined, which is the identity on everything but the two zeros.
  // ('|', not '||', here and below: nothing may become a branch.)
  F min(F a, F b) const {
    const F ordered = ((a < b) | (b != b)) ? a : b;
    return a == b ? f_of(u_of(a) | u_of(b)) : ordered;
  }
  F max(F a, F b) const {
    const F ordered = ((a > b) | (b != b)) ? a : b;
    return a == b ? f_of(u_of(a) & u_of(b)) : ordered;
  }
  F floor(F a) const { return std::floor(a); }
  F round(F a) const { return std::nearbyint(a); }  // ties to even
  F trunc(F a) const { return std::trunc(a); }

  // Integers wrap; the signed ones go through unsigned, where wrapping is
  // defined.
  U add(U a, U b) const { return a + b; }
  U sub(U a, U b) const { return a - b; }
  U mul(U a, U b) const { return a * b; }
  U mulhi(U a, U b) const { return static_cast<U>((static_cast<std::uint64_t>(a) * b) >> 32); }
  I add(I a, I b) const { return i_of(u_of(a) + u_of(b)); }
  I sub(I a, I b) const { return i_of(u_of(a) - u_of(b)); }
  I mul(I a, I b) const { return i_of(u_of(a) * u_of(b)); }

  U and_(U a, U b) const { return a & b; }
  U or_(U a, U b) const { return a | b; }
  U xor_(U a, U b) const { return a ^ b; }
  // Shift counts count modulo the width.
  U shl(U a, U count) const { return a << (count & 31u); }
  U shr(U a, U count) const { return a >> (count & 31u); }
  I shr(I a, I count) const { return a >> (count & 31); }

  B lt(F a, F b) const { return a < b; }
  B le(F a, F b) const { return a <= b; }
  B gt(F a, F b) const { return a > b; }
  B ge(F a, F b) const { return a >= b; }
  B eq(F a, F b) const { return a == b; }
  B ne(F a, F b) const { return a != b; }
  B lt(U a, U b) const { return a < b; }
  B le(U a, U b) const { return a <= b; }
  B gt(U a, U b) const { return a > b; }
  B ge(U a, U b) const { return a >= b; }
  B eq(U a, U b) const { return a == b; }
  B ne(U a, U b) const { return a != b; }
  B lt(I a, I b) const { return a < b; }
  B le(I a, I b) const { return a <= b; }
  B gt(I a, I b) const { return a > b; }
  B ge(I a, I b) const { return a >= b; }
  B eq(I a, I b) const { return a == b; }
  B ne(I a, I b) const { return a != b; }

  B band(B a, B b) const { return a & b; }
  B bor(B a, B b) const { return a | b; }
  B bnot(B a) const { return !a; }

  F select(B chosen, F yes, F no) const { return chosen ? yes : no; }
  U select(B chosen, U yes, U no) const { return chosen ? yes : no; }
  I select(B chosen, I yes, I no) const { return chosen ? yes : no; }

  F f_of(U bits) const { return std::bit_cast<F>(bits); }
  U u_of(F value) const { return std::bit_cast<U>(value); }
  I i_of(F value) const { return std::bit_cast<I>(value); }
  U u_of(I value) const { return static_cast<U>(value); }
  I i_of(U bits) const { return static_cast<I>(bits); }

  F f_from_i(I value) const { return static_cast<F>(value); }
  // Towards zero, saturating, NaN to 0. The conversion only sees what fits.
  I i_from_f(F value) const {
    const bool fits = (value >= -0x1p31f) & (value < 0x1p31f);
    const I inside = static_cast<I>(fits ? value : 0.0f);
    const I above = value >= 0x1p31f ? INT32_MAX : 0;
    const I outside = value < -0x1p31f ? INT32_MIN : above;
    return fits ? inside : outside;
  }
};

}  // namespace vyre::functions
