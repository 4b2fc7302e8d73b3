#pragma once

// Random choices that are the same on every machine: splitmix64, and no distributions of <random>,
// which differ between standard libraries.

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace vyre::lab {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) { next(); }

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 … n-1; n is not 0. (The bias of a remainder does not matter here.)
  uint64_t below(uint64_t n) { return next() % n; }
  /// lo … hi, both included.
  uint64_t between(uint64_t lo, uint64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  template <class List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace vyre::lab
