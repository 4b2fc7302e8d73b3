#include "tests/examples/examples_util.h"

#include <cmath>

#include "check/check.h"
#include "support/file.h"
#include "text/parse.h"

namespace vyre::examples {
namespace {

void expect_silence(const Diagnostics& list, const Sources& sources) {
  for (const Diagnostic& d : list)
    EXPECT_EQ(d.severity, Severity::Note) << render(Diagnostics{d}, sources);
}

Result<Buffers> try_run(const Module& m, const Inputs& inputs, const interp::Options& options) {
  if (!m.graphs.empty()) {
    interp::GraphInputs in;
    in.data = inputs;
    auto r = interp::run(m, m.graphs[0], in, options);
    if (!r) return r.errors();
    return std::move(r->buffers);
  }
  LaunchInputs in;
  in.data = inputs;
  auto r = interp::run(m.kernels[0], in, options);
  if (!r) return r.errors();
  return std::move(r->buffers);
}

Buffers must_run(const Module& m, const Inputs& inputs, interp::Schedule schedule) {
  const auto r = try_run(m, inputs, {.schedule = schedule, .seed = 7});
  EXPECT_TRUE(r) << render(r.errors(), {});
  return r ? *r : Buffers(inputs.size());
}

}  // namespace

Module load(const std::string& name, const std::map<std::string, std::string>& constants) {
  ParseOptions options;
  options.file_name = std::string(VYRE_SOURCE_DIR) + "/examples/" + name;
  options.resolver = file_resolver();
  options.constants = constants;
  ParseOutcome r = parse(read_file(options.file_name).bytes, options);
  expect_silence(r.diagnostics, r.sources);
  if (!r.module) return {};
  expect_silence(check(*r.module), r.sources);
  return std::move(*r.module);
}

Buffers run_in_order(const Module& m, const Inputs& inputs) {
  return must_run(m, inputs, interp::Schedule::Order);
}

Buffers run(const Module& m, const Inputs& inputs) {
  const Buffers first = run_in_order(m, inputs);
  EXPECT_TRUE(first == must_run(m, inputs, interp::Schedule::Reverse)) << "reverse differs";
  EXPECT_TRUE(first == must_run(m, inputs, interp::Schedule::Random)) << "random differs";
  return first;
}

std::vector<uint32_t> numbers(size_t n, uint32_t seed) {
  std::vector<uint32_t> v(n);
  for (uint32_t& e : v) e = seed = seed * 1664525u + 1013904223u;
  return v;
}

std::vector<float> floats(size_t n, uint32_t seed) {
  std::vector<float> v;
  for (const uint32_t r : numbers(n, seed)) {
    const int exponent = int(r >> 28) - 8;
    v.push_back(std::ldexp(float(int32_t(r << 6)) / 0x1p31f, exponent));
  }
  return v;
}

}  // namespace vyre::examples
