#pragma once

// Runs a producer and a consumer separately and fused, under several schedules, and compares the
// results.

#include <map>

#include "plan/fusion/fuse_handoff.h"
#include "tests/plan/split/split_util.h"

namespace vyre::plan {

/// Two kernels of a text that hand over a buffer of the same name.
struct HandoffPair {
  Program producer, consumer;
  uint32_t out = 0, in = 0;

  explicit HandoffPair(const std::string& text, std::string_view buffer = "t") {
    ParseOutcome parsed = parse(text);
    if (!parsed.module || has_errors(parsed.diagnostics) || parsed.module->kernels.size() < 2) {
      ADD_FAILURE() << render(parsed.diagnostics, parsed.sources);
      return;
    }
    take(parsed.module->kernels[0], parsed.module->kernels[1], buffer, buffer);
  }
  HandoffPair(const Program& first, const Program& second, std::string_view written,
              std::string_view read) {
    take(first, second, written, read);
  }

  JoinOutcome fuse(uint64_t budget = default_handoff_budget) const {
    JoinOutcome o = fuse_handoff(producer, out, consumer, in, budget);
    EXPECT_EQ(o.joined.has_value(), o.why_not.empty()) << o.why_not;
    if (!o.joined) return o;
    const Diagnostics found = check(o.joined->program);
    EXPECT_FALSE(has_errors(found)) << render(found, {}) << print(o.joined->program);
    return o;
  }
  std::string why_not(uint64_t budget = default_handoff_budget) const {
    return fuse(budget).why_not;
  }
  HandoffWindow window() const {
    std::string why;
    const auto w = find_handoff_window(producer, out, consumer, in, default_handoff_budget, why);
    EXPECT_TRUE(w) << why;
    return w.value_or(HandoffWindow{});
  }

 private:
  void take(const Program& first, const Program& second, std::string_view written,
            std::string_view read) {
    for (const Program* p : {&first, &second}) {
      const Diagnostics found = check(*p);
      EXPECT_FALSE(has_errors(found)) << render(found, {});
    }
    producer = first;
    consumer = second;
    out = uint32_t(Inputs(producer).find(written));
    in = uint32_t(Inputs(consumer).find(read));
  }
};

/// Bytes by name for both kernels; `lengths` and `grids` by kernel.
struct HandoffRun {
  std::map<std::string, std::vector<std::byte>> data;
  std::map<std::string, uint64_t> lengths;
  std::optional<uint64_t> producer_grid, consumer_grid;

  template <class T>
  HandoffRun& set(const std::string& name, const std::vector<T>& values) {
    data[name] = to_bytes(values);
    return *this;
  }

  LaunchInputs inputs(const Program& p, std::optional<uint64_t> grid) const {
    LaunchInputs in;
    in.data.resize(p.buffers.size());
    in.lengths.resize(p.buffers.size());
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      if (const auto d = data.find(p.buffers[i].name); d != data.end()) in.data[i] = d->second;
      if (const auto l = lengths.find(p.buffers[i].name); l != lengths.end())
        in.lengths[i] = l->second;
    }
    if (grid) in.grid = {*grid, 1, 1};
    return in;
  }

  /// Both ways; gives the consumer's buffers.
  std::vector<std::vector<std::byte>> expect_same(const HandoffPair& pair,
                                                  const JoinedProgram& joined) const {
    std::vector<std::vector<std::byte>> first;
    for (const interp::Options& options : three_schedules()) {
      const auto made = interp::run(pair.producer, inputs(pair.producer, producer_grid), options);
      if (!made) return ADD_FAILURE() << render(made.errors(), {}), first;
      LaunchInputs second = inputs(pair.consumer, consumer_grid);
      second.data[pair.in] = made->buffers[pair.out];
      const auto apart = interp::run(pair.consumer, second, options);
      if (!apart) return ADD_FAILURE() << render(apart.errors(), {}), first;

      const Program& p = joined.program;
      LaunchInputs bound;
      bound.data.resize(p.buffers.size());
      bound.lengths.resize(p.buffers.size());
      bound.grid = second.grid;
      std::vector<uint32_t> of_consumer(p.buffers.size(), none);
      size_t next = 0;
      for (uint32_t i = 0; i < p.buffers.size(); ++i) {
        if (!is_parameter(p.buffers[i].role) || p.buffers[i].role == Role::Scratch) continue;
        const JoinedParameter& from = joined.parameters.at(next++);
        switch (from.kind) {
          case JoinedParameter::Kind::Count:
            EXPECT_EQ(from.kernel, 0u);
            bound.data[i] = to_bytes(std::vector<uint64_t>{made->shape.counts[from.index]});
            break;
          case JoinedParameter::Kind::NumWorkgroups:
            EXPECT_EQ(from.kernel, 0u);
            bound.data[i] =
                to_bytes(std::vector<uint32_t>{uint32_t(made->shape.num_workgroups[from.index])});
            break;
          default:
            if (from.kernel == 1) of_consumer[i] = from.index;
            bound.data[i] = from.kernel == 0 ? inputs(pair.producer, {}).data[from.index]
                                             : second.data[from.index];
            if (from.kernel == 1) bound.lengths[i] = second.lengths[from.index];
        }
      }
      EXPECT_EQ(next, joined.parameters.size());
      const auto together = interp::run(p, bound, options);
      if (!together) return ADD_FAILURE() << render(together.errors(), {}) << print(p), first;
      EXPECT_EQ(together->shape.num_workgroups, apart->shape.num_workgroups);
      for (uint32_t i = 0; i < p.buffers.size(); ++i)
        if (of_consumer[i] != none && is_host_output(p.buffers[i].role)) {
          EXPECT_EQ(together->buffers[i], apart->buffers[of_consumer[i]])
              << p.buffers[i].name << "\n"
              << print(p);
        }
      first = apart->buffers;
    }
    return first;
  }
};

}  // namespace vyre::plan
