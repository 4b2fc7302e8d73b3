#include "ir/ops.h"

#include <array>
#include <unordered_map>

namespace vyre {
namespace {

constexpr std::string_view operands_of(std::string_view signature) {
  return signature.substr(0, signature.find(':'));
}
constexpr char result_of(std::string_view signature) {
  const auto colon = signature.find(':');
  return colon == std::string_view::npos ? '\0' : signature[colon + 1];
}
// Flags of a row: marks, and one bit that is not a mark.
constexpr int Commutative = 128;
constexpr int AnyNan = int(OpMark::AnyNan);
constexpr int ByFunction = int(OpMark::ByFunction);
constexpr int MayFlush = int(OpMark::MayFlush);
constexpr int InRange = int(OpMark::InRange);

constexpr OpInfo table[] = {
#define VYRE_OP(Name, mnemonic, signature, types, attribute, effect, exactness, flags, doc) \
  {#Name,                                                                                   \
   mnemonic,                                                                                \
   operands_of(signature),                                                                  \
   result_of(signature),                                                                    \
   TypeSet::types,                                                                          \
   AttrKind::attribute,                                                                     \
   Effect::effect,                                                                          \
   Exactness::exactness,                                                                    \
   ((flags) & Commutative) != 0,                                                            \
   (flags) & ~Commutative,                                                                  \
   doc},
#include "ir/ops.def"
#undef VYRE_OP
};

}  // namespace

std::span<const OpInfo> all_ops() { return table; }
const OpInfo& info(Opcode code) { return table[static_cast<size_t>(code)]; }

const Opcode* find_op(std::string_view mnemonic) {
  static const auto index = [] {
    std::unordered_map<std::string_view, Opcode> map;
    for (size_t i = 0; i < std::size(table); ++i)
      map.emplace(table[i].mnemonic, static_cast<Opcode>(i));
    return map;
  }();
  const auto it = index.find(mnemonic);
  return it == index.end() ? nullptr : &it->second;
}

bool contains(TypeSet set, Type t) {
  switch (set) {
    case TypeSet::None: return t == Type::Void;
    case TypeSet::Int: return is_integer(t);
    case TypeSet::Float: return is_float(t);
    case TypeSet::F32: return t == Type::F32;
    case TypeSet::Num: return is_numeric(t);
    case TypeSet::SignedNum: return is_signed(t) || is_float(t);
    case TypeSet::Logic: return is_integer(t) || t == Type::Bool;
    case TypeSet::Any: return is_value(t);
    case TypeSet::Atomic: return is_integer(t) && size_of(t) >= 4;
    case TypeSet::AtomicAdd: return (is_integer(t) && size_of(t) >= 4) || t == Type::F32;
  }
  return false;
}

std::string_view describe(TypeSet set) {
  switch (set) {
    case TypeSet::None: return "nothing";
    case TypeSet::Int: return "an integer";
    case TypeSet::Float: return "a float (f32 or f64)";
    case TypeSet::F32: return "f32";
    case TypeSet::Num: return "a number";
    case TypeSet::SignedNum: return "a signed integer or a float";
    case TypeSet::Logic: return "an integer or bool";
    case TypeSet::Any: return "any value";
    case TypeSet::Atomic: return "i32, u32, i64 or u64";
    case TypeSet::AtomicAdd: return "i32, u32, i64, u64 or f32";
  }
  return "";
}

}  // namespace vyre
