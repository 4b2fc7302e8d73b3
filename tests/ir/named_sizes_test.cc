// Sizes of graphs by the names of parameters.

#include "ir/named_sizes.h"

#include <gtest/gtest.h>

#include "text/parse.h"

namespace vyre {
namespace {

Module graph_module() {
  ParseOutcome r = parse(R"(
kernel scale(by: f32, x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * by
}
graph g(by: f32, x: in f32[], y: out f32[len(x)]) {
  buffer t: f32[len(x)]
  call scale(by, x, t)
  call scale(2.0, t, y)
}
)");
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

TEST(named_sizes, lengths_and_scalars_go_by_name) {
  const Module m = graph_module();
  const auto named = resolve_graph(m.graphs[0], {{"x", 10}, {"by", 3}});
  const auto indexed =
      resolve_graph(m.graphs[0], std::vector<std::optional<uint64_t>>{{}, 10, {}, {}},
                    std::vector<std::optional<uint64_t>>{scalar(3.0f).bits, {}, {}, {}});
  ASSERT_TRUE(named) << render(named.errors(), {});
  ASSERT_TRUE(indexed);
  EXPECT_EQ(named->counts, indexed->counts);
  EXPECT_EQ(named->scalars, indexed->scalars);
}

TEST(named_sizes, every_mistake_is_reported) {
  const Module m = graph_module();
  const auto shape =
      resolve_graph(m.graphs[0], {{"x", -1}, {"by", 0.1}, {"bz", 1}, {"t", 4}, {"y", 4}, {"y", 4}});
  ASSERT_FALSE(shape);
  std::vector<std::string> messages;
  for (const Diagnostic& d : shape.errors()) {
    messages.push_back(to_string(d.code) + " " + d.message);
    EXPECT_FALSE(d.fix.empty());
  }
  EXPECT_EQ(
      messages,
      (std::vector<std::string>{
          "V0717 the length of parameter `x` of graph `g` is -1 (i32)",
          "V0717 parameter `by` of graph `g` is f32, which cannot represent 0.1 (f64) exactly",
          "V0609 graph `g` has no parameter `bz`", "V0609 graph `g` has no parameter `t`",
          "V0610 parameter `y` of graph `g` has two sizes"}));
  EXPECT_FALSE(resolve_graph(m.graphs[0], {{"by", 1}}));  // the length of x is not known
  EXPECT_EQ(resolve_graph(m.graphs[0], {{"x", 4}, {"y", 5}, {"by", 1}}).errors()[0].code,
            Code::LengthDiffers);
}

}  // namespace
}  // namespace vyre
