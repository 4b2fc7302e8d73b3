#pragma once

// A graph that uses every feature of plans, its plan as a file, and the outputs of the graph when
// it runs by a plan that was read from a possibly changed file.

#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "plan/plan_file.h"
#include "runtime/run_graph.h"
#include "tests/plan/fusion/fuse_util.h"

namespace vyre::plan {

/// Joins, buffers that vanish, two buffers at one place, and one that is cleared.
inline constexpr const char* mixed_graph = R"(
kernel scale(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * by
}
kernel shift(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] + 7
}
kernel turn(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  shared s: u32[64]
  s[local_id.x] = x[(global_id.x * 7 + 3) % len(x)]
  barrier workgroup
  y[global_id.x] = s[63 - local_id.x] + y[global_id.x]
}
kernel odd(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  if i < len(x) && i % 2 == 1 { y[len(x) - 1 - i] = x[i] + y[len(x) - 1 - i] + 1 }
}
graph g(by: u32, x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  buffer c: u32[len(x)]
  buffer d: u32[len(x)]
  buffer e: u32[len(x)]
  buffer f: u32[len(x)]
  call scale(by, x, a)
  call shift(a, b)
  call turn(b, c)
  call turn(c, d)
  call odd(d, e)
  call turn(e, f)
  call turn(f, y)
}
)";

using Bytes = std::vector<std::vector<std::byte>>;

class PlannedText : public GraphText {
 public:
  explicit PlannedText(const std::string& text) : GraphText(text) {}

  PlannedGraph planned(const PlanOptions& options = {}) const {
    Result<PlannedGraph> p = plan_graph(module, graph(), shape(), options);
    if (p) return std::move(*p);
    ADD_FAILURE() << render(p.errors(), {});
    return {};
  }
  std::string file(const PlanOptions& options = {}) const {
    return write_plan(planned(options), module, graph());
  }
  /// Returns the outputs of the graph on the interpreter's device: by `plan`, or without a plan.
  Result<Bytes> run(const GraphPlan* plan) const {
    Result<driver::Device> device = driver::Device::open("interp");
    if (!device) return device.errors();
    driver::RunOptions options;
    options.fuse = options.reuse = false;
    if (plan) options.plan = std::make_shared<const GraphPlan>(*plan);
    auto ran = driver::run_graph(*device, module, graph(), inputs, options);
    if (!ran) return ran.errors();
    return std::move(ran->buffers);
  }
  /// By what is in a file.
  Result<Bytes> run_file(const std::string& text) const {
    const Result<GraphPlan> plan = read_plan(text, "p.json");
    if (!plan) return plan.errors();
    return run(&*plan);
  }
  /// Expects that an arbitrary file is refused with a code of plans or runs as the graph does.
  /// Returns the code, or nothing.
  std::optional<Code> same_or_refused(const std::string& text, const Bytes& expected) const {
    const Result<Bytes> ran = run_file(text);
    if (ran) {
      EXPECT_EQ(*ran, expected) << text;
      return std::nullopt;
    }
    const auto number = static_cast<int>(ran.errors()[0].code);
    EXPECT_TRUE(number >= 861 && number <= 888) << render(ran.errors(), {}) << text;
    EXPECT_FALSE(ran.errors()[0].message.empty());
    return ran.errors()[0].code;
  }
};

inline PlannedText mixed(uint64_t n = 300) {
  PlannedText t(mixed_graph);
  std::vector<uint32_t> x(n);
  std::iota(x.begin(), x.end(), 5);
  t.set("by", std::vector<uint32_t>{3}).set("x", x);
  return t;
}

}  // namespace vyre::plan
