#pragma once

// Shadow memory: for every element of a buffer its latest accesses and its last write. Pages are
// allocated when they are touched and counted against the memory limit.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interp/interp_limits.h"
#include "sanitizer/knowledge.h"

namespace vyre::interp {

inline constexpr uint32_t site_bits = 24;
inline constexpr uint32_t value_bits = 24;
inline constexpr uint64_t max_threads = 1ull << (64 - site_bits);

/// An access: its invocation, site and tick, and for an atomic its value.
struct Past {
  uint64_t who = 0;                 // invocation in the high bits, site in the low ones
  uint64_t tick : 40 = 0;           // enough for years
  uint64_t value : value_bits = 0;  // value_tag()

  Past() = default;
  Past(uint64_t thread, uint32_t site, uint64_t t, uint32_t v)
      : who(thread << site_bits | site), tick(t), value(v) {}
  uint64_t thread() const { return who >> site_bits; }
  uint32_t site() const { return static_cast<uint32_t>(who & ((1u << site_bits) - 1)); }
};

/// Small values unchanged, others as a hash: different tags are different values, and equal tags
/// are equal values but for one pair in 2^23.
inline uint32_t value_tag(uint64_t value) {
  constexpr uint64_t half = uint64_t{1} << (value_bits - 1);
  return static_cast<uint32_t>(value < half ? value : half | (value * 0x9e3779b97f4a7c15 >> 41));
}

/// The accesses of one element. Two accesses are in the cell, further ones in a list.
struct Cell {
  Past past[2];
  uint64_t written = 0;  // tick of the last write, 0: never
  uint32_t count = 0;
  uint32_t more = 0;  // list in Shadow::lists, if count > 2
};

/// Releases that an acquire of this element synchronizes with.
struct Released {
  Knowledge by_all;                                       // at the scope of the device
  std::vector<std::pair<uint64_t, Knowledge>> by_groups;  // the releases of each workgroup
  uint64_t tick = 0;                                      // of the last one
};

class Shadow {
 public:
  static constexpr uint64_t page_cells = 256;

  explicit Shadow(uint64_t elements) : pages_((elements + page_cells - 1) / page_cells) {}

  /// Bytes that a shadow of this number of elements takes before any access.
  static uint64_t bytes(uint64_t elements) {
    return (elements + page_cells - 1) / page_cells * sizeof(void*);
  }

  Cell* find(uint64_t element) {
    Cell* const page = pages_[element / page_cells].get();
    return page ? page + element % page_cells : nullptr;
  }
  /// A page for this element; throws bad_alloc.
  Cell* make(uint64_t element) {
    auto& page = pages_[element / page_cells];
    page = std::make_unique<Cell[]>(page_cells);
    return page.get() + element % page_cells;
  }

  Past& at(Cell& c, uint32_t i) { return i < 2 ? c.past[i] : lists_[c.more][i - 2]; }
  void append(Cell& c, const Past& p);
  /// Keeps the first n.
  void shrink(Cell& c, uint32_t n);
  /// Bytes of the lists, roughly.
  uint64_t list_bytes() const { return list_bytes_; }

  uint64_t zeroed = 0;         // tick at which all was zeroed; earlier writes are gone
  bool lasting = false;        // outlives the launch: a graph's
  bool given_by_host = false;  // every element counts as written
  std::unordered_map<uint64_t, Released> released;  // by element

 private:
  std::vector<std::unique_ptr<Cell[]>> pages_;
  std::vector<std::vector<Past>> lists_;
  std::vector<uint32_t> free_lists_;
  uint64_t list_bytes_ = 0;
};

}  // namespace vyre::interp
