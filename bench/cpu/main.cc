// bench_cpu: vyre on this machine's cores against g++, g++ with OpenMP, and PoCL. See
// bench/README.md.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>

#include "cpu_machine.h"
#include "cpu_report.h"
#include "passes.h"
#include "plain.h"

namespace bench {
namespace {

using vyre::driver::Device;

struct Options {
  std::string backend = "cpu", filter, json;
  bool quick = false, small = false, compile_only = false, no_compile = false, verbose = false,
       check_only = false, cpu_time = false, passes = false, plain_only = false, no_plain = false;
  int repeats = 0;
  uint32_t subgroup_size = 0;
};

struct Devices {
  std::optional<Device> vyre;
  bool has_threads = false;  // and can be told how many
  std::shared_ptr<OpenCl> pocl;
};

Device open(const std::string& backend) {
  vyre::Result<Device> device = Device::open(backend);
  if (!device) fail(render(device.errors(), {}));
  return std::move(*device);
}

/// All peers of a case, their results compared with those of the g++ twin.
std::map<std::string, std::unique_ptr<Peer>> make_peers(const Case& c, const Devices& devices,
                                                        const Options& options) {
  std::map<std::string, std::unique_ptr<Peer>> peers;
  const auto memory = twin_memory(c);
  peers[gcc_one] = twin_peer(c, memory, c.twins.gcc);
  peers[gcc_openmp] = twin_peer(c, memory, c.twins.openmp);
  peers[gcc_own] = twin_peer(c, memory, c.twins.gcc_default);
  peers[openmp_own] = twin_peer(c, memory, c.twins.openmp_default);
  peers[vyre_all] = vyre_peer(c, *devices.vyre, 0, options.subgroup_size);
  if (devices.has_threads) peers[vyre_one] = vyre_peer(c, *devices.vyre, 1, options.subgroup_size);
  if (devices.pocl) {
    peers[pocl] = pocl_peer(c, devices.pocl, true);
    peers[pocl_own] = pocl_peer(c, devices.pocl, false);
  }

  const auto results = [&](Peer& peer) {
    peer.reset();
    peer.launch();
    std::vector<std::vector<std::byte>> all(c.parameters.size());
    for (size_t i = 0; i < c.parameters.size(); ++i)
      if (c.parameters[i].kind == Parameter::Kind::InOut ||
          c.parameters[i].kind == Parameter::Kind::Out)
        all[i] = peer.read(c.parameters[i].buffer);
    return all;
  };
  const auto expected = results(*peers[gcc_one]);
  for (const auto& [name, peer] : peers) {
    // With their own defaults peers contract and divide as they like: nearly all results are near.
    const bool loose = name.ends_with("_default");
    const auto got = results(*peer);
    for (size_t i = 0; i < got.size(); ++i) {
      const Difference d = compare(c, i, expected[i], got[i], loose ? 1e-2 : c.tolerance);
      if (d.count > (loose ? d.elements / 50 : 0))
        fail(fmt::format("{}: {} differs from g++ in {} of {} elements, first {}", c.name, name,
                         d.count, d.elements, d.first));
    }
  }
  return peers;
}

MeasureOptions measure_options(const Options& options) {
  MeasureOptions how;
  how.repeats = options.repeats ? options.repeats : options.quick ? 3 : 9;
  how.seconds = options.quick ? 0.01 : 0.05;
  how.verbose = options.verbose;
  return how;
}

Row run_case(const Case& c, const Devices& devices, const Options& options) {
  const auto peers = make_peers(c, devices, options);
  Row row{.kernel = c.name, .bound = c.bound, .bytes = c.bytes, .by_cpu_time = options.cpu_time};
  if (options.check_only) {
    fmt::print("{}: {} peers agree\n", c.name, peers.size());
    return row;
  }
  std::map<std::string, Peer*> all;
  for (const auto& [name, peer] : peers) all[name] = peer.get();
  row.times = measure(c.name, all, measure_options(options));
  return row;
}

/// The kernels of bench/programs.txt.
std::vector<Row> run_plain(const Device& device, const Options& options) {
  const ProgramSize size = options.small   ? ProgramSize::Tiny
                           : options.quick ? ProgramSize::Quick
                                           : ProgramSize::Full;
  std::vector<Row> rows;
  for (const ProgramEntry& entry : program_entries(false)) {
    if (entry.name.find(options.filter) == std::string::npos) continue;
    fmt::print(stderr, "{} …\n", entry.name);
    const BenchProgram program = load_program(entry, size);
    const Case c = plain_case(program);
    const PlainPeers peers = plain_peers(c, device, options.subgroup_size);
    rows.push_back({.kernel = c.name, .bytes = c.bytes, .by_cpu_time = options.cpu_time});
    if (options.check_only)
      fmt::print("{}: vyre and OpenMP agree\n", c.name);
    else
      rows.back().times = measure(c.name,
                                  {{vyre_all, peers.vyre.get()},
                                   {gcc_openmp, peers.openmp.get()},
                                   {vyre_without_polls, peers.without_polls.get()}},
                                  measure_options(options));
  }
  return rows;
}

int run_passes(const Options& options) {
  const Device device = open(options.backend);
  auto about = machine();
  about.emplace_back("vyre", device.info().name);
  print_head(about);
  start_measuring();
  std::vector<PassStudy> rows;
  for (const std::string& name : case_names()) {
    if (!options.filter.empty() && name.find(options.filter) == name.npos) continue;
    fmt::print(stderr, "{} …\n", name);
    rows.push_back(study_passes(make_case(name, options.small), device, measure_options(options)));
  }
  if (rows.empty()) fail(fmt::format("no kernel has `{}` in its name", options.filter));
  print_passes(rows, options.cpu_time);
  return 0;
}

int run(const Options& options) {
  if (options.passes) return run_passes(options);
  auto about = machine();
  std::vector<Row> rows, plain;
  Devices devices;
  if (!options.compile_only) {
    devices.vyre = open(options.backend);
    devices.has_threads = options.backend == "cpu";
    about.emplace_back("vyre", devices.vyre->info().name);
    std::string missing;
    devices.pocl = open_pocl(missing);
    about.emplace_back("PoCL", devices.pocl ? describe(*devices.pocl) : "missing: " + missing);
  }
  print_head(about);
  if (!options.compile_only) {
    start_measuring();
    for (const std::string& name : case_names()) {
      if (options.plain_only || name.find(options.filter) == name.npos) continue;
      fmt::print(stderr, "{} …\n", name);
      rows.push_back(run_case(make_case(name, options.small), devices, options));
    }
    if (!options.no_plain) plain = run_plain(*devices.vyre, options);
    if (rows.empty() && plain.empty())
      fail(fmt::format("no kernel has `{}` in its name", options.filter));
    if (options.check_only) return 0;
    if (!rows.empty()) print_table(rows);
    if (!plain.empty()) print_plain_table(plain);
  }
  std::vector<Latency> latencies;
  if (!options.no_compile && !options.plain_only && options.filter.empty()) {
    latencies = measure_latency(options.backend, options.quick);
    print_latencies(latencies);
  }
  const std::vector<Goal> all = goals(rows, latencies, options.cpu_time);
  if (!options.small && !all.empty()) print_goals(all);
  if (const double load = load_average(); load > 0) fmt::print("load at the end: {:.2f}\n", load);
  if (!options.json.empty()) {
    const std::string text = to_json(about, rows, plain, latencies, all).dump(2) + "\n";
    if (options.json == "-") {
      fmt::print("{}", text);
    } else if (std::FILE* file = std::fopen(options.json.c_str(), "w")) {
      std::fputs(text.c_str(), file);
      std::fclose(file);
    } else {
      fail("cannot write " + options.json);
    }
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app{
      "vyre on the CPU against g++ -O3, g++ with OpenMP, and PoCL; results are compared before "
      "they are timed"};
  app.add_option("--filter", options.filter,
                 "Only kernels with this in their name, and no latencies");
  app.add_option("--json", options.json,
                 "Also write everything as JSON to this file; - is standard output");
  app.add_option("--backend", options.backend, "The vyre backend")->capture_default_str();
  app.add_option("--repeats", options.repeats,
                 "Repeats of each peer; the median counts (9, with --quick 3)");
  app.add_option("--subgroup-size", options.subgroup_size,
                 "Instead of the one that the backend chooses");
  app.add_flag("--quick", options.quick, "Fewer and shorter repeats");
  app.add_flag(
      "--cpu-time", options.cpu_time,
      "Ratios of CPU time instead of elapsed time, for a machine that is busy with other things");
  app.add_flag("--small", options.small, "Small data, for the interpreter; the times mean nothing");
  app.add_flag("--check", options.check_only, "Compare results and stop");
  app.add_flag("--compile", options.compile_only,
               "Only the latencies: compiling, disk cache, empty launch");
  app.add_flag("--no-compile", options.no_compile, "No latencies");
  app.add_flag("--plain", options.plain_only, "Measure only the kernels of bench/programs.txt");
  app.add_flag("--no-plain", options.no_plain, "Leave out the kernels of bench/programs.txt");
  app.add_flag("--passes", options.passes,
               "Instead: what each pass gains by leaving it out, and what bounds checks cost");
  app.add_flag("--verbose", options.verbose, "Print every repeat");
  CLI11_PARSE(app, argc, argv);
  // Threads of OpenMP that spin while they wait would count as work. libgomp reads this before
  // main().
  if (options.cpu_time && !std::getenv("OMP_WAIT_POLICY")) {
    ::setenv("OMP_WAIT_POLICY", "passive", 1);
    ::execv("/proc/self/exe", argv);
  }
  return bench::run(options);
}
