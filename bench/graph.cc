// The effect of plans: the same graphs with and without a plan in the same run, interleaved.
//
// The graphs of bench/programs.txt as one table; a chain of elementwise kernels against one of
// them; hex decode -> newlines and base64 decode -> DFA scan; the time of a plan for 1,000 stages;
// replaying 64 tiny stages.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "bench/common/plan_table.h"
#include "ir/graph_launch.h"
#include "plan/graph_plan.h"
#include "runtime/device.h"
#include "runtime/registry.h"
#include "support/file.h"
#include "text/parse.h"

namespace {

using namespace vyre;
using namespace vyre::driver;
using driver::Buffer;
using Clock = std::chrono::steady_clock;

bool met = true;

void must(bool good, const char* what) {
  if (good) return;
  fmt::print(stderr, "bench_graph: {} failed\n", what);
  std::exit(1);
}

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source);
  if (!r.module) fmt::print(stderr, "{}", render(r.diagnostics, r.sources));
  must(r.module.has_value(), "parsing");
  return std::move(*r.module);
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

/// A graph on a device with all its buffers there: lengths of the parameters by elements.
class Ready {
 public:
  Ready(Device& d, const Module& m, const std::vector<uint64_t>& lengths, bool planned)
      : device_(d), graph_(m.graphs[0]) {
    std::vector<std::optional<uint64_t>> counts(graph_.buffers.size()),
        scalars(graph_.buffers.size());
    for (size_t i = 0; i < lengths.size(); ++i) counts[i] = lengths[i];
    const auto shape = resolve_graph(graph_, counts, scalars);
    must(bool(shape), "resolving");
    GraphOptions how;
    how.fuse = how.reuse = planned;
    auto made = d.prepare(m, graph_, *shape, how);
    if (!made) fmt::print(stderr, "{}", render(made.errors(), {}));
    must(bool(made), "preparing");
    ready_ = *made;
    for (size_t i = 0; i < graph_.buffers.size() && graph_.buffers[i].parameter; ++i) {
      const Buffer b = *d.allocate(shape->bytes(graph_, i));
      if (is_host_input(graph_.buffers[i].role)) {
        std::vector<std::byte> data(b.bytes);
        uint32_t state = 1;
        for (std::byte& x : data) {  // printable, with line breaks now and then
          state = state * 1664525 + 1013904223;
          x = std::byte("0123456789abcdefABCDEF+/zyxwvut\n"[state >> 27]);
        }
        must(bool(d.submit({Upload{b, data}})->wait()), "uploading");
      }
      arguments_.emplace_back(b);
    }
  }
  ~Ready() {
    device_.finish();
    for (const Argument& a : arguments_) (void)bool(device_.free(std::get<Buffer>(a)));
  }
  /// Microseconds, from submitting to the end.
  double run() {
    const auto begin = Clock::now();
    must(bool(device_.submit({LaunchGraph{ready_, arguments_}})->wait()), "running");
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }
  std::vector<std::byte> output() {
    std::vector<std::byte> all;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!is_host_output(graph_.buffers[i].role)) continue;
      std::vector<std::byte> one(std::get<Buffer>(arguments_[i]).bytes);
      must(bool(device_.submit({Readback{std::get<Buffer>(arguments_[i]), one}})->wait()),
           "reading");
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  const plan::GraphPlan& plan() const { return ready_.planned().plan; }
  uint64_t memory() const { return ready_.memory_bytes(); }

 private:
  Device& device_;
  const Graph& graph_;
  GraphExecutable ready_;
  std::vector<Argument> arguments_;
};

struct Pair {
  double first = 0, second = 0;
};

/// Medians of interleaved runs.
Pair compare(Ready& a, Ready& b, int rounds) {
  std::vector<double> x, y;
  for (int i = 0; i < rounds + 2; ++i) {
    const double one = a.run(), other = b.run();
    if (i < 2) continue;
    x.push_back(one);
    y.push_back(other);
  }
  return {median(x), median(y)};
}

void verdict(bool good) {
  fmt::print("{}\n", good ? "met" : "MISSED");
  met &= good;
}

