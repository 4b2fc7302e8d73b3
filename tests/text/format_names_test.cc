// Words of the grammar that are names elsewhere, and declarations over several lines.

#include <gtest/gtest.h>

#include "text/format.h"

namespace vyre {
namespace {

std::string formatted(const std::string& source) {
  const Result<std::string> r = format_source(source, "x.vyre");
  EXPECT_TRUE(r) << render(r.errors(), {});
  return r ? *r : "";
}

TEST(format, contextual_words_may_be_names) {
  const std::string source =
      "kernel step(limit: u32, y: out u32[1]) workgroup(1) grid(1) {\n"
      "  let test = limit\n"
      "  for in_ in 0..(test) step (2) { y[0] = test }\n"
      "  trap (1)\n"
      "}\n"
      "graph g(y: out u32[1]) {\n"
      "  call step(1, y)\n"
      "}\n";
  EXPECT_EQ(formatted(source), source);
}

TEST(format, a_header_over_several_lines_is_indented) {
  EXPECT_EQ(formatted("kernel k(y: out u32[1])\nworkgroup(1)\n  grid(1)\n{\ny[0]=1\n}\n"),
            "kernel k(y: out u32[1])\n    workgroup(1)\n    grid(1)\n{\n  y[0] = 1\n}\n");
}

TEST(format, a_brace_that_stands_alone_is_not_indented) {
  const std::string source =
      "fn f(a: u32) -> u32\n{\n  if a > 1\n  {\n    return a\n  }\n  return 1\n}\n";
  EXPECT_EQ(formatted(source), source);
  EXPECT_EQ(formatted("graph g(y: out u32[4])\n  {\n  repeat 2\n    {\n    call k(y)\n  }\n}\n"),
            "graph g(y: out u32[4])\n{\n  repeat 2\n  {\n    call k(y)\n  }\n}\n");
}

}  // namespace
}  // namespace vyre
