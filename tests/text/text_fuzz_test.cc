// Seeded corruption of every source text of the repository: 20,000 cases through
// fuzz/text_parser.h.

#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/text_parser.h"
#include "support/file.h"

namespace vyre {
namespace {

struct Random {  // splitmix64
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  size_t below(size_t n) { return n ? next() % n : 0; }
};

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  namespace fs = std::filesystem;
  for (const char* folder : {"examples", "tests/text"})
    for (const auto& e : fs::recursive_directory_iterator(fs::path(VYRE_SOURCE_DIR) / folder))
      if (e.path().extension() == ".vyre") files.push_back(e.path().string());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::string& f : files) {
    std::string text = read_file(f).bytes;
    if (text.size() < 6000) texts.push_back(std::move(text));
  }
  return texts;
}

/// One to three edits: bytes, tokens, pieces of other files.
std::string corrupt(const std::vector<std::string>& corpus, Random& r) {
  static const char* const words[] = {"{",
                                      "}",
                                      "(",
                                      ")",
                                      "[",
                                      "]",
                                      "\n",
                                      ";",
                                      ",",
                                      ":",
                                      "%",
                                      "%1",
                                      "..",
                                      "..5",
                                      "&&",
                                      "<<",
                                      "fn",
                                      "kernel k",
                                      "if",
                                      "else",
                                      "while",
                                      "for i in",
                                      "return",
                                      "break",
                                      "let",
                                      "var",
                                      "shared",
                                      "barrier grid",
                                      "-",
                                      "!",
                                      "0x",
                                      "1e999",
                                      "99999999999999999999",
                                      "1.5",
                                      "nan",
                                      "bits(1)",
                                      "u8",
                                      "f16",
                                      "f64",
                                      "=",
                                      "+=",
                                      "\"",
                                      "//",
                                      "\xff",
                                      "@",
                                      "as"};
  std::string s = corpus[r.below(corpus.size())];
  for (size_t edits = 1 + r.below(3); edits > 0; --edits) {
    const size_t at = r.below(s.size() + 1);
    switch (r.below(6)) {
      case 0: s.erase(at, 1 + r.below(8)); break;
      case 1: s.insert(at, words[r.below(std::size(words))]); break;
      case 2:
        if (at < s.size()) s[at] = char(r.next());
        break;
      case 3: s.resize(at); break;
      case 4: {
        const std::string& other = corpus[r.below(corpus.size())];
        const size_t from = r.below(other.size());
        s.insert(at, other.substr(from, 1 + r.below(60)));
        break;
      }
      case 5: {
        const size_t n = 1 + r.below(30);
        if (at + n < s.size()) s.insert(at, s.substr(at, n));
        break;
      }
    }
  }
  return s;
}

TEST(text_fuzz, every_source_as_it_is) {
  for (const std::string& s : corpus()) {
    const std::string problem = check_parser(s);
    ASSERT_EQ(problem, "") << s;
  }
}

TEST(text_fuzz, corrupted_sources_20000) {
  const std::vector<std::string> texts = corpus();
  ASSERT_GT(texts.size(), 10u);
  size_t accepted = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    Random r{seed};
    const std::string s = corrupt(texts, r);
    const std::string problem = check_parser(s);
    ASSERT_EQ(problem, "") << "seed " << seed << "\n" << s;
    accepted += parse(s).module.has_value();
  }
  EXPECT_GT(accepted,
            500u);  // else the corruption is too coarse to test what comes after the parser
}

}  // namespace
}  // namespace vyre
