// bench_gpu: vyre's GPU backends against nvcc's code on the same card, in the same process. See
// bench/README.md.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "gpu_latency.h"
#include "gpu_measure.h"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::vector<std::string> backends = {"cuda"};
  std::string filter, json;
  bool no_latency = false, no_kernels = false, plain_only = false, no_plain = false, quick = false,
       loops_only = false;
  Options how;
};

std::string ratio_text(double r) { return r > 0 ? fmt::format("{:.3f}", r) : "-"; }

std::string speed(const Row& row, const std::string& peer) {
  const double ns = row.ns(peer);
  if (ns <= 0) return "-";
  if (row.operations > 0) return fmt::format("{:.1f} G{}/s", row.operations / ns, row.operation);
  return fmt::format("{:.0f} GB/s", double(row.bytes) / ns);
}

void print_rows(const std::vector<Row>& rows, const Flags& flags) {
  for (const std::string& backend : flags.backends) {
    fmt::print(
        "\n{} against nvcc: device time, median of {}; ratio = time of the twin / ours, above 1 we "
        "are faster\n",
        backend, flags.how.samples);
    fmt::print(
        "| kernel | {} us | {} | nvcc us | nvcc | / nvcc | goal | / nvcc 16-byte | / nvcc * | / "
        "nvcc "
        "16-byte * |\n|---|---|---|---|---|---|---|---|---|---|\n",
        backend, "speed");
    for (const Row& row : rows) {
      const double r = row.ratio(twin_same, backend);
      const bool has_goal = row.goal > 0 && r > 0 && backend == "cuda";
      fmt::print("| {} | {:.1f} | {} | {:.1f} | {} | {} | {} | {} | {} | {} |\n", row.kernel,
                 row.ns(backend) * 1e-3, speed(row, backend), row.ns(twin_same) * 1e-3,
                 speed(row, twin_same), ratio_text(r),
                 !has_goal       ? ""
                 : r >= row.goal ? fmt::format("{} HOLDS", row.goal)
                                 : fmt::format("{} MISSED", row.goal),
                 ratio_text(row.ratio(twin_wide, backend)),
                 ratio_text(row.ratio(twin_own, backend)),
                 ratio_text(row.ratio(twin_wide_own, backend)));
    }
  }
  if (flags.backends.size() > 1) {
    fmt::print("\nspeed of the other backends by {}\n| kernel |", flags.backends[0]);
    for (size_t i = 1; i < flags.backends.size(); ++i) fmt::print(" {} |", flags.backends[i]);
    fmt::print("\n|---|");
    for (size_t i = 1; i < flags.backends.size(); ++i) fmt::print("---|");
    fmt::print("\n");
    for (const Row& row : rows) {
      fmt::print("| {} |", row.kernel);
      for (size_t i = 1; i < flags.backends.size(); ++i)
        fmt::print(" {} |", ratio_text(row.ratio(flags.backends[0], flags.backends[i])));
      fmt::print("\n");
    }
  }
}

void print_latencies(const std::vector<Latency>& all) {
  fmt::print("\n| what | backend | measured | goal | |\n|---|---|---|---|---|\n");
  for (const Latency& l : all) {
    const std::string value =
        l.failure.empty() ? fmt::format("{:.3g} {}", l.value, l.unit) : "FAILED: " + l.failure;
    const std::string goal = l.goal > 0
                                 ? fmt::format("{} {} {}: {}", l.at_least ? "at least" : "at most",
                                               l.goal, l.unit, l.holds() ? "HOLDS" : "MISSED")
                                 : "";
    fmt::print("| {} | {} | {} | {} | {} |\n", l.what, l.backend, value, goal, l.note);
  }
}

Json rows_json(const std::vector<Row>& rows) {
  Json all = Json::array();
  for (const Row& row : rows) {
    Json r = {{"kernel", row.kernel},
              {"bytes", row.bytes},
              {"operations", row.operations},
              {"operation", row.operation},
              {"goal", row.goal}};
    for (const auto& [peer, samples] : row.samples)
      r["ns"][peer] = {{"median", median(samples)}, {"samples", samples}};
    r["failures"] = row.failures;
    r["differences"] = row.differences;
    all.push_back(r);
  }
  return all;
}

Json to_json(const std::vector<Row>& rows, const std::vector<Row>& plain,
             const std::vector<Row>& loops, const std::vector<Latency>& latencies,
             const std::map<std::string, vyre::driver::Device>& devices) {
  Json all;
  for (const auto& [name, device] : devices)
    all["devices"][name] = {{"name", device.info().name}, {"driver", device.info().driver_version}};
  all["kernels"] = rows_json(rows);
  all["plain_kernels"] = rows_json(plain);
  all["loops"] = rows_json(loops);
  all["latencies"] = Json::array();
  for (const Latency& l : latencies)
    all["latencies"].push_back({{"what", l.what},
                                {"backend", l.backend},
                                {"value", l.value},
                                {"unit", l.unit},
                                {"goal", l.goal},
                                {"note", l.note},
                                {"failure", l.failure}});
  return all;
}

