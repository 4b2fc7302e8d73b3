// Inputs and outputs by the names of parameters.

#include "interp/named_inputs.h"

#include <gtest/gtest.h>

#include <array>

#include "text/parse.h"

namespace vyre {
namespace {

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

const char* source = R"(
kernel saxpy(a: f32, x: in f32[], t: scratch f32[], y: inout f32[], z: out u32[])
    workgroup(64) grid(len(y)) {
  let i = global_id.x
  t[i] = a * x[i]
  y[i] = y[i] + t[i]
  z[i] = len(t)
}
graph g(n: i64, y: inout f32[]) { repeat 2 { call twice(y) } }
kernel twice(y: inout f32[]) workgroup(64) grid(len(y)) { y[global_id.x] *= 2.0 }
)";

TEST(named_inputs, a_launch_by_names) {
  const Module m = parsed(source);
  const Program& p = m.kernels[0];
  const float second[] = {10, 20, 30};
  const auto inputs = NamedInputs(p)
                          .set("a", 2.0)
                          .set("x", std::vector<float>{1, 2, 3})
                          .set("y", second)
                          .set_length("t", 3)
                          .set_length("z", 2)
                          .finish();
  ASSERT_TRUE(inputs) << render(inputs.errors(), {});
  const auto outcome = interp::run(p, *inputs);
  ASSERT_TRUE(outcome) << render(outcome.errors(), {});
  EXPECT_EQ(*output_of<float>(p, outcome->buffers, "y"), (std::vector<float>{12, 24, 36}));
  EXPECT_EQ(*output_of<uint32_t>(p, outcome->buffers, "z"), (std::vector<uint32_t>{3, 3}));
  EXPECT_EQ(output_of<int32_t>(p, outcome->buffers, "z").errors()[0].code, Code::WrongArgument);
  EXPECT_EQ(output_of<float>(p, outcome->buffers, "x").errors()[0].code, Code::UnknownParameter);
  EXPECT_EQ(output_of<float>(p, {}, "y").errors()[0].code, Code::UnknownParameter);
}

TEST(named_inputs, every_mistake_is_reported) {
  const Module m = parsed(source);
  NamedInputs inputs(m.kernels[0]);
  inputs.set("a", 0.1)
      .set("a", std::vector<float>{1})
      .set("x", 1.0f)
      .set("x", std::vector<double>{1})
      .set("z", std::vector<uint32_t>{1})
      .set("saxpi", 1)
      .set("", 1)
      .set_length("x", 4)
      .set_length("t", 4)
      .set_length("t", 4)
      .set("y", std::vector<float>{1})
      .set("y", std::vector<float>{1})
      .set("b", 1);
  const auto made = inputs.finish();
  ASSERT_FALSE(made);
  std::vector<std::string> messages;
  for (const Diagnostic& d : made.errors()) {
    messages.push_back(std::string(to_string(d.code)) + " " + d.message);
    EXPECT_FALSE(d.fix.empty());
  }
  EXPECT_EQ(messages,
            (std::vector<std::string>{
                "V0717 parameter `a` of kernel `saxpy` is f32, which cannot represent 0.1 (f64) "
                "exactly",
                "V0717 parameter `a` of kernel `saxpy` takes a scalar",
                "V0717 parameter `x` of kernel `saxpy` takes a buffer",
                "V0717 parameter `x` of kernel `saxpy` has elements of f32, not f64",
                "V0717 parameter `z` of kernel `saxpy` takes no input: its role is `out`",
                "V0609 kernel `saxpy` has no parameter `saxpi`",
                "V0609 kernel `saxpy` has no parameter ``",
                "V0717 parameter `x` of kernel `saxpy` has the length of its input",
                "V0610 parameter `t` of kernel `saxpy` is set twice",
                "V0610 parameter `y` of kernel `saxpy` is set twice",
                "V0609 kernel `saxpy` has no parameter `b`"}));
}

TEST(named_inputs, a_graph_by_names) {
  const Module m = parsed(source);
  const Graph& g = m.graphs[0];
  const auto inputs =
      NamedInputs(g).set("n", 7u).set("y", std::array<float, 2>{1, 2}).finish_graph();
  ASSERT_TRUE(inputs) << render(inputs.errors(), {});
  EXPECT_EQ(inputs->data[0]->size(), 8u);
  const auto outcome = interp::run(m, g, *inputs);
  ASSERT_TRUE(outcome) << render(outcome.errors(), {});
  EXPECT_EQ(*output_of<float>(g, outcome->buffers, "y"), (std::vector<float>{4, 8}));
  EXPECT_FALSE(NamedInputs(g).set_grid(4).finish_graph());
}

}  // namespace
}  // namespace vyre