std::string chain(int kernels) {
  std::string s =
      "kernel step(x: in f32[], y: out f32[len(x)]) workgroup(256) grid(len(x)) {\n"
      "  y[global_id.x] = fma(x[global_id.x], 0.5, 1.0)\n}\n"
      "graph chain(x: in f32[], y: out f32[len(x)]) {\n";
  for (int i = 1; i < kernels; ++i) s += fmt::format("  buffer t{}: f32[len(x)]\n", i);
  for (int i = 1; i <= kernels; ++i)
    s += fmt::format("  call step({}, {})\n", i == 1 ? "x" : fmt::format("t{}", i - 1),
                     i == kernels ? "y" : fmt::format("t{}", i));
  return s + "}\n";
}

void elementwise(Device& d, int rounds) {
  const Module eight = parsed(chain(8)), one = parsed(chain(1));
  const uint64_t n = uint64_t{1} << 24;
  Ready fused(d, eight, {n}, true), single(d, one, {n}, true), plain(d, eight, {n}, false);
  const Pair t = compare(fused, single, rounds), u = compare(fused, plain, std::max(3, rounds / 3));
  must(fused.output() == plain.output(), "comparing the chain");
  fmt::print(
      "8 elementwise kernels over 2^24 f32: {} launch(es), {:.2f} ms; one kernel {:.2f} ms: {:.3f} "
      "(goal 1.15) ",
      fused.plan().fusion.groups.size(), t.first / 1e3, t.second / 1e3, t.first / t.second);
  verdict(t.first <= 1.15 * t.second);
  fmt::print("  without a plan {:.2f} ms: {:.2f} times as fast; memory {} MiB against {} MiB\n",
             u.second / 1e3, u.second / u.first, fused.memory() >> 20, plain.memory() >> 20);
}

void showcase(Device& d, const std::string& file, const std::vector<uint64_t>& lengths, double goal,
              int rounds) {
  const FileContents text = read_file(std::string(VYRE_SOURCE_DIR) + "/examples/" + file);
  must(bool(text), "reading an example");
  const Module m = parsed(text.bytes);
  Ready fused(d, m, lengths, true), plain(d, m, lengths, false);
  const Pair t = compare(fused, plain, rounds);
  must(fused.output() == plain.output(), "comparing an example");
  fmt::print(
      "{}, {} elements: {} launch(es), {:.2f} ms; without a plan {:.2f} ms: {:.2f} times as fast",
      file, lengths.back(), fused.plan().fusion.groups.size(), t.first / 1e3, t.second / 1e3,
      t.second / t.first);
  if (goal == 0) {
    fmt::print("\n");
    return;
  }
  fmt::print(" (goal {}) ", goal);
  verdict(t.second >= goal * t.first);
}

/// 1,000 stages that cannot all be fused: every fourth reads its neighbours far away.
std::string thousand() {
  std::string s =
      "kernel step(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {\n"
      "  y[global_id.x] = x[global_id.x] + 1.0\n}\n"
      "kernel far(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {\n"
      "  y[global_id.x] = x[(global_id.x * 7919) % len(x)]\n}\n"
      "graph long(x: in f32[], y: out f32[len(x)]) {\n";
  for (int i = 1; i < 1000; ++i) s += fmt::format("  buffer t{}: f32[len(x)]\n", i);
  for (int i = 1; i <= 1000; ++i)
    s += fmt::format("  call {}({}, {})\n", i % 4 ? "step" : "far",
                     i == 1 ? "x" : fmt::format("t{}", i - 1),
                     i == 1000 ? "y" : fmt::format("t{}", i));
  return s + "}\n";
}

