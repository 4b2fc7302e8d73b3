// The examples that decode and then scan, against plain C++ and with the two kernels joined.

#include <algorithm>

#include "plan/fusion/fuse_handoff.h"
#include "tests/examples/examples_util.h"
#include "tests/plan/fusion/handoff_util.h"

namespace vyre::examples {
namespace {

using plan::HandoffPair;
using plan::HandoffRun;

const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Anything, or only what is meant to be there.
std::string random_text(size_t n, const std::string& letters, uint32_t seed) {
  std::string s;
  for (const uint32_t r : numbers(n, seed))
    s += letters.empty() ? char(r >> 24) : letters[(r >> 16) % letters.size()];
  return s;
}

uint32_t digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10u;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10u;
  return 0;
}

struct Newlines {
  std::vector<uint32_t> bits, counts;
  bool operator==(const Newlines&) const = default;
};

Newlines find_newlines(const std::string& hex) {
  const size_t n = hex.size() / 2;
  Newlines r{std::vector<uint32_t>((n + 31) / 32), std::vector<uint32_t>((n + 4095) / 4096)};
  for (size_t i = 0; i < n; ++i) {
    if ((digit(uint8_t(hex[2 * i])) << 4 | digit(uint8_t(hex[2 * i + 1]))) != 10) continue;
    r.bits[i / 32] |= 1u << i % 32;
    ++r.counts[i / 4096];
  }
  return r;
}

// Line breaks are "0a": a text of few digits has many. The last text is any bytes at all.
std::vector<std::string> hex_texts() {
  std::vector<std::string> texts;
  for (const size_t n : {0, 1, 31, 32, 33, 4095, 4096, 4097, 8191, 8193, 30000}) {
    texts.push_back(random_text(2 * n, "0aA1", 7));
    texts.push_back(random_text(2 * n, "", 8));
    texts.push_back(random_text(2 * n, "0aAgG`@:/ \n", 9));
  }
  return texts;
}

TEST(examples, hex_newlines_are_where_a_loop_finds_them) {
  const Module m = load("hex_newlines.vyre");
  for (const std::string& text : hex_texts()) {
    const Buffers b = run(m, {bytes(text), std::nullopt, std::nullopt});
    EXPECT_EQ((Newlines{elements<uint32_t>(b[1]), elements<uint32_t>(b[2])}), find_newlines(text))
        << text.size();
  }
}

std::string decode_base64(const std::string& text) {
  std::string decoded;
  uint32_t bits = 0;
  for (size_t i = 0; i < (text.size() + 3) / 4 * 4; ++i) {
    const size_t v = i < text.size() ? alphabet.find(text[i]) : std::string::npos;
    bits = bits << 6 | uint32_t(v == std::string::npos ? 0 : v);
    if (i % 4 == 3)
      for (const int by : {16, 8, 0}) decoded += char(bits >> by);
  }
  decoded.resize(text.size() * 3 / 4);
  return decoded;
}

std::vector<uint32_t> count_matches(const std::string& word, const std::string& decoded) {
  std::vector<uint32_t> matches((decoded.size() + 95) / 96);
  for (size_t end = 0; end < decoded.size(); ++end)
    if (end + 1 >= word.size() && decoded.compare(end + 1 - word.size(), word.size(), word) == 0)
      ++matches[end / 96];
  return matches;
}

// Words that occur: "QUFB" is "AAA", and few letters make few bytes. 16,384 characters are a
// workgroup of the scan.
const std::vector<std::string> words = {
    "A", "AA", "AAA", "\x04\x10", std::string(32, '\0'), std::string(3, '\0'), "", "nowhere"};

std::vector<std::string> base64_texts() {
  std::vector<std::string> texts;
  for (const size_t n : {0, 1, 2, 3, 4, 5, 127, 128, 129, 16383, 16384, 16385, 40000}) {
    texts.push_back(random_text(n, "QUFB", 3));
    texts.push_back(random_text(n, "AQ=\n", 4));
    texts.push_back(random_text(n, "", 5));
  }
  return texts;
}

TEST(examples, base64_scan_counts_what_a_search_finds) {
  const Module m = load("base64_scan.vyre");
  for (const std::string& word : words)
    for (const std::string& text : base64_texts()) {
      if (text.size() > 20000 && word.size() > 1) continue;  // once is enough
      const Buffers b = run(m, {bytes(word), bytes(text), std::nullopt});
      EXPECT_EQ(elements<uint32_t>(b[2]), count_matches(word, decode_base64(text)))
          << word.size() << " in " << text.size();
    }
}

TEST(examples, base64_scan_refuses_words_longer_than_the_warm_up) {
  const Module m = load("base64_scan.vyre");
  interp::GraphInputs in;
  in.data = {bytes(std::string(33, 'a')), bytes(std::string("QUFB")), std::nullopt};
  const auto r = interp::run(m, m.graphs[0], in);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::Trapped);
}

const Program& kernel_of(const Module& m, std::string_view name) {
  return m.kernels.at(find_kernel(m, name));
}

TEST(examples, hex_newlines_is_one_kernel_by_handoff) {
  const Module m = load("hex_newlines.vyre");
  const HandoffPair pair(kernel_of(m, "decode"), kernel_of(m, "find_newlines"), "bytes", "bytes");
  const plan::JoinOutcome o = pair.fuse();
  ASSERT_TRUE(o.joined) << o.why_not;
  EXPECT_EQ(pair.window().bytes, 4096u);
  EXPECT_EQ(pair.window().recomputed, 0);
  for (const std::string& text : hex_texts()) {
    HandoffRun run;
    run.data["text"] = bytes(text);
    const Buffers b = run.expect_same(pair, *o.joined);
    ASSERT_EQ(b.size(), pair.consumer.buffers.size());
    EXPECT_EQ(elements<uint32_t>(b[2]), find_newlines(text).counts);
  }
}

TEST(examples, base64_scan_is_one_kernel_by_handoff) {
  const Module m = load("base64_scan.vyre");
  const HandoffPair pair(kernel_of(m, "decode"), kernel_of(m, "scan"), "bytes", "bytes");
  const plan::JoinOutcome o = pair.fuse();
  ASSERT_TRUE(o.joined) << o.why_not;
  EXPECT_EQ(pair.window().stride, 128 * 96);
  EXPECT_EQ(pair.window().first, -32);
  EXPECT_EQ(pair.window().bytes, 128u * 96 + 32);
  EXPECT_LT(pair.window().recomputed, 0.01);
  for (const std::string& word : {std::string("AA"), std::string(32, '\0')}) {
    const auto table = interp::run(kernel_of(m, "make_table"),
                                   LaunchInputs{{bytes(word), std::nullopt}, {{}, {}}, {}});
    ASSERT_TRUE(table);
    for (const std::string& text : base64_texts()) {
      HandoffRun run;
      run.data["text"] = bytes(text);
      run.data["word"] = bytes(word);
      run.data["next"] = table->buffers[1];
      const Buffers b = run.expect_same(pair, *o.joined);
      ASSERT_EQ(b.size(), pair.consumer.buffers.size());
      EXPECT_EQ(elements<uint32_t>(b[3]), count_matches(word, decode_base64(text))) << text.size();
    }
  }
}

}  // namespace
}  // namespace vyre::examples
