// Bit counts, reversals and fields from shifts and masks.

#include "legalize/remake.h"
#include "legalize/stages.h"

namespace vyre::emit_exact {
namespace {

bool is_bit_op(Opcode code) { return code >= Opcode::Clz && code <= Opcode::Insert; }

/// A byte, repeated over the word.
uint64_t bytes_of(uint64_t byte, Type word) {
  return byte * 0x0101010101010101ull & low_mask(width_of(word));
}

Term count_ones(const Term& x) {
  const auto mask = [&](uint64_t byte) { return bytes_of(byte, x.type); };
  const Term pairs = x - ((x >> 1) & mask(0x55));
  // Named in order: the evaluation order of arguments is unspecified.
  const Term upper = (pairs >> 2) & mask(0x33);
  const Term fours = (pairs & mask(0x33)) + upper;
  const Term bytes = (fours + (fours >> 4)) & mask(0x0f);
  return (bytes * mask(1)) >> (width_of(x.type) - 8);
}

/// Halves the place of the first bit again and again.
Term leading_zeros(const Term& x) {
  Term rest = x, n = x.code->constant(x.type, width_of(x.type));
  for (uint32_t step = width_of(x.type) / 2; step > 0; step /= 2) {
    const Term above = rest >> step;
    const Term found = above != 0;
    n = select(found, n - step, n);
    rest = select(found, above, rest);
  }
  return n - rest;
}

Term reversed(const Term& x) {
  Term y = x;
  const uint32_t width = width_of(x.type);
  const uint64_t masks[] = {0x5555555555555555ull, 0x3333333333333333ull, 0x0f0f0f0f0f0f0f0full,
                            0x00ff00ff00ff00ffull, 0x0000ffff0000ffffull, 0x00000000ffffffffull};
  for (uint32_t step = 1, i = 0; step < width; step *= 2, ++i) {
    const uint64_t mask = masks[i] & low_mask(width);
    // The outermost halves need no mask: a shift drops the other one.
    const bool outermost = 2 * step == width;
    const Term up = outermost ? y << step : (y & mask) << step;
    const Term down = outermost ? y >> step : (y >> step) & mask;
    y = down | up;
  }
  return y;
}

class BitStage : public Remake {
 public:
  using Remake::Remake;

 private:
  void visit(OpId id) override {
    const Op& o = from.op(id);
    if (!is_bit_op(o.code)) return copy(id);
    // Narrow ones in words of 32 bits.
    const Type unsigned_type = o.type == Type::I8    ? Type::U8
                               : o.type == Type::I16 ? Type::U16
                                                     : o.type;
    const Type word = width_of(o.type) == 64 ? Type::U64 : Type::U32;
    const auto as_word = [&](const Term& t) {
      return width_of(t.type) < 32 ? cast(word, as(unsigned_type, t)) : as(word, t);
    };
    const auto back = [&](const Term& t) {
      return width_of(o.type) < 32 ? cast(o.type, t) : as(o.type, t);
    };
    const uint32_t width = width_of(o.type), spare = width_of(word) - width;
    const Term x = as_word(operand(id, 0));
    switch (o.code) {
      case Opcode::Clz: return give(id, back(leading_zeros(x) - spare));
      case Opcode::Ctz: {
        const Term end = spare ? x | 1ull << width : x;
        const Term below = end - 1;
        return give(id, back(count_ones(~end & below)));
      }
      case Opcode::PopCount: return give(id, back(count_ones(x)));
      case Opcode::ReverseBits: return give(id, back(reversed(x) >> spare));
      default: break;
    }
    const bool insert = o.code == Opcode::Insert;
    const Term all = c.constant(Type::U32, width);
    const Term offset = min(operand(id, insert ? 2 : 1), all);
    const Term count = min(operand(id, insert ? 3 : 2), all - offset);
    const uint32_t full = width_of(word);
    const auto amount = [&](const Term& t) { return cast(word, t); };
    const Term empty = count == 0;
    if (insert) {
      const Term field = (c.constant(word, ~0ull) >> amount(full - count)) << amount(offset);
      const Term inserted = (as_word(operand(id, 1)) << amount(offset)) & field;
      const Term mixed = (x & ~field) | inserted;
      return give(id, back(select(empty, x, mixed)));
    }
    const Term top = x << amount(full - offset - count);
    const Type shifted = is_signed(o.type) ? (full == 64 ? Type::I64 : Type::I32) : word;
    const Term value = as(shifted, top) >> as(shifted, amount(full - count));
    give(id, back(select(empty, 0, as(word, value))));
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