ProgramSize size_of_data(const Flags& flags) {
  if (flags.how.small) return ProgramSize::Tiny;
  return flags.quick ? ProgramSize::Full : ProgramSize::Large;
}

/// Cases that the flags select, made one at a time: each may hold a gigabyte.
std::vector<std::function<Case()>> select_cases(const Flags& flags) {
  std::vector<std::function<Case()>> cases;
  const auto selected = [&](const std::string& name) {
    return !flags.no_kernels && !flags.loops_only && name.find(flags.filter) != name.npos;
  };
  for (const std::string& name : case_names())
    if (!flags.plain_only && selected(name))
      cases.emplace_back([=, small = flags.how.small] { return make_case(name, small); });
  const ProgramSize size = size_of_data(flags);
  for (const ProgramEntry& entry : program_entries(false))
    if (!flags.no_plain && selected(entry.name))
      cases.emplace_back([=] { return plain_case(entry, size); });
  return cases;
}

void print_progress(const Row& row) {
  fmt::print("{}:", row.kernel);
  for (const auto& [peer, samples] : row.samples)
    fmt::print(" {} {:.1f} us", peer, median(samples) * 1e-3);
  fmt::print("\n");
  for (const std::string& d : row.differences) fmt::print("DIFFERS {}\n", d);
  for (const auto& [peer, what] : row.failures)
    fmt::print("FAILED {} on {}: {}\n", row.kernel, peer, what);
  std::fflush(stdout);
}

int run(Flags& flags) {
  std::map<std::string, vyre::driver::Device> devices;
  std::vector<std::string> here;
  bool failed = false;
  for (const std::string& name : flags.backends) {
    vyre::Result<vyre::driver::Device> device = vyre::driver::Device::open(name);
    if (!device) {
      fmt::print("{} is not here: {}", name, render(device.errors(), {}));
      failed = true;
      continue;
    }
    fmt::print("{}: {}, driver {}\n", name, device->info().name, device->info().driver_version);
    devices.emplace(name, std::move(*device));
    here.push_back(name);
  }
  if (here.empty()) return 3;
  flags.backends = here;
  std::string missing;
  std::shared_ptr<Cuda> cuda;
  try {
    cuda = Cuda::open(missing);
  } catch (const Failure& f) {
    missing = f.what;
  }
  if (!missing.empty()) fmt::print("no CUDA twins: {}\n", missing);
  std::fflush(stdout);

  std::vector<Row> rows, plain, loops;
  const auto measure_case = [&](const std::function<Case()>& make, bool is_loop) {
    const Case c = make();
    Row row = measure(c, devices, cuda, flags.how);
    print_progress(row);
    failed |= !row.differences.empty() || !row.failures.empty();
    (is_loop ? loops : c.plain ? plain : rows).push_back(std::move(row));
  };
  for (const auto& make : select_cases(flags)) measure_case(make, false);
  if (flags.loops_only || (flags.filter.empty() && !flags.no_kernels && !flags.no_plain))
    for (const auto& make : loop_cases(size_of_data(flags))) measure_case(make, true);
  std::vector<Latency> latencies;
  if (!flags.no_latency && !flags.plain_only && !flags.loops_only && flags.filter.empty())
    for (const std::string& name : flags.backends)
      for (Latency& l : measure_latency(name, devices.at(name), cuda, flags.how)) {
        failed |= !l.failure.empty();
        latencies.push_back(std::move(l));
      }
  if (!rows.empty()) print_rows(rows, flags);
  if (!plain.empty()) print_plain_table(plain, flags.backends, flags.how.samples);
  if (!loops.empty()) print_loop_table(loops, flags.backends, flags.how.samples);
  if (!latencies.empty()) print_latencies(latencies);
  if (!flags.json.empty()) {
    std::ofstream file(flags.json);
    file << to_json(rows, plain, loops, latencies, devices).dump(1) << '\n';
  }
  std::fflush(stdout);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  // The driver keeps what it compiled on disk; we want to see it compile.
  ::setenv("CUDA_CACHE_DISABLE", "1", 1);
  bench::Flags flags;
  CLI::App app{"vyre's GPU backends against nvcc; results are compared before they are timed"};
  app.add_option("--backends", flags.backends, "Backends, with commas between them")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--filter", flags.filter,
                 "Only kernels with this in their name, and nothing but kernels");
  app.add_option("--samples", flags.how.samples, "Samples of each peer; the median counts")
      ->capture_default_str();
  app.add_option("--json", flags.json, "Also write everything as JSON to this file");
  app.add_flag("--small", flags.how.small,
               "Small data, for the interpreter; the times mean nothing");
  app.add_flag("--quick", flags.quick, "Use smaller data for the kernels of bench/programs.txt");
  app.add_flag("--plain", flags.plain_only, "Measure only the kernels of bench/programs.txt");
  app.add_flag("--loops", flags.loops_only, "Measure only what stop polls cost in loops");
  app.add_flag("--no-plain", flags.no_plain, "Leave out the kernels of bench/programs.txt");
  app.add_flag("--no-latency", flags.no_latency, "Only the kernels");
  app.add_flag("--no-kernels", flags.no_kernels, "Only the latencies");
  CLI11_PARSE(app, argc, argv);
  return bench::run(flags);
}
