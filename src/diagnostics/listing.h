#pragma once

// Text with the source line of each of its lines: a printed program, or the code that a backend
// generated from it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace vyre {

struct ListingLine {
  std::string text;
  uint32_t file = 0;    // in Listing::files
  uint32_t line = 0;    // 0: it has no source line
  uint32_t column = 0;  // 1-based; 0: not known
};

struct Listing {
  std::string language;  // to display: "x86-64-v3 assembly"
  std::vector<std::string> files;
  std::vector<ListingLine> lines;

  void add(std::string text, const Place& place) {
    if (place.line == 0) {
      lines.push_back({std::move(text)});
      return;
    }
    // Programs have only a few files.
    const auto it = std::find(files.begin(), files.end(), place.file);
    const auto file = static_cast<uint32_t>(it - files.begin());
    if (it == files.end()) files.push_back(place.file);
    lines.push_back({std::move(text), file, place.line, place.column});
  }
};

}  // namespace vyre
