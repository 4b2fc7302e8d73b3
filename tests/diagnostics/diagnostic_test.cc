#include "diagnostics/diagnostic.h"

#include <gtest/gtest.h>

#include <set>

#include "diagnostics/explain.h"
#include "diagnostics/source_line.h"
#include "support/json.h"

namespace vyre {
namespace {

constexpr Code some_code = Code::WireBadMagic;

Diagnostic at(uint32_t line, uint32_t column, uint32_t length = 1) {
  return diagnose(some_code, {"a.vyre", line, column, length}, "message");
}

TEST(DiagnosticRender, shows_message_line_caret_notes_and_fix) {
  const Sources sources = {{"a.vyre", "kernel k() {\n\n  let x = foo(1)\n}\n"}};
  Diagnostic d = diagnose(some_code, {"a.vyre", 3, 11, 3}, "no function `foo`");
  d.note("functions of this file: `bar`")
      .note("declared here", {"a.vyre", 1, 8, 1})
      .with_fix("write `bar`");
  EXPECT_EQ(render(d, sources),
            "error[V0401]: no function `foo`\n"
            "  --> a.vyre:3:11\n"
            "   |\n"
            " 3 |   let x = foo(1)\n"
            "   |           ^^^\n"
            "   = note: functions of this file: `bar`\n"
            "   = note: declared here\n"
            "  --> a.vyre:1:8\n"
            "   |\n"
            " 1 | kernel k() {\n"
            "   |        -\n"
            "   = fix: write `bar`\n");
}

TEST(DiagnosticRender, gutter_fits_the_largest_line_number) {
  const Sources sources = {{"a.vyre", std::string(120, '\n') + "x y"}};
  Diagnostic d = at(121, 3);
  d.note("see", {"a.vyre", 1, 1, 1});
  EXPECT_EQ(render(d, sources),
            "error[V0401]: message\n"
            "    --> a.vyre:121:3\n"
            "     |\n"
            " 121 | x y\n"
            "     |   ^\n"
            "     = note: see\n"
            "    --> a.vyre:1:1\n"
            "     |\n"
            "   1 |\n"
            "     | -\n");
}

TEST(DiagnosticRender, colours_only_on_request) {
  const Sources sources = {{"a.vyre", "x"}};
  EXPECT_EQ(render(at(1, 1), sources).find('\x1b'), std::string::npos);
  const std::string coloured = render(at(1, 1), sources, {.colour = true});
  EXPECT_NE(coloured.find("\x1b[1;31merror[V0401]\x1b[0m"), std::string::npos);
  EXPECT_NE(coloured.find("\x1b[1;31m^\x1b[0m"), std::string::npos);
}

TEST(DiagnosticRender, without_a_place_there_is_no_arrow) {
  Diagnostic d = diagnose(some_code, {}, "message");
  d.op = "add";
  EXPECT_EQ(render(d, {}), "error[V0401]: message\n   = op: add\n");
}

TEST(DiagnosticRender, file_without_a_line_is_named) {
  EXPECT_EQ(render(diagnose(some_code, {"a.bin"}, "m"), {}), "error[V0401]: m\n  --> a.bin\n");
}

TEST(DiagnosticRender, unknown_source_or_line_gives_the_arrow_only) {
  EXPECT_EQ(render(at(3, 7), {}), "error[V0401]: message\n  --> a.vyre:3:7\n");
  EXPECT_EQ(render(at(3, 7), {{"a.vyre", "one line"}}),
            "error[V0401]: message\n  --> a.vyre:3:7\n");
}

TEST(DiagnosticRender, list_has_blank_lines_between) {
  EXPECT_EQ(render(Diagnostics{at(0, 0), at(0, 0)}, {}),
            "error[V0401]: message\n  --> a.vyre\n\nerror[V0401]: message\n  --> a.vyre\n");
}

TEST(DiagnosticRender, escape_sequences_and_wild_bytes_in_messages_are_harmless) {
  const std::string text =
      render(diagnose(some_code, {}, "\x1b[31m \xff \xe2\x80\xae ok\nsecond"), {});
  EXPECT_EQ(text, "error[V0401]: \\x1b[31m \\xff \\u{202e} ok\n  second\n");
}

TEST(DiagnosticRender, huge_message_is_cut) {
  EXPECT_LT(render(diagnose(some_code, {}, std::string(50 << 20, 'x')), {}).size(), 10'000u);
}

TEST(SourceLine, tabs_move_the_mark) {
  const Excerpt e = excerpt("\tx\ty", 4, 1);
  EXPECT_EQ(e.text, "    x    y");
  EXPECT_EQ(e.mark_at, 9u);
}

TEST(SourceLine, columns_count_characters_not_bytes) {
  const Excerpt e =
      excerpt("grüße 世界 x", 16, 1);  // ü and ß are 2 bytes, 世 and 界 3 bytes and 2 columns
  EXPECT_EQ(e.mark_at, 11u);
  EXPECT_EQ(e.mark_length, 1u);
}

TEST(SourceLine, bytes_that_are_no_utf8_are_escaped) {
  const Excerpt e = excerpt(
      "a\xc3(\x80\xf5"
      "b\x07",
      6, 1);
  EXPECT_EQ(e.text, "a\\xc3(\\x80\\xf5b\\x07");
  EXPECT_EQ(e.mark_at, 14u);
  EXPECT_EQ(excerpt("\xed\xa0\x80", 1, 1).text, "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(excerpt("\xc0\xaf", 1, 1).text, "\\xc0\\xaf");           // too long a form
}

TEST(SourceLine, column_beyond_the_end_marks_the_end) {
  const Excerpt e = excerpt("ab\r", 99, 5);
  EXPECT_EQ(e.text, "ab");
  EXPECT_EQ(e.mark_at, 2u);
  EXPECT_EQ(e.mark_length, 1u);
}

TEST(SourceLine, length_beyond_the_end_is_cut) {
  EXPECT_EQ(excerpt("abc", 2, ~0u).mark_length, 2u);
}

TEST(SourceLine, column_zero_has_no_mark) { EXPECT_EQ(excerpt("abc", 0, 1).mark_length, 0u); }

TEST(SourceLine, long_line_is_cut_around_the_mark) {
  std::string line(1'000'000, '.');
  line.replace(500'000, 4, "HERE");
  const Excerpt e = excerpt(line, 500'001, 4);
  EXPECT_LE(e.text.size(), 120u + 2 * 3);
  EXPECT_TRUE(e.text.starts_with("…"));
  EXPECT_TRUE(e.text.ends_with("…"));
  // The cut mark is one column and three bytes.
  EXPECT_EQ(e.text.substr(e.mark_at + 2, e.mark_length), "HERE");
}

TEST(SourceLine, long_line_with_its_mark_near_an_end_shows_that_end) {
  const std::string line(500, 'x');
  EXPECT_FALSE(excerpt(line, 3, 1).text.starts_with("…"));
  EXPECT_EQ(excerpt(line, 3, 1).mark_at, 2u);
  EXPECT_FALSE(excerpt(line, 500, 1).text.ends_with("…"));
  EXPECT_TRUE(excerpt(line, 500, 1).text.starts_with("…"));
}

TEST(DiagnosticJson, holds_everything) {
  Diagnostic d = at(3, 7, 2);
  d.op = "add";
  d.note("declared here", {"b.vyre", 1, 2, 3}).with_fix("do it");
  const auto json = parse_json<nlohmann::json>(to_json({d}));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["code"], "V0401");
  EXPECT_EQ(json[0]["name"], "WireBadMagic");
  EXPECT_EQ(json[0]["severity"], "error");
  EXPECT_EQ(json[0]["message"], "message");
  EXPECT_EQ(json[0]["file"], "a.vyre");
  EXPECT_EQ(json[0]["line"], 3);
  EXPECT_EQ(json[0]["column"], 7);
  EXPECT_EQ(json[0]["length"], 2);
  EXPECT_EQ(json[0]["op"], "add");
  EXPECT_EQ(json[0]["notes"][0]["message"], "declared here");
  EXPECT_EQ(json[0]["notes"][0]["file"], "b.vyre");
  EXPECT_EQ(json[0]["fix"], "do it");
  EXPECT_EQ(to_json({}), "[]");
}

TEST(DiagnosticJson, bytes_that_are_no_utf8_are_replaced) {
  const auto json =
      parse_json<nlohmann::json>(to_json({diagnose(some_code, {"\xff.vyre", 1, 1, 1}, "a\xc3")}));
  EXPECT_EQ(json[0]["file"], "\xef\xbf\xbd.vyre");
}

TEST(Nearest, finds_what_was_meant) {
  const std::vector<std::string> names = {"global_id", "local_id", "workgroup_id", "x", "saxpy"};
  EXPECT_EQ(nearest("globl_id", names), "global_id");
  EXPECT_EQ(nearest("golbal_id", names), "global_id");  // a swap
  EXPECT_EQ(nearest("GLOBAL_ID", names), "global_id");
  EXPECT_EQ(nearest("sxpy", names), "saxpy");
  EXPECT_EQ(nearest("saxpyy", names), "saxpy");
  EXPECT_EQ(nearest("frobnicate", names), "");
  EXPECT_EQ(nearest("y", names), "");
  EXPECT_EQ(nearest("", names), "");
}

TEST(Nearest, prefers_the_nearer_then_the_earlier) {
  const std::vector<std::string> names = {"stride2x", "stride1", "stride2"};
  EXPECT_EQ(nearest("stride2", names), "stride2");
  EXPECT_EQ(nearest("stride3", names), "stride1");
}

TEST(Nearest, agrees_with_the_textbook) {
  // All pairs of short words over two letters, against the plain recurrence.
  std::vector<std::string> words;
  for (int length = 1; length <= 6; ++length)
    for (int bits = 0; bits < 1 << length; ++bits) {
      std::string word;
      for (int i = 0; i < length; ++i) word += bits >> i & 1 ? 'a' : 'b';
      words.push_back(word);
    }
  const auto textbook = [](const std::string& a, const std::string& b) {
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
      for (size_t j = 0; j <= b.size(); ++j) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        d[i][j] =
            std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    return d[a.size()][b.size()];
  };
  for (const std::string& a : words)
    for (const std::string& b : words) {
      const std::vector<std::string> one = {b};
      ASSERT_EQ(!nearest(a, one).empty(), textbook(a, b) <= a.size() / 3) << a << " " << b;
    }
}

TEST(Nearest, refuses_huge_names) {
  const std::string huge(50 << 20, 'x');
  const std::vector<std::string> names = {huge};
  EXPECT_EQ(nearest(huge, names), "");
  EXPECT_EQ(nearest("x", names), "");
}

TEST(Codes, are_found_however_they_are_written) {
  for (const char* text : {"V0401", "v0401", "401", "V401", "0401"}) {
    const CodeInfo* found = find_code(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->code, Code::WireBadMagic);
  }
  for (const char* text : {"", "V", "V9999", "V0401x", "-401", "401 ", "99999999999999999999"})
    EXPECT_FALSE(find_code(text)) << text;
}

TEST(Codes, are_ascending_and_unique) {
  const auto codes = all_codes();
  std::set<std::string_view> names;
  for (size_t i = 0; i < codes.size(); ++i) {
    EXPECT_TRUE(i == 0 || codes[i - 1].code < codes[i].code) << codes[i].name;
    EXPECT_TRUE(names.insert(codes[i].name).second) << codes[i].name;
    EXPECT_EQ(&info(codes[i].code), &codes[i]);
  }
}

TEST(Codes, have_pages_and_tidy_titles) {
  for (const CodeInfo& c : all_codes()) {
    EXPECT_TRUE(c.page.find_first_not_of(" \n") != c.page.npos) << c.name << " has no page";
    ASSERT_FALSE(c.title.empty()) << c.name;
    // Lower case, but for a word that is written that way (UTF-8) or quoted code.
    const bool capital = std::isupper(uint8_t(c.title[0])) &&
                         !(c.title.size() > 1 && std::isupper(uint8_t(c.title[1])));
    EXPECT_FALSE(capital) << c.name << ": " << c.title;
    EXPECT_NE(c.title.back(), '.') << c.name;
    EXPECT_EQ(c.title.find('\n'), c.title.npos) << c.name;
    size_t fences = 0;
    for (size_t at = c.page.find("```"); at != c.page.npos; at = c.page.find("```", at + 3))
      ++fences;
    EXPECT_EQ(fences % 2, 0u) << c.name << " leaves an example open";
  }
}

TEST(Explain, indents_examples_and_drops_fences) {
  const CodeInfo code = {some_code, "Name", Severity::Warning, "a title",
                         "\nWhat.\n\n```\ncode\n\nmore\n```\n\nFix: it.\n"};
  EXPECT_EQ(explain_text(code),
            "warning[V0401]: a title\n\nWhat.\n\n    code\n\n    more\n\nFix: it.\n");
}

}  // namespace
}  // namespace vyre
