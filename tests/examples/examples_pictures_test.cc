// The game of life and the Mandelbrot set against plain C++.

#include <bit>

#include "support/hash.h"
#include "tests/examples/examples_util.h"

namespace vyre::examples {
namespace {

struct Board {
  int width, height;
  std::vector<uint8_t> cells;

  uint8_t at(int x, int y) const {
    return cells[size_t((y + height) % height) * size_t(width) + size_t((x + width) % width)];
  }
  Board next() const {
    Board b{width, height, {}};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int around = at(x - 1, y - 1) + at(x, y - 1) + at(x + 1, y - 1) + at(x - 1, y) +
                           at(x + 1, y) + at(x - 1, y + 1) + at(x, y + 1) + at(x + 1, y + 1);
        b.cells.push_back(at(x, y) ? around == 2 || around == 3 : around == 3);
      }
    return b;
  }
};

TEST(examples, game_of_life_is_played_on_a_torus) {
  const Module m = load("game_of_life.vyre");
  const std::pair<int, int> shapes[] = {{0, 0},   {5, 0},   {1, 1},   {1, 9},   {2, 2},
                                        {15, 16}, {16, 15}, {16, 16}, {17, 17}, {130, 61}};
  for (const auto& [width, height] : shapes) {
    Board board{width, height, {}};
    for (const uint32_t r : numbers(size_t(width) * size_t(height)))
      board.cells.push_back(r >> 30 == 0);
    const auto start = board.cells;
    for (uint32_t generation = 0; generation < 8; ++generation) {
      const Buffers b = run(
          m, {scalar(uint32_t(width)), scalar(uint32_t(height)), scalar(generation), bytes(start)});
      EXPECT_EQ(elements<uint8_t>(b[3]), board.cells)
          << width << " by " << height << ", generation " << generation;
      board = board.next();
    }
  }
}

/// A whole PGM file, as mandelbrot.vyre writes it.
std::string mandelbrot(int width, int height) {
  char header[32];
  std::snprintf(header, sizeof header, "P5\n%5d %5d\n255\n", width, height);
  std::string file = header;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const float re = (float(column) + 0.5f) / float(width) * 3.0f - 2.25f;
      const float im = 1.125f - (float(row) + 0.5f) / float(height) * 2.25f;
      float x = 0, y = 0;
      uint32_t n = 0;
      for (; n < 1000 && x * x + y * y <= 4.0f; ++n) {
        const float next = x * x - y * y + re;
        y = 2.0f * x * y + im;
        x = next;
      }
      // Eight steps of brightness an octave of n + 1.
      const uint32_t octave = uint32_t(std::bit_width(n + 1)) - 1;
      const uint32_t level = octave * 8 + ((n + 1) * 8 >> octave) % 8;
      file += char(n == 1000 ? 0 : std::min(40 + 3 * level, 255u));
    }
  return file;
}

TEST(examples, mandelbrot_is_the_picture_of_plain_floats) {
  const Module m = load("mandelbrot.vyre");
  const std::pair<int, int> shapes[] = {{0, 0},   {1, 0},   {1, 1},   {255, 1},   {236, 1},
                                        {237, 1}, {238, 1}, {1, 256}, {99999, 1}, {160, 120}};
  for (const auto& [width, height] : shapes) {
    const Buffers b = run(m, {scalar(uint32_t(width)), scalar(uint32_t(height)), std::nullopt});
    EXPECT_TRUE(b[2] == bytes(mandelbrot(width, height))) << width << " by " << height;
  }
}

TEST(examples, mandelbrot_picture_stays_what_somebody_looked_at) {
  const std::string seen = "713b69c824b64a06de53264502b5851f";
  EXPECT_EQ(hash128(mandelbrot(640, 480)).to_hex(), seen);
  const Buffers b =
      run_in_order(load("mandelbrot.vyre"), {scalar(640u), scalar(480u), std::nullopt});
  EXPECT_EQ(hash128(b[2]).to_hex(), seen);
}

}  // namespace
}  // namespace vyre::examples
