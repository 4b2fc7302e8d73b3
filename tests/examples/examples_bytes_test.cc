// Base64 decoding and the byte scanner against plain C++.

#include "tests/examples/examples_util.h"

namespace vyre::examples {
namespace {

const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encode_base64(const std::string& data) {
  std::string text;
  for (size_t i = 0; i < data.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < data.size() ? uint8_t(data[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      text += i + j > data.size() ? '=' : alphabet[group >> (18 - 6 * j) & 63];
  }
  return text;
}

struct Decoded {
  std::string bytes;  // without what padding leaves over
  uint32_t bad;
};

Decoded decode(const Module& m, const std::string& text) {
  const Buffers b = run(m, {bytes(text), std::nullopt, std::nullopt, std::nullopt});
  const auto all = elements<char>(b[1]);
  const auto size = elements<uint32_t>(b[2]).at(0);
  EXPECT_LE(size, all.size());
  EXPECT_LE(all.size() - size, 2u);
  for (size_t i = size; i < all.size(); ++i) EXPECT_EQ(all[i], 0) << text;
  return {std::string(all.begin(), all.begin() + size), elements<uint32_t>(b[3]).at(0)};
}

std::string random_bytes(size_t n, uint32_t seed = 12345) {
  std::string s;
  for (const uint32_t r : numbers(n, seed)) s += char(r >> 24);
  return s;
}

TEST(examples, base64_decode_undoes_encode) {
  const Module m = load("base64_decode.vyre");
  // 256 groups of three bytes are a workgroup.
  for (const size_t n : {0, 1, 2, 3, 4, 5, 764, 765, 766, 767, 768, 769, 770, 771, 772, 50000}) {
    const std::string data = random_bytes(n);
    const Decoded d = decode(m, encode_base64(data));
    EXPECT_EQ(d.bytes, data) << n;
    EXPECT_EQ(d.bad, ~0u) << n;
  }
}

TEST(examples, base64_decode_knows_exactly_its_alphabet) {
  const Module m = load("base64_decode.vyre");
  for (int c = 0; c < 256; ++c) {
    const bool good = c != 0 && alphabet.find(char(c)) != std::string::npos;
    EXPECT_EQ(decode(m, std::string("AAA") + char(c) + "AAAA").bad, good ? ~0u : 3u) << c;
  }
}

TEST(examples, base64_decode_reports_the_first_mistake) {
  const Module m = load("base64_decode.vyre");
  const std::string good = encode_base64(random_bytes(3000));
  for (const size_t first : {0, 1, 3, 4, 1023, 1024, 3997, 3998}) {
    std::string text = good;
    for (const char c : {'-', '=', '\n'}) {
      text[first] = c;
      text[3999] = '!';  // the last mistake; before it `=` is not padding
      EXPECT_EQ(decode(m, text).bad, first) << c;
    }
    text[first] = good[first];
    EXPECT_EQ(decode(m, text).bad, 3999u);
  }
}

TEST(examples, base64_decode_is_strict_about_the_end) {
  const Module m = load("base64_decode.vyre");
  const std::pair<const char*, uint32_t> ends[] = {
      {"Zg==", ~0u}, {"Zm8=", ~0u},   {"Zm9v", ~0u},   {"Z", 1},     {"Zg", 2},    {"Zg=", 2},
      {"Zg===", 2},  {"Z===", 1},     {"====", 0},     {"=", 0},     {"==", 0},    {"Zh==", 1},
      {"Zm9=", 2},   {"Zm8=Zg==", 3}, {"Zg==Zg==", 2}, {"Zm9vZ", 5}, {"Zm9vZg", 6}};
  for (const auto& [text, bad] : ends) EXPECT_EQ(decode(m, text).bad, bad) << text;
}

struct Found {
  std::vector<uint32_t> ends, counts;
  bool operator==(const Found&) const = default;
};

Found scan(const Module& m, const std::vector<std::string>& words, const std::string& text) {
  std::string joined;
  for (const std::string& w : words) joined += (&w == &words[0] ? "" : std::string(1, '\0')) + w;
  const Buffers b = run(m, {bytes(joined), bytes(text), std::nullopt, std::nullopt});
  return {elements<uint32_t>(b[2]), elements<uint32_t>(b[3])};
}

Found search(const std::vector<std::string>& words, const std::string& text) {
  Found f{std::vector<uint32_t>((text.size() + 31) / 32), std::vector<uint32_t>(32)};
  for (size_t w = 0; w < words.size(); ++w)
    for (size_t at = text.find(words[w]); !words[w].empty() && at != std::string::npos;
         at = text.find(words[w], at + 1)) {
      const size_t end = at + words[w].size() - 1;
      f.ends[end / 32] |= 1u << end % 32;
      ++f.counts[w];
    }
  return f;
}

/// A text of few letters, so that words occur often and overlap.
std::string letters(size_t n, uint32_t seed, uint32_t different) {
  std::string s;
  for (const uint32_t r : numbers(n, seed)) s += char('a' + (r >> 8) % different);
  return s;
}

TEST(examples, byte_scanner_finds_what_a_search_finds_whatever_the_chunk) {
  std::vector<std::string> many;
  for (uint32_t i = 0; i < 32; ++i) many.push_back(letters(1 + i % 9, i, 2));
  const std::vector<std::vector<std::string>> dictionaries = {
      {"he", "she", "his", "hers"},
      {"a", "aa", "aaa", "ab", "bab", "abba"},
      {letters(200, 5, 1), "b"},  // longer than a chunk
      {"abc", "", "abc", "c"},    // an empty word finds nothing, a word given twice counts twice
      many,
      {}};
  for (const char* chunk : {"32", "64", "128"}) {
    const Module m = load("byte_scanner.vyre", {{"CHUNK", chunk}});
    for (const auto& words : dictionaries)
      for (const size_t n : {0, 1, 31, 32, 33, 127, 128, 129, 5000})
        for (const uint32_t different : {1, 2, 3}) {
          const std::string text = letters(n, 9, different);
          EXPECT_EQ(scan(m, words, text), search(words, text)) << n << " in chunks of " << chunk;
        }
  }
}

TEST(examples, byte_scanner_takes_a_workgroup_of_chunks_and_any_byte) {
  const Module m = load("byte_scanner.vyre");
  const std::vector<std::string> words = {"\xff\xfe", "\x80", "\x01\x02\x03", "zz"};
  for (const size_t n : {256 * 128 - 1, 256 * 128, 256 * 128 + 1, 100000}) {
    std::string text = random_bytes(n);
    // A word across the border of two chunks, of two workgroups, and at the very end.
    for (const size_t at : {size_t{127}, size_t{256 * 128 - 1}, n - 2})
      if (at + 2 <= n) text.replace(at, 2, "zz");
    EXPECT_EQ(scan(m, words, text), search(words, text)) << n;
  }
}

TEST(examples, byte_scanner_refuses_more_words_than_it_has_bits) {
  const Module m = load("byte_scanner.vyre");
  interp::GraphInputs in;
  in.data = {bytes(std::string(32, '\0')), bytes(std::string("x")), std::nullopt, std::nullopt};
  const auto r = interp::run(m, m.graphs[0], in);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::Trapped);
}

}  // namespace
}  // namespace vyre::examples
