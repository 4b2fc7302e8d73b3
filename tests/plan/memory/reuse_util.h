#pragma once

// Handwritten and random inputs of scratch reuse.

#include <algorithm>
#include <initializer_list>
#include <random>

#include "plan/memory/reuse.h"

namespace vyre::plan {

inline ArmUse reads(uint32_t b) { return {.buffer = GraphBufferId(b), .reads = true}; }
inline ArmUse fills(uint32_t b) {
  return {.buffer = GraphBufferId(b), .writes = true, .overwrites = true};
}
inline ArmUse writes_some(uint32_t b) { return {.buffer = GraphBufferId(b), .writes = true}; }
inline ArmUse atomics(uint32_t b) {
  return {.buffer = GraphBufferId(b), .reads = true, .writes = true, .atomics = true};
}

inline std::pair<uint32_t, GraphBufferId> cleared(uint32_t arm, uint32_t b) {
  return {arm, GraphBufferId(b)};
}

/// Buffers of the given sizes; arms come by arm().
struct Reuse : ReuseInput {
  explicit Reuse(std::initializer_list<uint64_t> sizes, uint64_t align = 1) {
    for (const uint64_t bytes : sizes) buffers.push_back({bytes});
    alignment = align;
  }
  Reuse& arm(std::vector<ArmUse> uses, std::string name = "") {
    arms.push_back({100 + uint32_t(arms.size()), std::move(name), std::move(uses)});
    return *this;
  }
};

struct Chance {
  bool loops = true;
  bool concurrent = true;
  bool refilled = true;  // buffers that are overwritten again
};

/// A graph as real ones are: arms read things made a little earlier, some of them much earlier, and
/// fill new buffers; some buffers are written in part, some are the host's, some counted in.
inline ReuseInput generate_reuse(uint64_t seed, size_t most_arms, Chance chance = {}) {
  std::mt19937_64 random(seed);
  const auto one_in = [&](uint64_t n) { return random() % n == 0; };
  ReuseInput in;
  in.alignment = uint64_t{1} << (random() % 9);
  const size_t arms = random() % most_arms + 1;
  const uint64_t kind = random() % 4;
  const auto size = [&]() -> uint64_t {
    if (one_in(20)) return 0;
    switch (kind) {
      case 0: return 1024 * (1 + random() % 16);
      case 1: return uint64_t{1} << (random() % 20);
      case 2: return 1 + random() % 100'000;
      default: return one_in(5) ? 1'000'000 + random() % 1'000'000 : 1 + random() % 5000;
    }
  };
  const uint64_t reach = 1 + random() % 12;
  std::vector<uint32_t> made;
  for (uint32_t i = 0; i < arms; ++i) {
    Arm arm{i * 7 + 3, one_in(2) ? "same" : "", {}};
    const auto has = [&](uint32_t b) {
      return std::any_of(arm.uses.begin(), arm.uses.end(),
                         [b](const ArmUse& u) { return u.buffer.value() == b; });
    };
    const auto old = [&] {
      const uint64_t back = one_in(10) ? made.size() : std::min<uint64_t>(reach, made.size());
      return made[made.size() - 1 - random() % back];
    };
    for (uint64_t k = random() % 3; k > 0 && !made.empty(); --k)
      if (const uint32_t b = old(); !has(b))
        arm.uses.push_back(one_in(12) ? writes_some(b) : reads(b));
    for (uint64_t k = one_in(20) ? 0 : 1 + random() % 2; k > 0; --k) {
      if (chance.refilled && one_in(15) && !made.empty()) {
        if (const uint32_t b = old(); !has(b)) arm.uses.push_back(fills(b));
        continue;
      }
      const auto b = static_cast<uint32_t>(in.buffers.size());
      in.buffers.push_back({size(), one_in(15), one_in(60)});
      made.push_back(b);
      arm.uses.push_back(one_in(12) ? writes_some(b) : one_in(40) ? atomics(b) : fills(b));
    }
    in.arms.push_back(std::move(arm));
  }
  if (chance.loops)
    for (uint32_t first = 0; first < arms; ++first) {
      if (!one_in(15)) continue;
      const auto last = static_cast<uint32_t>(std::min<size_t>(first + random() % 8, arms - 1));
      in.loops.push_back({first, last, one_in(2)});
      if (last > first && one_in(3))
        in.loops.push_back(
            {first + uint32_t(random() % 2), last - uint32_t(random() % 2), one_in(2)});
      if (in.loops.back().first > in.loops.back().last) in.loops.pop_back();
      first = last;
    }
  if (chance.concurrent && one_in(3))  // forks into two or three branches
    for (uint32_t first = 0; first + 6 < arms; first += 6 + random() % 20) {
      if (!one_in(2)) continue;
      const uint32_t length = 1 + random() % 2, branches = 2 + random() % 2;
      for (uint32_t a = 0; a < branches * length; ++a)
        for (uint32_t b = a + 1; b < branches * length; ++b)
          if (a / length != b / length) in.concurrent.push_back({first + a, first + b});
    }
  return in;
}

}  // namespace vyre::plan
