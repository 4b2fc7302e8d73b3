#pragma once

// Runs a kernel whole and split, under several schedules, and compares.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "plan/split/check_split.h"
#include "plan/split/run_split.h"
#include "plan/split/split_grid.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre::plan {

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> from_bytes(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

using U = std::vector<uint32_t>;

inline U counting(uint32_t n, uint32_t first = 0) {
  U list(n);
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// A text with a word replaced.
inline std::string with(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

/// The only kernel of a text, checked.
inline Program kernel(const std::string& text) {
  ParseOutcome parsed = parse(text);
  if (!parsed.module || has_errors(parsed.diagnostics)) {
    ADD_FAILURE() << render(parsed.diagnostics, parsed.sources);
    return {};
  }
  Program p = std::move(parsed.module->kernels.at(0));
  const Diagnostics found = check(p);
  EXPECT_FALSE(has_errors(found)) << render(found, parsed.sources);
  return p;
}

inline SplitPlan split(const Program& p) {
  Result<SplitPlan> plan = split_at_grid_barriers(p);
  if (!plan) {
    ADD_FAILURE() << render(plan.errors(), {});
    return {};
  }
  const Result<> checked = check_split(p, *plan);
  EXPECT_TRUE(checked) << render(checked.errors(), {}) << print(*plan);
  return std::move(*plan);
}

struct Inputs {
  const Program& p;
  LaunchInputs inputs;

  explicit Inputs(const Program& program) : p(program) {
    inputs.data.resize(p.buffers.size());
    inputs.lengths.resize(p.buffers.size());
  }
  size_t find(std::string_view name) const {
    for (size_t i = 0; i < p.buffers.size(); ++i)
      if (p.buffers[i].name == name) return i;
    ADD_FAILURE() << "no buffer " << name;
    return 0;
  }
  template <class T>
  Inputs& set(std::string_view name, const std::vector<T>& values) {
    inputs.data[find(name)] = to_bytes(values);
    return *this;
  }
  Inputs& grid(uint64_t x, uint64_t y = 1, uint64_t z = 1) {
    inputs.grid = {x, y, z};
    return *this;
  }
};

inline std::vector<interp::Options> three_schedules() {
  std::vector<interp::Options> list(3);
  list[1].schedule = interp::Schedule::Reverse;
  list[2].schedule = interp::Schedule::Random;
  list[2].seed = 7;
  return list;
}

/// Whole and split give the same: bytes, or the same failure but for the segment in its message.
/// Gives the outcome of the split run in order.
inline std::optional<interp::Outcome> same_split(const Program& p, const SplitPlan& plan,
                                                 const LaunchInputs& inputs) {
  std::optional<interp::Outcome> first;
  for (const interp::Options& options : three_schedules()) {
    const Result<interp::Outcome> whole = interp::run(p, inputs, options);
    Result<interp::Outcome> parts = run_split(p, plan, inputs, options);
    EXPECT_EQ(bool(whole), bool(parts)) << render(whole ? parts.errors() : whole.errors(), {});
    if (bool(whole) != bool(parts)) return std::nullopt;
    if (whole) {
      EXPECT_EQ(whole->buffers, parts->buffers);
      if (!first) first = std::move(*parts);
      continue;
    }
    std::string message = parts.errors()[0].message;
    if (message.starts_with("segment ")) message = message.substr(message.find(": ") + 2);
    EXPECT_EQ(whole.errors()[0].message, message);
    EXPECT_EQ(whole.errors()[0].code, parts.errors()[0].code);
    EXPECT_EQ(whole.errors()[0].place.line, parts.errors()[0].place.line);
  }
  return first;
}

template <class T>
std::vector<T> output(const Program& p, const std::optional<interp::Outcome>& outcome,
                      std::string_view name) {
  if (!outcome) return {};
  return from_bytes<T>(outcome->buffers[Inputs(p).find(name)]);
}

inline size_t count(const SplitPlan& plan, Step::Kind kind) {
  size_t n = 0;
  for (const Step& step : plan.steps) n += step.kind == kind;
  return n;
}

}  // namespace vyre::plan
