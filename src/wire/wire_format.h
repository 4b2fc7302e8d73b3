#pragma once

// The shared definitions of encoder and decoder: header, section tags, and the numbers of enums.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/module.h"
#include "ir/program.h"
#include "support/hash.h"
#include "wire/wire.h"

namespace vyre::wire {

inline constexpr std::string_view magic = "VYRE";
inline constexpr uint16_t version_major = 1;
inline constexpr uint16_t version_minor = 0;

// magic 4, major 2, minor 2, kind 4, zero 4, payload length 8, checksum 8.
inline constexpr size_t header_size = 32;
inline constexpr size_t kind_at = 8;
inline constexpr size_t length_at = 16;
inline constexpr size_t checksum_at = 24;
inline constexpr size_t section_header_size = 12;  // tag 4, length 8

/// Section tags, as the four letters in the file.
constexpr uint32_t tag(const char (&t)[5]) {
  return uint32_t(uint8_t(t[0])) | uint32_t(uint8_t(t[1])) << 8 | uint32_t(uint8_t(t[2])) << 16 |
         uint32_t(uint8_t(t[3])) << 24;
}

// Record sizes in bytes.
inline constexpr size_t formula_size = 20;
inline constexpr size_t buffer_size = 20;  // and the name
inline constexpr size_t block_size = 8;
inline constexpr size_t op_size = 12;
inline constexpr size_t location_size = 20;
inline constexpr size_t graph_buffer_size = 12;  // and the name
inline constexpr size_t graph_node_size = 44;    // and arguments and grid, 12 bytes each
inline constexpr size_t graph_pair_size = 12;

// The enums below are stored in files. Their numbers never change; new ones are added at the end
// and increase the minor version. (Ops are written by name, so ops.def may be reordered.)
static_assert(type_count == 14 && int(Type::Bool) == 1 && int(Type::U64) == 9 &&
              int(Type::F32) == 10 && int(Type::BF16) == 13);
static_assert(int(Role::In) == 0 && int(Role::Shared) == 4 && int(Role::Table) == 8);
static_assert(int(Scope::Subgroup) == 0 && int(Scope::Grid) == 2);
static_assert(int(FormulaOp::Const) == 0 && int(FormulaOp::Add) == 3 && int(FormulaOp::Max) == 10);
static_assert(int(GraphNodeKind::Call) == 0 && int(GraphNodeKind::While) == 2);
inline constexpr uint32_t role_count = 9;
inline constexpr uint32_t scope_count = 3;
inline constexpr uint32_t formula_op_count = 11;
inline constexpr uint8_t end_of_body = 3;  // in place of a node's kind
/// The number of a node's kind.
constexpr uint8_t wire_kind(GraphNodeKind kind) {
  return uint8_t(kind) + (uint8_t(kind) >= end_of_body);
}
// The comparisons that the `while` of a graph may use.
inline constexpr Opcode compares[] = {Opcode::Eq, Opcode::Ne, Opcode::Lt,
                                      Opcode::Le, Opcode::Gt, Opcode::Ge};
inline constexpr uint32_t compare_count = 6;

constexpr bool is_leaf(FormulaOp op) {
  return op == FormulaOp::Const || op == FormulaOp::Len || op == FormulaOp::Scalar;
}

/// The checksum of a file: everything but the checksum itself.
inline uint64_t checksum(std::span<const std::byte> file) {
  return Hasher().add(file.first(checksum_at)).add(file.subspan(header_size)).digest64();
}

/// Writes length and checksum into the header of a file whose other bytes are complete.
void seal(std::span<std::byte> file);

}  // namespace vyre::wire
