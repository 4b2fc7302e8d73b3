// Bit counts and reversals of words from shifts and masks.

#include "legalize/remake.h"
#include "legalize/stages.h"

namespace vyre::emit_exact {
namespace {

bool is_bit_op(Opcode code) { return code >= Opcode::Clz && code <= Opcode::ReverseBits; }

Term count_ones(const Term& x) {
  const Term pairs = x - ((x >> 1) & 0x55555555);
  // Named in order: the evaluation order of arguments is unspecified.
  const Term upper = (pairs >> 2) & 0x33333333;
  const Term fours = (pairs & 0x33333333) + upper;
  const Term bytes = (fours + (fours >> 4)) & 0x0f0f0f0f;
  return (bytes * 0x01010101) >> 24;
}

/// Bisects the position of the first bit.
Term leading_zeros(const Term& x) {
  Term rest = x, n = x.code->constant(x.type, 32);
  for (uint32_t step = 16; step > 0; step /= 2) {
    const Term above = rest >> step;
    const Term found = above != 0;
    n = select(found, n - step, n);
    rest = select(found, above, rest);
  }
  return n - rest;
}

Term reversed(const Term& x) {
  constexpr uint64_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff};
  Term y = x;
  uint32_t step = 1;
  for (const uint64_t mask : masks) {
    const Term up = (y & mask) << step;
    y = ((y >> step) & mask) | up;
    step *= 2;
  }
  const Term up = y << 16;  // the halves need no mask: a shift drops the other one
  return (y >> 16) | up;
}

class BitStage : public Remake {
 public:
  using Remake::Remake;

 private:
  void visit(OpId id) override {
    const Op& o = from.op(id);
    if (!is_bit_op(o.code)) return copy(id);
    const Term x = as(Type::U32, operand(id, 0));
    give(id, as(o.type, expanded(o.code, x)));
  }

  static Term expanded(Opcode code, const Term& x) {
    switch (code) {
      case Opcode::Clz: return leading_zeros(x);
      case Opcode::Ctz: return count_ones(~x & (x - 1));
      case Opcode::PopCount: return count_ones(x);
      default: return reversed(x);
    }
  }
};

}  // namespace

bool needs_bit_stage(const Program& program) {
  bool found = false;
  walk(program, [&](OpId id) { found = found || is_bit_op(program.op(id).code); });
  return found;
}

Program expand_bits(const Program& program) { return BitStage(program).run(); }

}  // namespace vyre::emit_exact
