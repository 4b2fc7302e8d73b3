#pragma once

// Live ranges of the contents of buffers, for the planner of scratch reuse.

#include <cstdint>
#include <vector>

#include "plan/memory/reuse.h"

namespace vyre::plan {

/// Rows of bits in one block of memory.
class BitRows {
 public:
  BitRows() = default;
  BitRows(size_t rows, size_t bits) : words_((bits + 63) / 64), data_(rows * words_, 0) {}

  uint64_t* row(size_t i) { return data_.data() + i * words_; }
  const uint64_t* row(size_t i) const { return data_.data() + i * words_; }
  size_t words() const { return words_; }
  bool test(size_t i, size_t bit) const { return row(i)[bit / 64] >> (bit % 64) & 1; }
  void set(size_t i, size_t bit) { row(i)[bit / 64] |= uint64_t{1} << (bit % 64); }
  void reset(size_t i, size_t bit) { row(i)[bit / 64] &= ~(uint64_t{1} << (bit % 64)); }
  template <class Fn>
  void each(size_t i, Fn&& fn) const {
    const uint64_t* const r = row(i);
    for (size_t w = 0; w < words_; ++w)
      for (uint64_t bits = r[w]; bits != 0; bits &= bits - 1)
        fn(static_cast<uint32_t>(w * 64 + static_cast<size_t>(__builtin_ctzll(bits))));
  }

 private:
  size_t words_ = 0;
  std::vector<uint64_t> data_;
};

/// Limit of the buffers that a plan considers: above it the smallest are ignored, so that the
/// tables stay small.
inline constexpr size_t most_reused = 16384;

/// A larger buffer never shares memory. Sums of such sizes do not overflow.
inline constexpr uint64_t most_reused_bytes = uint64_t{1} << 48;

struct Lifetimes {
  static constexpr uint32_t never = ~0u;

  /// Buffers that may be recycled and that some arm uses, or none; columns of the tables.
  std::vector<GraphBufferId> buffers;
  BitRows live;    // by arm: their memory is in use
  BitRows needed;  // by arm, and one more for the end: their contents are needed when it begins
  BitRows used;    // by arm: it uses them
  std::vector<uint32_t> clear_at;  // by column: the arm before which it is cleared, or never

  /// By arm, ascending: arms that may run at the same time.
  std::vector<std::vector<uint32_t>> partners;
};

/// True if arms, buffers and loops exist, ids are unique, and loops do not cross.
bool makes_sense(const ReuseInput& input);

/// Finds live ranges of an input that makes sense. Uses a few words for each arm and 64 buffers,
/// times the depth of loops.
Lifetimes find_lifetimes(const ReuseInput& input);

}  // namespace vyre::plan
