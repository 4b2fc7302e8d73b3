#include "opt/passes/inline_regions.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

Program inlined(const std::string& body) {
  const Program before = program_of(
      "vyre 1\n\nkernel k(n: u32, x: in u32[], y: inout u32[]) workgroup(4) grid(16) {\n" + body +
      "\n}\n");
  const PassResult r = run_pass(inline_regions, before);
  expect_same_results(before, r.program);
  EXPECT_EQ(count(r.program, Opcode::Region), 0u) << body;
  return r.program;
}

TEST(InlineRegions, yielded_values_replace_results) {
  const Program p = inlined(
      "%0 = region \"a\" : u32 {\n %1 = global_id.x\n %2 = load x[%1] : u32\n yield %2\n}\n"
      "region \"b\" {\n %3 = global_id.x\n store y[%3], %0\n}");
  EXPECT_EQ(count(p, Opcode::Store), 1u);
  EXPECT_EQ(p.blocks.size(), 1u);
}

TEST(InlineRegions, inlines_nested_regions_and_those_in_branches) {
  const Program p = inlined(
      "%0 = global_id.x\n%1 = load x[%0] : u32\n%2 = scalar n : u32\n%3 = lt %1, %2 : u32\n"
      "if %3 {\n region \"a\" {\n %4 = region \"b\" : u32 {\n %5 = add %1, %2 : u32\n yield "
      "%5\n }\n store y[%0], %4\n }\n}");
  EXPECT_EQ(count(p, Opcode::Add), 1u);
}

TEST(InlineRegions, keeps_exits_of_the_kernel) {
  const Program p = inlined(
      "%0 = global_id.x\nregion \"a\" {\n %1 = scalar n : u32\n %2 = lt %0, %1 : u32\n if %2 {\n "
      "return\n }\n}\nstore y[%0], %0");
  EXPECT_EQ(count(p, Opcode::Return), 2u);
}

TEST(InlineRegions, has_nothing_to_do_without_regions) {
  const PassResult r = run_pass(inline_regions,
                                "kernel k(y: out u32[4]) workgroup(4) grid(4) { y[global_id.x] = 1 "
                                "}\n");
  EXPECT_FALSE(r.changed);
}

}  // namespace
}  // namespace vyre::opt
