// Limits of reading and checking: sizes, depths, time and memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "check/check.h"
#include "tests/text/front_end_util.h"

namespace vyre {
namespace {

TEST(FrontEndLimits, unused_functions_are_checked_without_being_expanded) {
  const ParseOutcome outcome = parse(doubling_functions(40) + kernel("k", "  y[0] = 1"));
  EXPECT_TRUE(outcome.module) << render(outcome.diagnostics, outcome.sources);
}

TEST(FrontEndLimits, errors_in_calls_of_unused_functions_are_found) {
  const auto codes = [](const std::string& body) {
    return error_codes(
        parse("fn f(x: u32, b: in f32[]) -> u32 { return x + u32(b[0]) }\nfn v(x: u32) { }\n"
              "fn g(b: in f32[], c: in u32[]) -> u32 {\n  " +
              body + "\n}\n" + kernel("k", ""))
            .diagnostics);
  };
  EXPECT_EQ(codes("return f(1, b)"), "");
  EXPECT_EQ(codes("return f(1.5, b)"), "V0145");
  EXPECT_EQ(codes("return f(1, c)"), "V0140");
  EXPECT_EQ(codes("return f(1)"), "V0142");
  EXPECT_EQ(codes("return v(1)"), "V0155");
  EXPECT_EQ(codes("let a: f32 = f(1, b)\n  return 1"), "V0140");
}

TEST(FrontEndLimits, recursion_of_unused_functions_is_found_once) {
  const std::string ring = lines(5000, [](int i) {
    return fmt::format("fn r{}(x: u32) -> u32 {{ return r{}(x) }}", i, (i + 1) % 5000);
  });
  const ParseOutcome outcome = parse(ring + kernel("k", ""));
  EXPECT_EQ(error_codes(outcome.diagnostics), "V0154");
}

TEST(FrontEndLimits, first_program_that_is_too_large_ends_the_module) {
  const std::string source =
      doubling_functions(30) + kernel("large", "  y[0] = a30(1)") + kernel("wrong", "  y[0] = 1.5");
  EXPECT_EQ(error_codes(parse(source, {.max_ops = 1u << 16}).diagnostics), "V0168");
  EXPECT_EQ(ParseOptions().max_ops, 16u << 20);
}

TEST(FrontEndLimits, operations_of_a_module_are_limited_too) {
  const std::string kernels =
      lines(40, [](int i) { return kernel(fmt::format("k{}", i), "  y[0] = a10(1)"); });
  const std::string source = doubling_functions(10) + kernels;
  EXPECT_EQ(error_codes(parse(source, {.max_ops = 1u << 16}).diagnostics), "");
  EXPECT_EQ(
      error_codes(parse(source, {.max_ops = 1u << 16, .max_module_ops = 1u << 17}).diagnostics),
      "V0168");
  EXPECT_EQ(ParseOptions().max_module_ops, 64u << 20);
}

TEST(FrontEndLimits, operations_of_constants_count_for_the_module) {
  const std::string source =
      doubling_functions(10) +
      lines(100, [](int i) { return fmt::format("const c{} = a10(1)", i); }) + kernel("k", "");
  EXPECT_EQ(error_codes(parse(source, {.max_module_ops = 1u << 20}).diagnostics), "");
  EXPECT_EQ(error_codes(parse(source, {.max_module_ops = 1u << 17}).diagnostics), "V0168");
}

TEST(FrontEndLimits, calls_of_empty_functions_count_for_the_module) {
  const std::string functions =
      "fn e0() { }\n" + lines(12, [](int i) {
        return fmt::format("fn e{0}() {{\n  e{1}()\n  e{1}()\n}}", i + 1, i);
      });
  const std::string source =
      functions + lines(40, [](int i) { return kernel(fmt::format("k{}", i), "  e12()"); });
  EXPECT_EQ(error_codes(parse(source, {.max_module_ops = 1u << 20}).diagnostics), "");
  EXPECT_EQ(error_codes(parse(source, {.max_module_ops = 1u << 17}).diagnostics), "V0168");
  EXPECT_EQ(error_codes(parse(source, {.max_ops = 1u << 12}).diagnostics), "V0168");
}

TEST(FrontEndLimits, operations_in_ir_form_count_for_the_module) {
  const std::string source = lines(10, [](int i) {
    return kernel(fmt::format("k{}", i),
                  lines(100, [](int v) { return fmt::format("  %{} = const 1 : u32", v); }));
  });
  EXPECT_EQ(error_codes(parse(source).diagnostics), "");
  EXPECT_EQ(error_codes(parse(source, {.max_module_ops = 900}).diagnostics), "V0168");
  EXPECT_EQ(error_codes(parse(source, {.max_ops = 90}).diagnostics), "V0168");
}

TEST(FrontEndLimits, chains_of_constants_have_a_depth) {
  EXPECT_TRUE(parse(forward_constants(999) + kernel("k", "  y[0] = c0")).module);
  for (const int n : {1000, 20000}) {
    const ParseOutcome outcome = parse(forward_constants(n) + kernel("k", "  y[0] = c0"));
    EXPECT_EQ(error_codes(outcome.diagnostics), "V0112");
  }
}

/// 100 functions, or constants, each of which nests the one before 300 deep.
void expect_depth_limit(const std::string& open, const std::string& close) {
  SCOPED_TRACE(open);
  std::string before, after;
  for (int i = 0; i < 300; ++i) before += open, after += close;
  const std::string functions =
      "fn a0(x: u32) -> u32 { return x }\n" + lines(100, [&](int i) {
        return fmt::format("fn a{}(x: u32) -> u32 {{ return {}a{}(x){} }}", i + 1, before, i,
                           after);
      });
  const std::string constants =
      lines(100,
            [&](int i) { return fmt::format("const c{} = {}c{}{}", i, before, i + 1, after); }) +
      "const c100 = 1\n";
  const auto codes = [](const std::string& source) {
    return error_codes(parse(source).diagnostics);
  };
  EXPECT_EQ(codes(functions + kernel("k", "  y[0] = a100(1)")), "V0112");
  EXPECT_EQ(codes(constants + kernel("k", "  y[0] = c0")), "V0112");
  EXPECT_EQ(codes(functions + "const c = a100(1)\n" + kernel("k", "  y[0] = c")), "V0112");
}

TEST(FrontEndLimits, nested_expressions_of_nested_calls_have_a_depth) {
  expect_depth_limit("~", "");
  expect_depth_limit("max(1, ", ")");
  expect_depth_limit("u32(", ")");
  expect_depth_limit("1 + (", ")");
}

TEST(FrontEndLimits, constants_that_are_too_large_are_errors) {
  EXPECT_EQ(
      error_codes(parse(doubling_functions(40) + "const c = a40(1)\n" + kernel("k", "  y[0] = c"),
                        {.max_ops = 1u << 16})
                      .diagnostics),
      "V0168");
  EXPECT_EQ(
      error_codes(parse(function_chain(2000) + "const c = a2000(1)\n" + kernel("k", "  y[0] = c"))
                      .diagnostics),
      "V0112");
  EXPECT_EQ(error_codes(parse(function_chain(2000) + kernel("k", "") +
                              "graph g(y: out u32[4]) {\n  call k(y)\n  while y[a2000(1)] != 0 "
                              "limit 1 { call k(y) }\n}\n")
                            .diagnostics),
            "V0112");
}

TEST(FrontEndLimits, an_error_after_a_hundred_warnings_is_kept) {
  const std::string warnings =
      lines(100, [](int i) { return kernel(fmt::format("k{}", i), "  return\n  y[0] = 1"); });
  const ParseOutcome outcome = parse(warnings + kernel("wrong", "  y[0] = 1.5"));
  EXPECT_EQ(error_codes(outcome.diagnostics), "V0145");
  EXPECT_FALSE(outcome.module);
}

TEST(FrontEndLimits, a_hundred_errors_are_kept) {
  const ParseOutcome outcome =
      parse(lines(1000, [](int i) { return kernel(fmt::format("k{}", i), "  y[0] = 1.5"); }));
  EXPECT_EQ(outcome.diagnostics.size(), 100u);
  EXPECT_EQ(outcome.errors_left_out, 900u);
}

TEST(FrontEndLimits, errors_over_the_limit_are_counted_once_for_each_place) {
  const std::string wrong = "fn wrong(a: u32) -> u32 { return a + 1.5 }\n";
  const ParseOutcome outcome = parse(
      lines(100, [](int i) { return kernel(fmt::format("k{}", i), "  y[0] = 1.5"); }) + wrong +
      lines(100, [](int i) { return kernel(fmt::format("c{}", i), "  y[0] = wrong(1)"); }));
  EXPECT_EQ(outcome.diagnostics.size(), 100u);
  EXPECT_EQ(outcome.errors_left_out, 1u);
}

TEST(FrontEndLimits, syntax_errors_over_the_limit_are_counted) {
  const ParseOutcome outcome =
      parse(kernel("k", lines(150, [](int) { return std::string("  y[0] = )"); })));
  EXPECT_EQ(outcome.diagnostics.size(), 100u);
  EXPECT_EQ(outcome.errors_left_out, 50u);
}

TEST(FrontEndLimits, names_of_an_outer_call_are_hidden) {
  const std::string source =
      "fn f(a: u32) -> u32 { return a + b }\n" + kernel("k", "  let b = 1\n  y[0] = f(b)");
  EXPECT_EQ(error_codes(parse(source).diagnostics), "V0119");
  EXPECT_TRUE(parse("const b = 2\n" + source).module);
}

TEST(FrontEndLimits, time_limit_ends_an_expansion) {
  ParseOptions options{.time_limit = 0.05};
  const ParseOutcome outcome =
      parse(doubling_functions(40) + kernel("k", "  y[0] = a40(1)"), options);
  ASSERT_EQ(error_codes(outcome.diagnostics), "V0502");
  EXPECT_EQ(outcome.diagnostics[0].place.file, "<input>");
}

TEST(FrontEndLimits, time_limit_ends_each_stage) {
  const std::string body = lines(50000, [](int i) { return fmt::format("  y[{0}] = {0} + 1", i); });
  EXPECT_EQ(error_codes(parse(kernel("k", body), {.time_limit = 1e-6}).diagnostics), "V0502");
  const ParseOutcome whole = parse(kernel("k", body));
  ASSERT_TRUE(whole.module);
  EXPECT_EQ(error_codes(check(*whole.module, {.time_limit = 1e-6})), "V0502");
  EXPECT_EQ(error_codes(check(whole.module->kernels[0], {.time_limit = 1e-6})), "V0502");
}

TEST(FrontEndLimits, memory_limit_ends_each_stage) {
  const std::string expanding = doubling_functions(40) + kernel("k", "  y[0] = a40(1)");
  EXPECT_EQ(error_codes(parse(expanding, {.memory_limit = 10u << 20}).diagnostics), "V0503");
  const std::string tokens = kernel("k", lines(100000, [](int) { return "  y[0] = 1"; }));
  EXPECT_EQ(error_codes(parse(tokens, {.memory_limit = 10u << 20}).diagnostics), "V0503");
  const ParseOutcome whole = parse(tokens, {.memory_limit = 1u << 30});
  ASSERT_TRUE(whole.module);
  EXPECT_EQ(error_codes(check(*whole.module, {.memory_limit = 10u << 20})), "V0503");
  EXPECT_EQ(error_codes(check(*whole.module, {.memory_limit = 1u << 30})), "");
}

TEST(FrontEndLimits, exits_of_loops_count_as_memory) {
  // Each break keeps the values of all variables that the loop carries.
  std::string body = lines(2000, [](int i) { return fmt::format("  var v{} = y[0]", i); }) +
                     "  while y[0] == 0 {\n";
  body += lines(2000, [](int i) { return fmt::format("    v{0} = v{0} + 1", i); });
  body +=
      lines(4000, [](int i) { return fmt::format("    if y[{}] == 1 {{ break }}", i); }) + "  }";
  EXPECT_EQ(error_codes(parse(kernel("k", body), {.memory_limit = 64u << 20}).diagnostics),
            "V0503");
}

TEST(FrontEndLimits, limits_that_are_not_numbers_are_errors) {
  for (const double bad : {-1.0, std::nan("")}) {
    EXPECT_EQ(error_codes(parse(kernel("k", ""), {.time_limit = bad}).diagnostics), "V0607");
    EXPECT_EQ(error_codes(check(Module(), {.time_limit = bad})), "V0607");
  }
}

}  // namespace
}  // namespace vyre