void planning() {
  const Module m = parsed(thousand());
  const Graph& g = m.graphs[0];
  std::vector<std::optional<uint64_t>> counts(g.buffers.size()), scalars(g.buffers.size());
  counts[0] = 4096;
  const auto shape = resolve_graph(g, counts, scalars);
  must(bool(shape), "resolving");
  std::vector<double> plan, fuse, all;
  for (int i = 0; i < 7; ++i) {
    const auto a = Clock::now();
    const plan::FusionPlan f = plan::plan_fusion(m, g, *shape);
    const auto b = Clock::now();
    must(bool(plan::plan_graph(m, g, *shape)), "planning");
    const auto c = Clock::now();
    fuse.push_back(std::chrono::duration<double, std::milli>(b - a).count());
    all.push_back(std::chrono::duration<double, std::milli>(c - b).count());
    const plan::ReuseInput arms = plan::reuse_input(m, g, *shape);
    const auto e = Clock::now();
    (void)plan::plan_reuse(arms);
    plan.push_back(std::chrono::duration<double, std::milli>(Clock::now() - e).count());
  }
  fmt::print("a plan for 1,000 stages: fusion {:.1f} ms + memory {:.1f} ms (goal 50) ",
             median(fuse), median(plan));
  verdict(median(fuse) + median(plan) <= 50);
  fmt::print("  with both checkers and the joined programs {:.1f} ms\n", median(all));
}

void replay(Device& d, int rounds) {
  std::string s =
      "kernel far(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
      "  y[global_id.x] = x[(global_id.x * 7) % len(x)]\n}\n"
      "graph tiny(x: in u32[], y: out u32[len(x)]) {\n";
  for (int i = 1; i < 64; ++i) s += fmt::format("  buffer t{}: u32[len(x)]\n", i);
  for (int i = 1; i <= 64; ++i)
    s += fmt::format("  call far({}, {})\n", i == 1 ? "x" : fmt::format("t{}", i - 1),
                     i == 64 ? "y" : fmt::format("t{}", i));
  const Module m = parsed(s + "}\n");
  Ready planned(d, m, {64}, true), plain(d, m, {64}, false);
  const Pair t = compare(planned, plain, rounds * 20);
  fmt::print(
      "replay of 64 tiny stages: {} launches, {:.2f} µs a stage; a launch a call {:.2f} µs (goal "
      "5) ",
      planned.plan().fusion.groups.size(), t.first / 64, t.second / 64);
  verdict(t.second <= 64 * 5);
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "auto";
  int rounds = 15;
  bool quick = false, small = false, large = false, table_only = false, no_table = false;
  bench::PlanTableOptions table;
  CLI::App app{"Graphs with and without a plan; results are compared before they are timed"};
  app.add_option("device", name, "Backend to run on")->capture_default_str();
  app.add_option("rounds", rounds, "Interleaved pairs of runs")->capture_default_str();
  app.add_option("--filter", table.filter,
                 "Measure only graphs of the table with this in their name");
  app.add_flag("--quick", quick, "Use smaller data for the table");
  app.add_flag("--large", large, "Use larger data for the table, as a GPU needs");
  app.add_option("--limit", table.limit, "Largest ratio of planned to unplanned time")
      ->capture_default_str();
  app.add_flag("--small", small, "Use tiny data for the table; the times mean nothing");
  app.add_flag("--table", table_only, "Print only the table");
  app.add_flag("--no-table", no_table, "Leave out the table");
  CLI11_PARSE(app, argc, argv);
  Result<Device> d = Device::open(name);
  if (!d) {
    fmt::print(stderr, "{}", render(d.errors(), {}));
    return 3;
  }
  fmt::print("device: {} ({})\n", d->info().name, d->info().backend);
  rounds = std::max(1, rounds);
  if (!table_only && table.filter.empty()) {
    elementwise(*d, rounds);
    showcase(*d, "hex_newlines.vyre", {uint64_t{1} << 25}, 1.4, rounds);
    showcase(*d, "base64_scan.vyre", {8, uint64_t{1} << 25}, 0, rounds);
    planning();
    replay(*d, rounds);
  }
  if (!no_table) {
    table.pairs = rounds;
    table.size = small   ? bench::ProgramSize::Tiny
                 : quick ? bench::ProgramSize::Quick
                 : large ? bench::ProgramSize::Large
                         : bench::ProgramSize::Full;
    met &= bench::print_plan_table(*d, table);
  }
  return met ? 0 : 1;
}
