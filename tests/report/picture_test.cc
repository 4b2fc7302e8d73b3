// Which outputs are pictures, and their pixels.

#include "report/picture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace vyre::report {
namespace {

using Pixels = std::vector<uint8_t>;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::optional<Picture> find(Type element, const std::vector<std::byte>& bytes,
                            std::array<uint64_t, 3> grid) {
  return find_picture("y", element, bytes, grid);
}

std::optional<Picture> of_text(std::string_view text) {
  return find(Type::U8, bytes_of(std::vector<char>(text.begin(), text.end())), {1, 1, 1});
}

TEST(Picture, is_gray_from_the_least_value_to_the_greatest) {
  const auto p = find(Type::U32, bytes_of<uint32_t>({100, 200, 300, 400, 600, 350}), {3, 2, 1});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->name, "y");
  EXPECT_TRUE(p->is_gray);
  EXPECT_EQ(p->width, 3u);
  EXPECT_EQ(p->height, 2u);
  EXPECT_EQ(p->black, 100);
  EXPECT_EQ(p->white, 600);
  EXPECT_EQ(p->pixels, (Pixels{0, 51, 102, 153, 255, 128}));
}

TEST(Picture, has_colours_of_three_or_four_values_which_are_clamped) {
  const std::vector<float> rgb = {0, 0.2f, 1, -1, 2, 1, 0, 0, 0, 1, 1, 1};
  const Pixels wanted = {0, 51, 255, 0, 255, 255, 0, 0, 0, 255, 255, 255};
  EXPECT_EQ(find(Type::F32, bytes_of(rgb), {2, 2, 1})->pixels, wanted);
  std::vector<float> rgba;
  for (size_t i = 0; i < rgb.size(); ++i) {
    rgba.push_back(rgb[i]);
    if (i % 3 == 2) rgba.push_back(0);  // not drawn
  }
  const auto p = find(Type::F32, bytes_of(rgba), {2, 2, 1});
  EXPECT_EQ(p->pixels, wanted);
  EXPECT_FALSE(p->is_gray);
  EXPECT_EQ(find(Type::U32, bytes_of(std::vector<uint32_t>(12, 1000)), {2, 2, 1})->pixels,
            Pixels(12, 255));
}

TEST(Picture, draws_values_that_are_not_finite) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1, 2, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 3};
  const auto p = find(Type::F32, bytes_of(values), {2, 3, 1});
  EXPECT_EQ(p->black, 1);
  EXPECT_EQ(p->white, 3);
  EXPECT_EQ(p->pixels, (Pixels{0, 128, 255, 0, 0, 255}));
  const auto none = find(Type::F32, bytes_of(std::vector<float>(4, inf)), {2, 2, 1});
  EXPECT_EQ(none->white, 0);
}

TEST(Picture, is_none_of_other_elements_grids_and_lengths) {
  const std::vector<std::byte> twelve(12);
  EXPECT_TRUE(find(Type::U8, twelve, {3, 4, 1}));
  EXPECT_FALSE(find(Type::I8, twelve, {3, 4, 1}));
  EXPECT_FALSE(find(Type::Bool, twelve, {3, 4, 1}));
  EXPECT_FALSE(find(Type::U8, twelve, {12, 1, 1}));
  EXPECT_FALSE(find(Type::U8, twelve, {1, 12, 1}));
  EXPECT_FALSE(find(Type::U8, twelve, {2, 2, 3}));
  EXPECT_FALSE(find(Type::U8, twelve, {3, 2, 1}));  // two values each
  EXPECT_FALSE(find(Type::U8, twelve, {4, 4, 1}));
  EXPECT_FALSE(find(Type::U8, {}, {4, 4, 1}));
  EXPECT_FALSE(find(Type::U8, twelve, {0, 0, 0}));
  EXPECT_FALSE(find(Type::U8, twelve, {uint64_t{1} << 33, uint64_t{1} << 33, 1}));
}

TEST(Picture, is_shrunk_by_the_mean_of_squares) {
  // 1281 columns: squares of three, the last of which has fewer rows.
  std::vector<uint8_t> values(1281 * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? 255 : 0;
  const auto p = find(Type::U8, bytes_of(values), {1281, 4, 1});
  EXPECT_EQ(p->width, 1281u);
  EXPECT_EQ(p->shown_width, 427u);
  EXPECT_EQ(p->shown_height, 2u);
  EXPECT_EQ(p->pixels, Pixels(427 * 2, 85));
}

TEST(Picture, is_a_whole_pgm_or_ppm_file) {
  const auto gray = of_text("P5\n3 1\n255\n\x10\x20\x7f");
  ASSERT_TRUE(gray);
  EXPECT_EQ(gray->black, 0);
  EXPECT_EQ(gray->white, 255);
  EXPECT_EQ(gray->pixels, (Pixels{0x10, 0x20, 0x7f}));
  const auto colour = of_text("P6  1   2 255 abcdef");
  ASSERT_TRUE(colour);
  EXPECT_EQ(colour->pixels, (Pixels{'a', 'b', 'c', 'd', 'e', 'f'}));
  for (const char* bad : {"P5\n3 1\n255\nab", "P5\n3 1\n255\nabcd", "P5\n3 1\n65535\nabc",
                          "P5 3 1 255abc", "P5\n0 1\n255\n", "P53 1 255\nabc", "P4\n3 1\n255\nabc",
                          "P5\n-3 1\n255\nabc", "P5", "P5\n3 1", "P5\n3 1\n255",
                          "P5 99999999999999999999 1 255 a", "P6 4611686018427387904 4 255 a"})
    EXPECT_FALSE(of_text(bad)) << bad;
}

}  // namespace
}  // namespace vyre::report
