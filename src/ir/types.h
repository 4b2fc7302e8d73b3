#pragma once

// The scalar types of the language. F16 and BF16 are storage types: elements of buffers may have
// them, values never do (a load gives F32, a store takes F32).

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vyre {

enum class Type : uint8_t { Void, Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, F16, BF16 };
inline constexpr int type_count = 14;

constexpr std::string_view name(Type t) {
  constexpr std::string_view names[] = {"void", "bool", "i8",  "u8",  "i16", "u16", "i32",
                                        "u32",  "i64",  "u64", "f32", "f64", "f16", "bf16"};
  return names[static_cast<int>(t)];
}

constexpr std::optional<Type> find_type(std::string_view text) {
  for (int i = 1; i < type_count; ++i)
    if (name(static_cast<Type>(i)) == text) return static_cast<Type>(i);
  return std::nullopt;
}

constexpr bool is_signed(Type t) {
  return t == Type::I8 || t == Type::I16 || t == Type::I32 || t == Type::I64;
}
constexpr bool is_unsigned(Type t) {
  return t == Type::U8 || t == Type::U16 || t == Type::U32 || t == Type::U64;
}
constexpr bool is_integer(Type t) { return is_signed(t) || is_unsigned(t); }
constexpr bool is_float(Type t) { return t == Type::F32 || t == Type::F64; }
constexpr bool is_numeric(Type t) { return is_integer(t) || is_float(t); }
constexpr bool is_storage_only(Type t) { return t == Type::F16 || t == Type::BF16; }
/// Returns whether a value may have this type.
constexpr bool is_value(Type t) { return t != Type::Void && !is_storage_only(t); }

/// Bytes of an element in memory (a bool is one byte); 0 for Void.
constexpr uint32_t size_of(Type t) {
  constexpr uint8_t sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 2};
  return sizes[static_cast<int>(t)];
}
/// Bits of an integer or float; 1 for Bool.
constexpr uint32_t width_of(Type t) { return t == Type::Bool ? 1 : size_of(t) * 8; }

/// The type of the value that a load of an element returns and a store takes.
constexpr Type value_type(Type element) { return is_storage_only(element) ? Type::F32 : element; }

/// All ones in the low `bits` bits.
constexpr uint64_t low_mask(uint32_t bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

}  // namespace vyre
