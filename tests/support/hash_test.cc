#include "support/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace vyre {
namespace {

std::string pattern(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>(i * 131 + (i >> 8)));
  return text;
}

// The published values for the empty input, and what the C library itself gives for the other:
// hashes are stored in files, so they may never change.
TEST(Hash, values_never_change) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hash128("").to_hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64("vyre"), 0x0fae83f8570d0f7bu);
  EXPECT_EQ(hash128("vyre").to_hex(), "ebd1c41ebd7fa5c936aef8be8e9d15d4");
}

TEST(Hash, streaming_equals_one_shot_however_it_is_cut) {
  for (const std::size_t size :
       {0u, 1u, 16u, 17u, 128u, 129u, 240u, 241u, 1024u, 5000u, 100'000u}) {
    const std::string text = pattern(size);
    for (const std::size_t step : {1u, 7u, 256u, 4096u}) {
      Hasher hasher;
      for (std::size_t at = 0; at < size; at += step) {
        hasher.add(std::string_view(text).substr(at, step));
      }
      EXPECT_EQ(hasher.digest64(), hash64(text)) << size << " by " << step;
      EXPECT_EQ(hasher.digest128(), hash128(text)) << size << " by " << step;
    }
  }
}

TEST(Hash, digest_does_not_end_the_stream) {
  Hasher hasher;
  hasher.add("ab");
  EXPECT_EQ(hasher.digest64(), hash64("ab"));
  Hasher copy = hasher;
  hasher.add("cd");
  EXPECT_EQ(hasher.digest64(), hash64("abcd"));
  copy.add("xy");
  EXPECT_EQ(copy.digest64(), hash64("abxy"));
}

TEST(Hash, values_are_little_endian) {
  enum class Colour : unsigned char { kRed = 0x41 };
  Hasher hasher;
  hasher.add_value(Colour::kRed)
      .add_value(std::uint32_t{0x45444342})
      .add_value(std::int16_t{0x4746});
  EXPECT_EQ(hasher.digest64(), hash64("ABCDEFG"));
  EXPECT_EQ(Hasher().add_value(std::int32_t{-1}).digest64(), hash64("\xff\xff\xff\xff"));
}

TEST(Hash, hex_has_all_its_zeros) {
  EXPECT_EQ((Hash128{1, 0}).to_hex(), "00000000000000000000000000000001");
  EXPECT_EQ((Hash128{0, 0xab}).to_hex(), "00000000000000ab0000000000000000");
}

}  // namespace
}  // namespace vyre
