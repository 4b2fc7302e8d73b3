// Warnings about programs that are legal but very likely unintended: programs with warnings, and
// programs without.

#include <gtest/gtest.h>

#include <string>

#include "text/parse.h"
#include "tools/vyre/program_file.h"

namespace vyre {
namespace {

/// "V0181 at 3:5: fix" for each warning, one per line.
std::string warnings_of(const std::string& source, const cli::LoadOptions& options = {}) {
  std::string text;
  for (const Diagnostic& d : cli::load_module_bytes(source, "test", options).diagnostics) {
    EXPECT_NE(d.severity, Severity::Error) << d.message << "\n" << source;
    if (d.severity == Severity::Warning)
      text += (text.empty() ? "" : "\n") + to_string(d.code) + " at " +
              std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " + d.fix;
  }
  return text;
}

/// Returns the warnings of a kernel whose line 2 is `line`; all its names are used.
std::string warnings_in(const std::string& line) {
  return warnings_of(
      "const N = 64; kernel k(n: u32, s: i32, c: in u8[64], x: in u32[], y: out u32[64], z: inout "
      "u32[]) workgroup(64) grid(len(x)) {\n" +
      line + "\n  y[global_id.x] = n + u32(s) + u32(c[0]) + x[0] + z[0]\n}\n");
}

TEST(Warnings, shifts_by_the_width_or_more) {
  EXPECT_EQ(warnings_in("y[1] = u32(c[1] << 8)"),
            "V0181 at 2:17: convert before the shift: `u32(c[1]) << 8`");
  EXPECT_EQ(warnings_in("y[1] = n >> 32"),
            "V0181 at 2:10: convert before the shift: `u64(n) >> 32`");
  EXPECT_EQ(warnings_in("y[1] = u32(u64(n) << 64)"), "V0181 at 2:19: shift by 0 to 63");
  EXPECT_EQ(warnings_in("z[global_id.x] <<= 40"),
            "V0181 at 2:16: convert before the shift: `u64(z[global_id.x]) << 40`");
}

TEST(Warnings, shifts_that_may_be_meant_have_none) {
  for (const char* line :
       {"y[1] = u32(c[1]) << 8", "y[1] = u32(c[1] << 7)", "y[1] = n << 31", "y[1] = n << x[0]",
        "const W = 32; y[1] = n << W", "if N > 64 { y[1] = n << 32 }", "y[1] = 1 << n"})
    EXPECT_EQ(warnings_in(line), "") << line;
}

TEST(Warnings, comparisons_that_are_always_the_same) {
  EXPECT_EQ(warnings_in("if c[0] + 1 > 255 { y[1] = 1 }"),
            "V0182 at 2:13: convert each operand first: `u32(x)`");
  EXPECT_EQ(warnings_in("if 255 < c[0] { y[1] = 1 }"),
            "V0182 at 2:8: convert each operand first: `u32(x)`");
  EXPECT_EQ(warnings_in("if n >= 0 { y[1] = 1 }"),
            "V0182 at 2:6: remove it, or compare with another number");
  EXPECT_EQ(warnings_in("if n < 0 { y[1] = 1 }"),
            "V0182 at 2:6: remove it, or compare with another number");
  EXPECT_EQ(warnings_in("if c[0] <= 255 { y[1] = 1 }"),
            "V0182 at 2:9: convert each operand first: `u32(x)`");
  EXPECT_EQ(warnings_in("if s > 2147483647 { y[1] = 1 }"),
            "V0182 at 2:6: convert each operand first: `i64(x)`");
}

TEST(Warnings, comparisons_that_may_differ_have_none) {
  for (const char* line :
       {"if u32(c[0]) + 1 > 255 { y[1] = 1 }", "if c[0] > 254 { y[1] = 1 }",
        "if c[0] == 255 { y[1] = 1 }", "if n > 0 { y[1] = 1 }", "if s >= 0 { y[1] = 1 }",
        "if s < 0 { y[1] = 1 }", "const L = 0; if n >= L { y[1] = 1 }", "if n < 1 { y[1] = 1 }",
        "if s >= -2147483647 { y[1] = 1 }", "if c[0] < 255 { y[1] = 1 }"})
    EXPECT_EQ(warnings_in(line), "") << line;
}

TEST(Warnings, constant_indices_outside_constant_lengths) {
  EXPECT_EQ(warnings_in("y[64] = 1"),
            "V0183 at 2:3: write an index from 0 to 63, or declare `y` longer");
  EXPECT_EQ(warnings_in("var t: u32[4]; y[1] = t[4]"),
            "V0183 at 2:25: write an index from 0 to 3, or declare `t` longer");
  EXPECT_EQ(warnings_in("shared t: u32[2 * 2]; t[2 + 2] = n").substr(0, 13), "V0183 at 2:27");
  EXPECT_EQ(warnings_in("y[-1i32] = 1").substr(0, 5), "V0183");
  EXPECT_EQ(warnings_in("atomic_add(y[70], 1)").substr(0, 5), "V0183");
}

TEST(Warnings, indices_that_may_be_inside_have_none) {
  for (const char* line : {"y[63] = 1", "z[100] = 1", "y[n] = 1", "y[N] = 1",
                           "if N > 64 { y[64] = 1 }", "if N == 65 && n > 0 { y[0] = 1 }"})
    EXPECT_EQ(warnings_in(line), "") << line;
  EXPECT_EQ(
      warnings_of("fn last(b: in u32[]) -> u32 { if len(b) > 8 { return b[8] }; return b[0] }\n"
                  "kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = last(y) }\n"),
      "");
}

TEST(Warnings, loops_that_never_run) {
  EXPECT_EQ(warnings_in("for i in 0..0 { y[i] = 1 }"),
            "V0184 at 2:1: correct the range, or remove the loop");
  EXPECT_EQ(warnings_in("for i in 4..0 { y[i] = 1 }"),
            "V0184 at 2:1: count up and compute the index from the counter: `for i in 0..n` and "
            "`n - 1 - i`");
  EXPECT_EQ(warnings_in("for i in 0i32..8 step -1 { y[i] = 1 }").substr(0, 5), "V0184");
  EXPECT_EQ(warnings_in("while false { y[1] = 1 }"), "V0184 at 2:1: remove it");
}

TEST(Warnings, loops_that_may_run_have_none) {
  for (const char* line : {"for i in 0..1 { y[i] = 1 }", "for i in 0..N - 64 { y[i] = 1 }",
                           "for i in -4i32..0 { y[i + 4] = 1 }", "for i in n..0 { y[i] = 1 }",
                           "while true { break }", "for i in 0..n { y[i] = 1 }"})
    EXPECT_EQ(warnings_in(line), "") << line;
}

TEST(Warnings, names_that_nothing_uses) {
  EXPECT_EQ(warnings_in("let a = n"), "V0185 at 2:5: remove it, or name it `_a`");
  EXPECT_EQ(warnings_in("shared t: u32[4]"), "V0185 at 2:8: remove it, or name it `_t`");
}

TEST(Warnings, functions_and_parameters_that_nothing_uses) {
  const std::string kernel = "kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = 1 }\n";
  EXPECT_EQ(warnings_of("fn f(a: u32) -> u32 { return a }\n" + kernel),
            "V0185 at 1:4: remove it, or name it `_f`");
  EXPECT_EQ(
      warnings_of("fn f(a: u32, b: u32) -> u32 { return a }\n"
                  "kernel k(n: u32, y: out u32[4]) workgroup(1) grid(1) { y[0] = f(1, 2) }\n"),
      "V0185 at 1:14: remove it, or name it `_b`\nV0185 at 2:10: remove it, or name it `_n`");
}

TEST(Warnings, names_that_are_used_somewhere_have_none) {
  for (const char* source :
       {"kernel k(n: u32, y: out u32[n]) workgroup(1) grid(1) { y[0] = 1 }",
        "kernel k(n: u32, y: out u32[4]) workgroup(1) grid(n) { y[0] = 1 }",
        "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(1) grid(1) { y[0] = 1 }",
        "kernel k(_x: in u32[], y: out u32[4]) workgroup(1) grid(1) { let _a = 1; y[0] = 1 }",
        "fn f(a: u32) -> u32 { return a } const C = f(2)\n"
        "kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = C }",
        "fn g(a: u32) -> u32 { return a }\nfn _f(a: u32) -> u32 { return g(a) }\n"
        "kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = 1 }",
        "kernel k(y: out u32[4]) workgroup(1) grid(1) { const C = 2; var t: u32[C]; y[0] = t[0] }",
        "kernel k(y: out u32[4]) workgroup(1) grid(1) { shared t: u32[4]; t[0] = 1; y[0] = 1 }",
        "kernel k(n: u32, y: out u32[4]) workgroup(1) grid(1) {\n  %1 = const 0 : u32\n  "
        "store y[%1], %1 : u32\n}",
        "fn helper(a: u32) -> u32 { return 1 }"})
    if (cli::load_module_bytes(source, "test").module) EXPECT_EQ(warnings_of(source), "") << source;
}

TEST(Warnings, updates_of_one_element_by_all) {
  const std::string fix =
      "write `atomic_add(y[i], v)`, or let one invocation do it: `if global_id.x == 0 { … }`";
  EXPECT_EQ(warnings_in("y[0] += x[global_id.x]"), "V0308 at 2:1: " + fix);
  EXPECT_EQ(warnings_in("y[0] = y[0] + 1"), "V0308 at 2:1: " + fix);
  EXPECT_EQ(warnings_in("if n > 2 { y[n] += 1 }"), "V0308 at 2:12: " + fix);
  EXPECT_EQ(warnings_in("for i in 0..n { y[i] += x[global_id.x] }"), "V0308 at 2:17: " + fix);
  EXPECT_EQ(warnings_in("shared t: u32[4]; t[workgroup_id.x % 4] += 1").substr(0, 5), "V0308");
  EXPECT_EQ(warnings_of("kernel k(y: out u32[4]) workgroup(1) grid(4) { y[0] += 1 }").substr(0, 5),
            "V0308");
}

TEST(Warnings, updates_that_may_be_ordered_have_none) {
  for (const char* line :
       {"y[global_id.x] += 1", "if global_id.x == 0 { y[0] += 1 }", "atomic_add(y[0], 1)",
        "if x[global_id.x] > 9 { y[0] += 1 }", "var t: u32[4]; t[0] += 1; y[0] = t[0]", "y[0] = 1",
        "y[0] = y[1] + 1", "atomic_store(y[1], 1, acq_rel); y[0] += 1"})
    EXPECT_EQ(warnings_in(line), "") << line;
  for (const char* source : {"kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] += 1 }",
                             "kernel k(n: u32, y: out u32[4]) workgroup(1) grid(n) { y[0] += 1 }"})
    EXPECT_EQ(warnings_of(source), "") << source;
}

TEST(Warnings, come_once_for_a_function_that_is_inlined_twice) {
  EXPECT_EQ(
      warnings_of("fn f(a: u8) -> u8 { return a << 8 }\n"
                  "kernel k(y: out u8[4]) workgroup(1) grid(1) { y[0] = f(1); y[1] = f(2) }\n"),
      "V0181 at 1:30: convert before the shift: `u32(a) << 8`");
}

TEST(Warnings, imported_files_have_none) {
  ParseOptions options{.lint = true};
  options.resolver.name = [](const std::string& path, const std::string&) { return path; };
  options.resolver.read = [](const std::string&, uint64_t) {
    return FileContents{"fn unused(a: u8, b: u8) -> u8 { let c = 1; return a << 8 }\n", {}};
  };
  const ParseOutcome outcome = parse(
      "import \"lib.vyre\"\nkernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = 1 }\n", options);
  ASSERT_TRUE(outcome.module);
  EXPECT_TRUE(outcome.diagnostics.empty());
}

TEST(Warnings, come_only_where_they_are_asked_for) {
  const std::string source =
      "kernel k(x: in u8[4], y: out u8[4]) workgroup(1) grid(1) {\n"
      "  for i in 4..0 { y[9] = x[0] << 8 }\n}\n";
  EXPECT_TRUE(parse(source).diagnostics.empty());
  EXPECT_EQ(parse(source, {.lint = true}).diagnostics.size(), 3u);
}

}  // namespace
}  // namespace vyre
