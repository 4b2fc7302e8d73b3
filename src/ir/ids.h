#pragma once

// Typed indices into the arrays of a program, and arrays that are indexed by them. An OpId cannot
// be passed where a ValueId is expected, and neither converts to or from a number by accident.
//
//   IdMap<ValueId, uint32_t> uses(program.values.size());
//   for (const ValueId v : program.operands(op)) ++uses[v];
//   for (const OpId op : program.ops.ids()) …

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <vector>

namespace vyre {

/// Converts to every id that refers to nothing, and to the number that files and lists of plain
/// numbers have for it.
struct NoId {
  constexpr operator uint32_t() const { return ~0u; }
};
inline constexpr NoId none;

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr Id(NoId) {}
  constexpr explicit Id(std::integral auto value) : value_(static_cast<uint32_t>(value)) {}

  constexpr uint32_t value() const { return value_; }
  constexpr explicit operator uint32_t() const { return value_; }

  /// The id plus `n`: blocks of an op and results of an op have consecutive ids.
  friend constexpr Id operator+(Id id, uint32_t n) { return Id(id.value_ + n); }
  friend constexpr uint32_t operator-(Id a, Id b) { return a.value_ - b.value_; }
  constexpr Id& operator++() {
    ++value_;
    return *this;
  }
  constexpr Id operator++(int) { return Id(value_++); }
  constexpr Id& operator--() {
    --value_;
    return *this;
  }
  constexpr Id operator--(int) { return Id(value_--); }
  using difference_type = int64_t;  // for ranges of ids

  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
  friend constexpr bool operator==(Id id, NoId) { return id.value_ == ~0u; }

 private:
  uint32_t value_ = ~0u;
};

using OpId = Id<struct OpTag>;
using ValueId = Id<struct ValueTag>;
using BlockId = Id<struct BlockTag>;
using BufferId = Id<struct BufferTag>;            // of a kernel's buffer, array or table
using GraphBufferId = Id<struct GraphBufferTag>;  // of a graph's parameter or intermediate

/// The bit of a buffer in a set of 64 bits: kernels have at most 64 buffers.
constexpr uint64_t bit_of(BufferId buffer) { return uint64_t{1} << buffer.value(); }

/// A std::vector that only an Id indexes.
template <class I, class T>
class IdMap : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  using typename std::vector<T>::reference;
  using typename std::vector<T>::const_reference;

  reference operator[](I id) { return std::vector<T>::operator[](id.value()); }
  const_reference operator[](I id) const { return std::vector<T>::operator[](id.value()); }
  bool contains(I id) const { return id.value() < this->size(); }
  /// The id of the next element.
  I next_id() const { return I(this->size()); }
  auto ids() const { return std::views::iota(I(0), next_id()); }
};

/// An IdMap of the public interface: numbers index it, too, and a std::vector becomes one, because
/// programs that use the library count buffers from 0.
template <class I, class T>
class PublicIdMap : public IdMap<I, T> {
 public:
  using IdMap<I, T>::IdMap;
  PublicIdMap(std::vector<T> elements) { this->swap(elements); }  // NOLINT: implicit by design
  using std::vector<T>::operator[];
  using IdMap<I, T>::operator[];
};

/// Maps every id of an array to itself.
template <class I, class T>
IdMap<I, I> identity(const IdMap<I, T>& of) {
  IdMap<I, I> map;
  map.reserve(of.size());
  for (const I id : of.ids()) map.push_back(id);
  return map;
}

}  // namespace vyre

template <class Tag>
struct std::hash<vyre::Id<Tag>> {
  size_t operator()(vyre::Id<Tag> id) const { return std::hash<uint32_t>()(id.value()); }
};
