#pragma once

// Seeded changes of a text, for tests that give readers damaged input.

#include <span>
#include <string>
#include <string_view>

#include "generate/random.h"

namespace vyre {

/// Replaces, inserts, removes and repeats pieces of the text, one to three times.
inline std::string edited(std::string s, std::span<const std::string_view> pieces, lab::Random& r) {
  for (size_t edits = 1 + r.below(3); edits > 0; --edits) {
    const size_t at = r.below(s.size() + 1);
    const size_t digit = s.find_first_of("0123456789", at);
    switch (r.below(5)) {
      case 0: s.erase(at, 1 + r.below(8)); break;
      case 1: s.insert(at, pieces[r.below(pieces.size())]); break;
      case 2:
        if (digit != s.npos) s[digit] = static_cast<char>('0' + r.below(10));
        break;
      case 3:
        if (digit != s.npos) s.replace(digit, 1, pieces[r.below(pieces.size())]);
        break;
      default: s.insert(at, s.substr(at, 1 + r.below(40))); break;
    }
  }
  return s;
}

}  // namespace vyre
