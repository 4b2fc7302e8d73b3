// Where errors of the language point (line, column, length of the caret) and which fix they name.
// The reject tests of tests/text/reject hold codes, lines and messages; these hold the rest.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/lexer.h"
#include "text/parse.h"

namespace vyre {
namespace {

std::string shown(const Diagnostic& d) {
  return to_string(d.code) + " at " + std::to_string(d.place.line) + ":" +
         std::to_string(d.place.column) + "+" + std::to_string(d.place.length) + ": " + d.fix;
}

/// The first diagnostic of a file.
std::string first_of_file(const std::string& source) {
  const Diagnostics found = parse(source).diagnostics;
  return found.empty() ? "nothing" : shown(found[0]);
}

/// The first diagnostic of a kernel with this line as its body; the body is line 2, indented by
/// two.
std::string first_of(const std::string& line) {
  return first_of_file(
      "kernel k(count: u32, scale: f32, x: in f32[], y: out u32[64]) workgroup(64) grid(64) {\n  " +
      line + "\n}\n");
}

TEST(PlacesAndFixes, misspelt_names_are_suggested) {
  EXPECT_EQ(first_of("y[0] = cuont"), "V0119 at 2:10+5: did you mean `count`?");
  EXPECT_EQ(first_of("y[0] = COUNT"), "V0119 at 2:10+5: did you mean `count`?");
  EXPECT_EQ(first_of("y[0] = globalid.x"), "V0119 at 2:10+8: did you mean `global_id`?");
  EXPECT_EQ(first_of("y[0] = u32(True)"), "V0119 at 2:14+4: did you mean `true`?");
  EXPECT_EQ(first_of("var total = 1u32; totla = 2"), "V0119 at 2:21+5: did you mean `total`?");
  EXPECT_EQ(first_of("quite_different = 1"),
            "V0119 at 2:3+15: declare it: `var quite_different = …`");
  EXPECT_EQ(first_of("y[0] = zz[0]"),
            "V0119 at 2:10+2: declare a parameter `zz: in T[]` or an array `var zz: T[n]`");
  EXPECT_EQ(first_of("y[0] = quite_different"),
            "V0119 at 2:10+15: declare it: `let quite_different = …`");
}

TEST(PlacesAndFixes, misspelt_functions_are_suggested) {
  EXPECT_EQ(first_of("let a = sqrtt(2.0)"), "V0120 at 2:11+5: did you mean `sqrt`?");
  EXPECT_EQ(first_of("atomic_ad(y[0], 1)"), "V0120 at 2:3+9: did you mean `atomic_add`?");
  EXPECT_EQ(first_of("let a = subgroup_sum(1)"), "V0120 at 2:11+12: did you mean `subgroup_add`?");
  EXPECT_EQ(first_of("y[0] = add(1, 2)"), "V0120 at 2:10+3: write `1 + 2`");
  EXPECT_EQ(first_of("k(y)"),
            "V0120 at 2:3+1: kernels are called in a graph; make it a `fn` to call it here");
  EXPECT_EQ(first_of("y[0] = frobnicate(1)"),
            "V0120 at 2:10+10: define it: `fn frobnicate(…) { … }`");
}

TEST(PlacesAndFixes, misspelt_words_of_the_language_are_suggested) {
  EXPECT_EQ(first_of("retrun"), "V0132 at 2:3+6: did you mean `return`?");
  EXPECT_EQ(first_of("lett a = 1"), "V0132 at 2:3+4: did you mean `let`?");
  EXPECT_EQ(first_of("whlie true { }"), "V0132 at 2:3+5: did you mean `while`?");
  EXPECT_EQ(first_of("var a: u33 = 1"), "V0121 at 2:10+3: did you mean `u32`?");
  EXPECT_EQ(first_of_file("kernel k() workgruop(1) { }"),
            "V0122 at 1:12+9: did you mean `workgroup`?");
  EXPECT_EQ(first_of_file("kernal k() workgroup(1) { }"), "V0110 at 1:1+6: did you mean `kernel`?");
}

TEST(PlacesAndFixes, misspelt_names_of_graphs_are_suggested) {
  const std::string kernel = "kernel clear(y: out u32[4]) workgroup(1) grid(1) { y[0] = 0 }\n";
  EXPECT_EQ(first_of_file(kernel + "graph g(out: out u32[4]) { call claer(out) }"),
            "V0171 at 2:33+5: did you mean `clear`?");
  EXPECT_EQ(first_of_file(kernel + "graph g(result: out u32[4]) { call clear(resutl) }"),
            "V0119 at 2:42+6: did you mean `result`?");
}

TEST(PlacesAndFixes, misspelt_names_in_sizes_are_suggested) {
  EXPECT_EQ(
      first_of_file("kernel k(count: u32, y: out u32[cuont]) workgroup(1) grid(1) { y[0] = 0 }"),
      "V0119 at 1:33+5: did you mean `count`?");
  EXPECT_EQ(first_of_file(
                "kernel k(data: in u32[], y: out u32[len(dta)]) workgroup(1) grid(1) { y[0] = 0 }"),
            "V0119 at 1:41+3: did you mean `data`?");
}

TEST(PlacesAndFixes, types_point_at_the_operator_or_value_and_name_the_cast) {
  EXPECT_EQ(first_of("let a = scale * count"),
            "V0140 at 2:17+1: convert one side: `f32(…)` or `u32(…)`");
  EXPECT_EQ(first_of("y[0] = scale"), "V0140 at 2:10+5: convert it: `u32(…)`");
  EXPECT_EQ(first_of("y[0] += scale"), "V0140 at 2:8+2: convert one side: `u32(…)` or `f32(…)`");
  EXPECT_EQ(first_of("let a: i32 = count"), "V0140 at 2:16+5: convert it: `i32(…)`");
  EXPECT_EQ(first_of("y[0] = min(count, 1i64)"), "V0140 at 2:21+4: convert it: `u32(…)`");
  EXPECT_EQ(first_of("if count { }"), "V0147 at 2:6+5: compare it: `x != 0`");
  EXPECT_EQ(first_of("y[scale] = 1"), "V0138 at 2:5+5: convert it: `u32(…)`");
  EXPECT_EQ(first_of("y[0] = -count"),
            "V0148 at 2:10+1: subtract from zero, `0 - x`, or convert to a signed type");
  EXPECT_EQ(first_of("let r = scale % 2.0"),
            "V0141 at 2:17+1: `%` is for integers; write `x - trunc(x / y) * y`");
  EXPECT_EQ(first_of("let r = exp(1.5f64)"), "V0141 at 2:11+3: convert: `f64(exp(f32(x)))`");
}

TEST(PlacesAndFixes, literals_name_what_to_write) {
  EXPECT_EQ(first_of("let a = scale * 2"), "V0144 at 2:19+1: write `2.0`");
  EXPECT_EQ(first_of("let a: f32 = -3"), "V0144 at 2:16+2: write `-3.0`");
  EXPECT_EQ(first_of("let a: f32 = 0x10"), "V0144 at 2:16+4: write `16.0`");
  EXPECT_EQ(first_of("let a: f32 = 1_000"), "V0144 at 2:16+5: write `1_000.0`");
  EXPECT_EQ(first_of("let a = 1f32"), "V0103 at 2:11+4: write `1.0f32`");
  EXPECT_EQ(first_of("y[0] = 1.5"), "V0145 at 2:10+3: write an integer, or convert: u32(…)");
  EXPECT_EQ(first_of("let a: bool = 1"), "V0140 at 2:17+1: write `true` or `false`");
}

TEST(PlacesAndFixes, signs_and_ends_point_at_what_is_too_much) {
  EXPECT_EQ(first_of("if 0 <= count < 4 { }"),
            "V0113 at 2:17+1: compare twice: `a < b && b < c`, or use parentheses");
  EXPECT_EQ(first_of("y[0] = 1 y[1] = 2"),
            "V0115 at 2:12+1: put the next statement on a line of its own, or `;` between them");
  EXPECT_EQ(first_of("y[0] = 1 @ 2"),
            "V0115 at 2:12+1: put the next statement on a line of its own, or `;` between them");
  EXPECT_EQ(first_of("y[0] = 1 é 2"), "V0101 at 2:12+2: remove it");
  EXPECT_EQ(first_of("y[0] = 1 +"), "V0109 at 3:1+1: write a value here");
}

TEST(PlacesAndFixes, habits_of_other_languages_are_answered) {
  EXPECT_EQ(first_of("y[0] = count > 1 ? 1 : 2"),
            "V0101 at 2:20+1: to choose between values write `select(condition, a, b)`");
  EXPECT_EQ(first_of("# comment"), "V0101 at 2:3+1: a comment begins with `//`");
  EXPECT_EQ(first_of("/* comment */"),
            "V0108 at 2:3+1: a comment begins with `//` and ends with its line");
  EXPECT_EQ(first_of("if count = 2 { }"), "V0107 at 2:12+1: write `==` to compare");
  EXPECT_EQ(first_of("if count == 2 and true { }"), "V0107 at 2:17+3: write `&&`");
  EXPECT_EQ(first_of("for (i = 0; i < 4; i++) { y[0] = 1 }"),
            "V0107 at 2:7+1: write `for i in lo..hi { … }`");
  EXPECT_EQ(first_of("for i in range(4) { }"), "V0107 at 2:21+1: write `for i in lo..hi { … }`");
  EXPECT_EQ(first_of("y[0] = scale as u32"), "V0115 at 2:16+2: convert with a cast: `u32(x)`");
  EXPECT_EQ(first_of("y[0] = y.len"), "V0131 at 2:12+3: write `len(y)`");
  EXPECT_EQ(first_of("y[0] = global_id[0]"), "V0135 at 2:10+9: write `global_id.x`");
  EXPECT_EQ(first_of("barrier(workgroup)"),
            "V0120 at 2:3+7: write `barrier workgroup`, without parentheses");
  EXPECT_EQ(first_of("trap"), "V0107 at 2:3+4: write `trap 1`");
  EXPECT_EQ(first_of("region { }"), "V0107 at 2:3+6: write `region \"name\" { … }`");
  EXPECT_EQ(first_of("y[0] = -1"), "V0143 at 2:10+2: use a signed type: `-1i32`");
}

TEST(PlacesAndFixes, one_mistake_is_reported_once) {
  const auto count = [](const std::string& line) {
    return parse("kernel k(n: u32, y: out u32[64]) workgroup(64) grid(64) {\n  " + line +
                 "\n  y[0] = n\n}\n")
        .diagnostics.size();
  };
  for (const char* line : {"for (i = 0; i < 4; i++) { y[0] = 1 }", "y[0] = n[", "y[0] = 1 # 2",
                           "region \"copy { y[0] = 1 }", "for i in 0...4 { }",
                           "for i in 0.0..1.5f32 { }", "let a: f16 = 1.0; y[0] = u32(a)",
                           "y[0] = min(1 2)", "const c: u8[2] = [1]; y[0] = u32(c[0])"})
    EXPECT_EQ(count(line), 1u) << line;
}

TEST(PlacesAndFixes, immutable_names_say_how_to_change_them) {
  EXPECT_EQ(first_of("let a = 1u32; a = 2"), "V0134 at 2:17+1: declare it with `var`");
  EXPECT_EQ(first_of("for i in 0..4 { i = 2 }"),
            "V0134 at 2:19+1: use a `while` loop with a variable of your own");
  EXPECT_EQ(first_of("y = 2"), "V0134 at 2:3+1: write `y[i] = …`");
  EXPECT_EQ(first_of("count = 2"),
            "V0134 at 2:3+5: copy it into a `var`: write `var count = count` before this");
  EXPECT_EQ(first_of("x[0] = 2.0"), "V0139 at 2:3+1: declare it `inout` or `out`");
}

TEST(PlacesAndFixes, errors_of_a_function_show_the_chain_of_calls_and_come_once) {
  const Diagnostics found =
      parse(
          "fn inner(a: u32) -> u32 { return a + 1.5 }\n"
          "fn outer(a: u32) -> u32 { return inner(a) }\n"
          "kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = outer(1); y[1] = outer(2) }\n")
          .diagnostics;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(shown(found[0]), "V0145 at 1:38+3: write an integer, or convert: u32(…)");
  ASSERT_EQ(found[0].notes.size(), 2u);
  EXPECT_EQ(found[0].notes[0].place.line, 2u);
  EXPECT_EQ(found[0].notes[1].place.line, 3u);
}

TEST(PlacesAndFixes, unclosed_parenthesis_is_shown_where_it_was_opened) {
  const Diagnostics found =
      parse("kernel k(y: out u32[4]) workgroup(1) grid(1) {\n  y[0] = (1 +\n    2\n}\n")
          .diagnostics;
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(to_string(found[0].code), "V0107");
  ASSERT_EQ(found[0].notes.size(), 1u);
  EXPECT_EQ(found[0].notes[0].place.line, 2u);
  EXPECT_EQ(found[0].notes[0].place.column, 10u);
}

std::vector<std::string> notes_of(const std::string& source) {
  std::vector<std::string> notes;
  const Diagnostics found = parse(source).diagnostics;
  for (const Note& n : found.at(0).notes)
    notes.push_back(std::to_string(n.place.line) + ":" + std::to_string(n.place.column) + " " +
                    n.message);
  return notes;
}

TEST(PlacesAndFixes, types_label_both_sides) {
  using Notes = std::vector<std::string>;
  const std::string rule = "0:0 there is no implicit conversion between types";
  const auto notes = [&](const std::string& line) {
    return notes_of("kernel k(n: u32, s: f32, y: out u32[4]) workgroup(1) grid(1) {\n" + line +
                    "\n}\n");
  };
  EXPECT_EQ(notes("y[0] = n * s"), (Notes{"2:8 this side is u32", "2:12 this side is f32", rule}));
  EXPECT_EQ(notes("y[0] += s"), (Notes{"2:1 this side is u32", "2:9 this side is f32", rule}));
  EXPECT_EQ(notes("let a: i32 = n"), (Notes{"2:5 `a` is declared here", rule}));
  EXPECT_EQ(notes("y[0] = s"), (Notes{"1:26 the element of `y` is declared here", rule}));
  EXPECT_EQ(notes("for i in n..s { }"), (Notes{"2:10 this is u32"}));
}

TEST(PlacesAndFixes, missing_brace_is_located_by_indentation) {
  const auto source = [](const std::string& body) {
    return "kernel k(y: out u32[4])\n    workgroup(1)\n    grid(1) {\n" + body +
           "\n\nkernel l(y: out u32[4]) workgroup(1) grid(1) {\n  y[0] = 1\n}\n";
  };
  const std::string inner =
      source("  if y[0] == 0 {\n    for i in 0..4 {\n      y[i] = 1\n    y[0] = 2\n  }\n}\n");
  EXPECT_EQ(first_of_file(inner), "V0111 at 5:19+1: write `}` before line 7");
  EXPECT_EQ(notes_of(inner),
            std::vector<std::string>{"7:5 the indentation asks for a `}` before this line"});
  const std::string outer = source("  if y[0] == 0 {\n    y[1] = 1\n  }\n  y[0] = 1\n");
  EXPECT_EQ(first_of_file(outer), "V0111 at 3:13+1: write `}` before line 10");
  for (const std::string& s : {inner, outer}) EXPECT_EQ(parse(s).diagnostics.size(), 1u);
  EXPECT_EQ(first_of_file("fn f() {\n  if true {\n    return\n  }\n"),
            "V0111 at 1:8+1: add the missing `}`");
}

TEST(PlacesAndFixes, lengths_and_arguments_that_are_not_constant_name_the_cause) {
  EXPECT_EQ(first_of("var t: u32[count]"),
            "V0156 at 2:14+5: declare `const N = 64` and write `N`, or pass the memory as a "
            "parameter, `t: scratch u32[n]`");
  const std::string graph =
      "kernel k(x: in u32[], n: u32, y: out u32[4]) workgroup(1) grid(1) { }\n"
      "graph g(x: in u32[], n: u32, y: out u32[4]) {\n  call k(x, ";
  EXPECT_EQ(first_of_file(graph + "len(x), y)\n}\n"),
            "V0156 at 3:17+1: compute `len(x)` in the kernel, or declare a scalar parameter of the "
            "graph and write its name");
  EXPECT_EQ(first_of_file(graph + "n / 2, y)\n}\n").substr(0, 15), "V0156 at 3:13+1");
  EXPECT_EQ(parse(graph + "n / 2, y)\n}\n").diagnostics.at(0).message,
            "the argument `n / 2` is a formula: `n` takes a constant or a scalar of the graph");
  EXPECT_EQ(first_of_file("kernel k(y: out u32[mul(3, 4)]) workgroup(1) grid(1) { }"),
            "V0162 at 1:21+3: write `3 * 4`");
}

TEST(PlacesAndFixes, source_above_the_limit_is_not_read) {
  EXPECT_EQ(first_of_file(std::string(text::max_source_bytes + 1, ' ')),
            "V0105 at 1:1+1: split the file");
}

}  // namespace
}  // namespace vyre
