#pragma once

// Runs a graph unfused and fused, and compares the results.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "check/check.h"
#include "interp/interp.h"
#include "plan/fusion/check_fusion.h"
#include "plan/fusion/fuse_graph.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre::plan {

struct GraphText {
  Module module;
  interp::GraphInputs inputs;

  explicit GraphText(const std::string& text) {
    ParseOutcome parsed = parse(text);
    if (!parsed.module || has_errors(parsed.diagnostics)) {
      ADD_FAILURE() << render(parsed.diagnostics, parsed.sources);
      return;
    }
    module = std::move(*parsed.module);
    const Diagnostics found = check(module);
    EXPECT_FALSE(has_errors(found)) << render(found, parsed.sources);
    inputs.data.resize(graph().buffers.size());
    inputs.lengths.resize(graph().buffers.size());
  }
  const Graph& graph() const { return module.graphs.at(0); }
  GraphBufferId find(std::string_view name) const {
    for (const GraphBufferId i : graph().buffers.ids())
      if (graph().buffers[i].name == name) return i;
    ADD_FAILURE() << "no buffer " << name;
    return GraphBufferId(0);
  }
  template <class T>
  GraphText& set(std::string_view name, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    inputs.data[find(name)] = std::move(bytes);
    return *this;
  }
  GraphText& length(std::string_view name, uint64_t n) {
    inputs.lengths[find(name)] = n;
    return *this;
  }
  GraphShape shape() const {
    Result<GraphShape> s = resolve_graph(graph(), inputs.data, inputs.lengths, 0);
    if (!s) {
      ADD_FAILURE() << render(s.errors(), {});
      return {};
    }
    return *s;
  }
  FusionPlan plan(const FusionOptions& options = {}) const {
    return plan_fusion(module, graph(), shape(), options);
  }
};

inline std::string describe(const GraphText& t, const FusionPlan& plan) {
  std::string text;
  const GraphSteps steps = flatten(t.graph());
  for (const FusionGroup& g : plan.groups) {
    for (size_t i = 0; i < g.calls.size(); ++i) {
      if (i) text += " +" + std::string(name(g.joins[i - 1])) + " ";
      text += t.module.kernels[steps[g.calls[i]].node->kernel].name;
    }
    for (const GraphBufferId b : g.elided) text += " -" + t.graph().buffers[b].name;
    text += "\n";
  }
  return text;
}

inline std::string reasons(const FusionPlan& plan) {
  std::string text;
  for (const FusionRefusal& r : plan.refusals) text += r.why + "\n";
  return text;
}

/// "stage 2 (`k`): " and the kernel's name differ between a graph and its fused form.
inline std::string without_stage(const std::string& message) {
  const size_t at = message.find("trapped with code");
  return at == message.npos ? message : message.substr(at);
}

/// The fused graph, which gives the same bytes or the same failure as the graph.
inline FusedGraph same_fused(const GraphText& t, const FusionPlan& plan) {
  Result<FusedGraph> fused = fuse_graph(t.module, t.graph(), t.shape(), plan);
  if (!fused) {
    ADD_FAILURE() << render(fused.errors(), {}) << describe(t, plan);
    return {};
  }
  const Diagnostics found = check(fused->module);
  EXPECT_FALSE(has_errors(found)) << render(found, {}) << print(fused->module);
  interp::GraphInputs inputs;
  for (const GraphBufferId b : fused->buffers) {
    inputs.data.push_back(t.inputs.data[b]);
    inputs.lengths.push_back(t.inputs.lengths[b]);
  }
  for (const auto schedule :
       {interp::Schedule::Order, interp::Schedule::Reverse, interp::Schedule::Random}) {
    interp::Options options;
    options.schedule = schedule;
    const auto whole = interp::run(t.module, t.graph(), t.inputs, options);
    const auto joined = interp::run(fused->module, fused->graph(), inputs, options);
    EXPECT_EQ(bool(whole), bool(joined)) << render(whole ? joined.errors() : whole.errors(), {});
    if (bool(whole) != bool(joined)) return std::move(*fused);
    if (!whole) {
      EXPECT_EQ(whole.errors()[0].code, joined.errors()[0].code);
      EXPECT_EQ(without_stage(whole.errors()[0].message),
                without_stage(joined.errors()[0].message));
      continue;
    }
    for (const GraphBufferId i : fused->buffers.ids())
      EXPECT_EQ(whole->buffers[fused->buffers[i]], joined->buffers[i])
          << "buffer " << fused->graph().buffers[i].name << "\n"
          << print(fused->module);
    if (::testing::Test::HasFailure()) break;
  }
  return std::move(*fused);
}

inline FusedGraph same_fused(const GraphText& t) { return same_fused(t, t.plan()); }

inline size_t calls_of(const FusedGraph& fused) {
  size_t n = 0;
  for_each_call(fused.graph().nodes, [&](const GraphNode&) { ++n; });
  return n;
}

}  // namespace vyre::plan
