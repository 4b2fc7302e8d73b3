#pragma once

// An output of a run as a picture, for pages. Two rules define which outputs are pictures
// (docs/report.md); other outputs have none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/types.h"

namespace vyre::report {

/// The longer side of a picture in a page has at most this many pixels. A larger one is shrunk:
/// each pixel is the mean of a square of elements.
inline constexpr uint64_t max_picture_side = 640;

struct Picture {
  std::string name;                // of the output
  uint64_t width = 0, height = 0;  // as written by the program
  uint32_t shown_width = 0, shown_height = 0;
  bool is_gray = false;         // pixels have one byte each, else three
  double black = 0, white = 0;  // gray: the values drawn in black and white
  std::vector<uint8_t> pixels;
};

/// The picture of an output, if it is one. `grid`: the invocations of the launch that wrote it.
///
/// 1. A `u8` output that is a whole binary PGM or PPM file (P5 or P6, values up to 255, no
/// comment).
/// 2. An output of `u8`, `u32` or `f32` by a grid of w × h × 1, both at least 2, that has w·h
///    elements (gray, from the least value to the greatest), 3·w·h (red, green, blue) or 4·w·h (a
///    fourth value that is not drawn). Colours are 0 to 255, of `f32` 0 to 1, and clamped.
std::optional<Picture> find_picture(const std::string& name, Type element,
                                    std::span<const std::byte> bytes,
                                    const std::array<uint64_t, 3>& grid);

}  // namespace vyre::report
