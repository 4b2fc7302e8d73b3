#pragma once

// Loads, stores and atomics of many lanes at once. Every access is checked: out of bounds returns 0
// or is dropped. Indices come in the program's type and are compared as numbers with the 64-bit
// length.

#include <cstddef>
#include <cstdint>

#include "ir/ops.h"

namespace vyre::interp {

/// A buffer as a frame sees it. Private arrays have one copy per lane, lane_stride bytes apart.
struct View {
  std::byte* base = nullptr;
  uint64_t count = 0;  // elements
  uint64_t bytes = 0;
  uint64_t lane_stride = 0;  // 0: one copy for all lanes
};

/// One memory instruction.
struct Access {
  const View* view;
  uint32_t lanes;
  bool all;  // every lane is active
  const uint8_t* active;
  const void* index;
  void* value;            // loads: written; stores and atomics: read
  const void* value2;     // atomic_cas: the new value
  void* old;              // atomics: written
  uint32_t plus;          // added to the index as a number: load_n and store_n
  const uint32_t* order;  // lanes in the order of writing; null: ascending
};

using MemoryFn = void (*)(const Access&);
using AtomicFn = void (*)(const Access&);

/// Index types that the functions below support; others are widened first.
constexpr bool is_direct_index(Type t) {
  return t == Type::U32 || t == Type::I32 || t == Type::U64 || t == Type::I64;
}

MemoryFn find_load(Type element, Type index);
MemoryFn find_store(Type element, Type index);
/// A value of `type` at a byte offset.
MemoryFn find_load_as(Type type, Type index);
/// The index is i64 or u64. Null for types the op does not take.
AtomicFn find_atomic(Opcode code, Type type);

}  // namespace vyre::interp
