#pragma once

// The rows of ops.def as data.

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/types.h"

namespace vyre {

enum class Opcode : uint8_t {
#define VYRE_OP(Name, ...) Name,
#include "ir/ops.def"
#undef VYRE_OP
};

enum class TypeSet : uint8_t {
  None,
  Int,
  Float,
  F32,
  Num,
  SignedNum,
  Logic,
  Any,
  Atomic,
  AtomicAdd
};
enum class AttrKind : uint8_t { None, Bits, Dim, Buffer, Memory, Scope, Name };
enum class Effect : uint8_t { Pure, Read, Write, Atomic, Sync, Convergent, Trap, Control, Exit };
enum class Exactness : uint8_t { Exact, Tested, Ordered };

/// Marks that legalization (src/legalize) sets in Op::attr for emitters. Only programs that
/// expand() has returned have marks: the checker rejects them, and no reader or encoder knows them.
enum class OpMark : uint8_t {
  None,
  AnyNan = 1,      // any NaN may result for a NaN (the interpreter returns the canonical one)
  ByFunction = 2,  // computed by its out-of-line expansion (form() of legalize/expand.h)
  MayFlush = 4,    // a zero may result for a subnormal
  // The result is unspecified where targets' instructions differ: divisors of 0, MIN / -1, shifts
  // by the width or more, numbers that the narrower type of a cast lacks. No such result is used.
  InRange = 8,
};

struct OpInfo {
  std::string_view name;      // the C++ name, "AtomicAdd"
  std::string_view mnemonic;  // "atomic_add"
  std::string_view operands;  // signature left of the colon; "?" for structured ops
  char result;                // T U L B * - ; 0 for structured ops
  TypeSet types;
  AttrKind attribute;
  Effect effect;
  Exactness exactness;
  bool commutative;
  uint8_t marks;  // the set of OpMarks that the op can have, one at a time
  std::string_view doc;
};

std::span<const OpInfo> all_ops();
const OpInfo& info(Opcode code);
inline std::string_view mnemonic(Opcode code) { return info(code).mnemonic; }
/// The op with this mnemonic, or null.
const Opcode* find_op(std::string_view mnemonic);

bool contains(TypeSet set, Type t);
/// "an integer", "a number", … for messages.
std::string_view describe(TypeSet set);

inline bool is_exit(Opcode c) { return info(c).effect == Effect::Exit; }
inline bool is_control(Opcode c) { return info(c).effect == Effect::Control; }
inline bool is_loop(Opcode c) { return c == Opcode::For || c == Opcode::While; }
inline bool is_pure(Opcode c) { return info(c).effect == Effect::Pure; }
inline bool is_atomic(Opcode c) { return info(c).effect == Effect::Atomic; }

/// Result type of a fixed-signature op whose T is `t`.
constexpr Type result_type(char result, Type t) {
  switch (result) {
    case 'T':
    case '*': return t;
    case 'U': return Type::U32;
    case 'L': return Type::U64;
    case 'B': return Type::Bool;
    default: return Type::Void;
  }
}

}  // namespace vyre
