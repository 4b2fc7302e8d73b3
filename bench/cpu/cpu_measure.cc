#include "cpu_measure.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

namespace bench {
namespace {

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(bool verbose) : verbose_(verbose) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const std::string name = run.benchmark_name();
      const std::string peer = name.substr(name.find('/') + 1);
      const std::string key = peer.substr(0, peer.find('/'));
      times[key].push_back(run.GetAdjustedRealTime());
      cpu[key].push_back(run.GetAdjustedCPUTime());
      if (const auto found = run.counters.find("device_us"); found != run.counters.end())
        device[key].push_back(found->second.value);
      if (verbose_)
        fmt::print(stderr, "{} {:.1f} us x {}\n", name, run.GetAdjustedRealTime(), run.iterations);
    }
  }
  std::map<std::string, std::vector<double>> times, device, cpu;

 private:
  bool verbose_;
};

void run_one(benchmark::State& state, Peer& peer) {
  // Thread pools spin for a while after their last work; the next peer shall not pay for it.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  peer.launch();
  double device_ns = 0;
  for (auto _ : state) {
    peer.launch();
    device_ns += double(peer.device_ns());
  }
  if (device_ns > 0) state.counters["device_us"] = device_ns / 1e3 / double(state.iterations());
}

/// Element `i` as a number, by the size and kind of the parameter's elements.
double number(const std::byte* data, size_t i, size_t size, bool is_float) {
  if (is_float) {
    float v;
    std::memcpy(&v, data + i * 4, 4);
    return v;
  }
  uint64_t v = 0;
  std::memcpy(&v, data + i * size, size);
  return double(v);
}

}  // namespace

void start_measuring() {
  static std::string args[] = {"bench_cpu", "--benchmark_enable_random_interleaving=true"};
  char* argv[] = {args[0].data(), args[1].data(), nullptr};
  int argc = 2;
  benchmark::Initialize(&argc, argv);
}

std::map<std::string, Timing> measure(const std::string& kernel,
                                      const std::map<std::string, Peer*>& peers,
                                      const MeasureOptions& options) {
  benchmark::ClearRegisteredBenchmarks();
  for (const auto& [name, peer] : peers)
    benchmark::RegisterBenchmark((kernel + "/" + name).c_str(),
                                 [p = peer](benchmark::State& state) { run_one(state, *p); })
        ->UseRealTime()
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMicrosecond)
        ->MinTime(options.seconds)
        ->Repetitions(options.repeats);
  Collector collector(options.verbose);
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, kernel + "/");
  std::map<std::string, Timing> result;
  for (const auto& [name, times] : collector.times)
    result[name] = {median(times), *std::min_element(times.begin(), times.end()),
                    median(collector.device[name]), median(collector.cpu[name]), times};
  return result;
}

Difference compare(const Case& c, size_t parameter, std::span<const std::byte> expected,
                   std::span<const std::byte> got, double tolerance) {
  const Parameter& p = c.parameters[parameter];
  Difference d;
  const size_t size = p.element_size;
  d.elements = expected.size() / size;
  if (expected.size() == got.size() &&
      std::memcmp(expected.data(), got.data(), expected.size()) == 0)
    return d;
  for (size_t i = 0; i < d.elements; ++i) {
    if (std::memcmp(&expected[i * size], &got[i * size], size) == 0) continue;
    const double a = number(expected.data(), i, size, p.is_float),
                 b = number(got.data(), i, size, p.is_float);
    if (std::abs(a - b) <= tolerance * (1 + std::abs(a))) continue;
    if (d.count++ == 0)
      d.first = fmt::format("parameter {}, element {}: {} instead of {}", parameter, i, b, a);
  }
  return d;
}

}  // namespace bench
