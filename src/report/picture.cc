#include "report/picture.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

namespace vyre::report {
namespace {

/// Elements as pixels: `channels` values for each, row by row.
struct Raster {
  Type element;
  std::span<const std::byte> bytes;
  uint64_t width = 0, height = 0, channels = 0;
  bool is_file = false;  // files define 255 as white

  bool is_gray() const { return channels == 1; }
  double value(uint64_t index) const {
    const std::byte* at = bytes.data() + index * size_of(element);
    if (element == Type::U8) return static_cast<double>(*at);
    uint32_t word = 0;
    std::memcpy(&word, at, 4);
    if (element == Type::U32) return word;
    float f = 0;
    std::memcpy(&f, at, 4);
    return f;
  }
};

/// Reads the header of a PGM or PPM file: the magic number and three numbers between blanks.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  uint64_t number() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    uint64_t n = 0;
    const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
    is_good_ &= at_ > begin && r.ec == std::errc{};
    at_ = static_cast<size_t>(r.ptr - text_.data());
    return n;
  }
  /// The offset of the pixels: after one blank.
  size_t end() {
    is_good_ &= at_ < text_.size() && is_blank(text_[at_]);
    return at_ + 1;
  }
  bool is_good() const { return is_good_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  std::string_view text_;
  size_t at_ = 2;
  bool is_good_ = true;
};

constexpr uint64_t max_side = uint64_t{1} << 31;  // products of two sides and 4 do not overflow

std::optional<Raster> of_file(Type element, std::span<const std::byte> bytes) {
  if (element != Type::U8) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("P5") && !text.starts_with("P6")) return std::nullopt;
  HeaderReader header(text);
  const uint64_t width = header.number(), height = header.number(), most = header.number();
  const size_t begin = header.end();
  const uint64_t channels = text[1] == '5' ? 1 : 3;
  if (!header.is_good() || most != 255 || width == 0 || height == 0 || width > max_side ||
      height > max_side || bytes.size() - begin != width * height * channels)
    return std::nullopt;
  return Raster{element, bytes.subspan(begin), width, height, channels, true};
}

std::optional<Raster> of_grid(Type element, std::span<const std::byte> bytes,
                              const std::array<uint64_t, 3>& grid) {
  if (element != Type::U8 && element != Type::U32 && element != Type::F32) return std::nullopt;
  const auto [width, height, depth] = grid;
  if (width < 2 || height < 2 || depth != 1 || width > max_side || height > max_side)
    return std::nullopt;
  const uint64_t count = bytes.size() / size_of(element), pixels = width * height;
  if (count % pixels != 0) return std::nullopt;
  const uint64_t channels = count / pixels;
  if (channels != 1 && channels != 3 && channels != 4) return std::nullopt;
  return Raster{element, bytes, width, height, channels};
}

/// The minimum and maximum finite value; 0 and 0 if there is none.
std::pair<double, double> range_of(const Raster& raster) {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (uint64_t i = 0; i < raster.width * raster.height; ++i) {
    const double v = raster.value(i);
    if (!std::isfinite(v)) continue;
    least = std::min(least, v);
    greatest = std::max(greatest, v);
  }
  if (least > greatest) return {0, 0};
  return {least, greatest};
}

/// The mean of the values of one channel in a square of elements, from 0 to 1. A NaN is black.
double mean(const Raster& r, uint64_t x, uint64_t y, uint64_t side, uint64_t channel, double black,
            double white) {
  double sum = 0;
  uint64_t n = 0;
  for (uint64_t j = y; j < std::min(y + side, r.height); ++j)
    for (uint64_t i = x; i < std::min(x + side, r.width); ++i, ++n) {
      const double v = r.value((j * r.width + i) * r.channels + channel);
      const double share = (v - black) / (white - black);
      sum += share > 0 ? std::min(share, 1.0) : 0;  // a NaN is not above 0
    }
  return sum / static_cast<double>(n);
}

Picture draw(const std::string& name, const Raster& r) {
  Picture p{.name = name, .width = r.width, .height = r.height, .is_gray = r.is_gray()};
  std::tie(p.black, p.white) =
      p.is_gray && !r.is_file ? range_of(r) : std::pair(0.0, r.element == Type::F32 ? 1.0 : 255.0);
  const uint64_t side = (std::max(r.width, r.height) + max_picture_side - 1) / max_picture_side;
  p.shown_width = static_cast<uint32_t>((r.width + side - 1) / side);
  p.shown_height = static_cast<uint32_t>((r.height + side - 1) / side);
  const double white = p.white > p.black ? p.white : p.black + 1;
  for (uint64_t y = 0; y < r.height; y += side)
    for (uint64_t x = 0; x < r.width; x += side)
      for (uint64_t c = 0; c < (p.is_gray ? 1 : 3); ++c)
        p.pixels.push_back(
            static_cast<uint8_t>(std::lround(255 * mean(r, x, y, side, c, p.black, white))));
  return p;
}

}  // namespace

std::optional<Picture> find_picture(const std::string& name, Type element,
                                    std::span<const std::byte> bytes,
                                    const std::array<uint64_t, 3>& grid) {
  std::optional<Raster> raster = of_file(element, bytes);
  if (!raster) raster = of_grid(element, bytes, grid);
  if (!raster) return std::nullopt;
  return draw(name, *raster);
}

}  // namespace vyre::report
