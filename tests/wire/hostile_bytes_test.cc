// Bytes that no encoder wrote: each is refused with a code, or decodes to what it encodes.

#include <gtest/gtest.h>

#include <random>

#include "fuzz/wire_decoder.h"
#include "tests/wire/samples_util.h"

namespace vyre {
namespace {

using File = std::vector<std::byte>;

TEST(WireHostile, every_truncation_is_refused) {
  for (const File& file : {encode(small_program()), encode(rich_module())})
    for (size_t n = 0; n < file.size(); ++n) {
      const std::span<const std::byte> cut = std::span(file).first(n);
      const auto p = decode_program(cut);
      ASSERT_FALSE(p) << n;
      EXPECT_EQ(p.errors()[0].code, n < 4 ? Code::WireBadMagic : Code::WireTruncated) << n;
      ASSERT_FALSE(decode_module(cut)) << n;
    }
}

TEST(WireHostile, every_truncation_with_a_fitting_header_is_refused) {
  const File file = encode(rich_module());
  for (size_t n = wire::header_size; n < file.size(); ++n)
    ASSERT_FALSE(decode_module(resealed(std::span(file).first(n)))) << n;
}

TEST(WireHostile, every_flipped_bit_is_found) {
  for (File file : {encode(small_program()), encode(rich_program())})
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
      file[bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_FALSE(decode_program(file)) << bit;
      file[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(WireHostile, every_flipped_bit_with_a_fitting_checksum_is_refused_or_another_program) {
  size_t accepted = 0;
  for (const File& file : {encode(small_program()), encode(rich_module())})
    for (size_t bit = wire::header_size * 8; bit < file.size() * 8; ++bit) {
      File flipped = file;
      flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      bool ok = false;
      ASSERT_EQ(check_wire_decoder(resealed(flipped), &ok), "") << bit;
      accepted += ok;
    }
  EXPECT_GT(accepted, 0u);  // a letter of a name, a bit of a constant
}

TEST(WireHostile, random_corruption_never_does_harm) {
  std::mt19937_64 random(20'240'501);
  std::vector<File> seeds = {encode(small_program()), encode(rich_program()), encode(rich_module()),
                             encode(rich_program(), {.locations = false})};
  for (uint64_t seed = 0; seed < 20; ++seed) seeds.push_back(encode(random_program(seed)));
  constexpr uint8_t interesting[] = {0, 1, 2, 3, 4, 8, 0x7f, 0x80, 0xff};
  size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    File file = seeds[random() % seeds.size()];
    for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = wire::header_size + random() % (file.size() - wire::header_size);
      const size_t length = std::min<size_t>(1 + random() % 8, file.size() - at);
      switch (random() % 5) {
        case 0: file[at] = std::byte{interesting[random() % std::size(interesting)]}; break;
        case 1: file[at] = std::byte(random()); break;
        case 2: file.erase(file.begin() + long(at), file.begin() + long(at + length)); break;
        case 3: file.insert(file.begin() + long(at), length, std::byte(random() % 4)); break;
        case 4: {  // a piece from somewhere else
          const size_t from = random() % (file.size() - length + 1);
          std::copy_n(File(file).begin() + long(from), length, file.begin() + long(at));
          break;
        }
      }
      if (file.size() <= wire::header_size) break;
    }
    bool ok = false;
    ASSERT_EQ(check_wire_decoder(resealed(file), &ok), "") << round;
    accepted += ok;
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_LT(accepted, 15'000u);
}

TEST(WireHostile, noise_is_refused) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2'000; ++round) {
    File noise(random() % 300);
    for (std::byte& b : noise) b = std::byte(random());
    bool ok = false;
    ASSERT_EQ(check_wire_decoder(noise, &ok), "");
    ASSERT_FALSE(ok);
    ASSERT_EQ(check_wire_decoder(resealed(noise), &ok), "");
    ASSERT_FALSE(ok);
  }
}

}  // namespace
}  // namespace vyre
