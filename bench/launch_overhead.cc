// Overhead of the runtime on every available backend. Usage: bench_launch_overhead [seconds].
//
// Measures an empty launch, a fill and small copies, each with the wait for it, many launches in
// one submission, and a hit in the code cache. The reference in the same run is a switch to another
// thread and back, which a queue with its own thread would cost each time.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "ir/ssa_builder.h"
#include "runtime/cache/cache.h"
#include "runtime/device.h"
#include "runtime/registry.h"
#include "text/parse.h"

namespace {

using namespace vyre;
using namespace vyre::driver;
using driver::Buffer;
using Clock = std::chrono::steady_clock;

double seconds = 0.3;
bool ok = true;

void report(std::string_view where, const char* what, double goal, const auto& work) {
  std::vector<double> times;
  for (const auto stop = Clock::now() + std::chrono::duration<double>(seconds);
       Clock::now() < stop;) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  fmt::print("{:8} {:44} {:9.2f} µs median {:9.2f} µs best", where, what, median, times.front());
  if (goal > 0) fmt::print("  (goal {} µs: {})", goal, median <= goal ? "met" : "MISSED");
  fmt::print("\n");
  ok = ok && (goal == 0 || median <= goal);
}

void must(bool good) {
  if (!good) std::abort();
}

void there_and_back() {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return turn != 0; });
      if (turn < 0) return;
      turn = 0;
      changed.notify_all();
    }
  });
  report("", "a thread woken, and back", 0, [&] {
    std::unique_lock lock(mutex);
    turn = 1;
    changed.notify_all();
    changed.wait(lock, [&] { return turn == 0; });
  });
  {
    const std::lock_guard lock(mutex);
    turn = -1;
  }
  changed.notify_all();
  other.join();
}

void launches(Device& d, const std::string& name) {
  const ParseOutcome parsed = parse(
      "kernel nothing(y: inout u32[]) workgroup(64) grid(1) { }\n"
      "kernel pieces(y: inout u32[]) workgroup(64) grid(len(y)) {\n  y[global_id.x] += 1\n  "
      "barrier "
      "grid\n  y[global_id.x] += 1\n}\n");
  const Executable nothing = *d.compile(parsed.module->kernels[0]);
  const Buffer y = *d.allocate(256);
  std::vector<std::byte> bytes(256);
  const bool is_interp = name == "interp";
  const Launch launch{nothing, {y}, {}, true, {}};
  report(name, "an empty launch and the wait", is_interp ? 15 : 0,
         [&] { must(bool(d.submit({launch})->wait())); });
  report(name, "a fill of 256 bytes and the wait", 0,
         [&] { must(bool(d.submit({Fill{y, 0}})->wait())); });
  report(name, "upload, launch, readback of 256 bytes", 0,
         [&] { must(bool(d.submit({Upload{y, bytes}, launch, Readback{y, bytes}})->wait())); });
  const std::vector<Command> many(100, launch);
  report(name, "100 empty launches in one submission", 0,
         [&] { must(bool(d.submit(many)->wait())); });
  report(name, "100 submissions, then the wait", 0, [&] {
    Ticket last;
    for (int i = 0; i < 100; ++i) last = *d.submit({launch});
    must(bool(last.wait()));
  });
  if (const Result<Executable> pieces = d.compile(parsed.module->kernels[1])) {
    report(name, pieces->plan() ? "a grid barrier, split" : "a grid barrier, native", 0,
           [&] { must(bool(d.submit({Launch{*pieces, {y}, {}, true, {}}})->wait())); });
  }
  must(bool(d.free(y)));
}

/// The interpreter as a backend whose code is 100 KB that can be kept.
struct BigKernel : CompiledKernel {
  std::vector<std::byte> serialize() const override { return std::vector<std::byte>(100'000); }
};
class Keeping : public Backend {
 public:
  std::string_view name() const override { return "keeping"; }
  std::string_view summary() const override { return "for the cache"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {info()}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    return std::unique_ptr<BackendDevice>(std::make_unique<Opened>());
  }
  static DeviceInfo info() {
    DeviceInfo i = choose("interp")->backend->probe(nullptr)[0];
    i.backend = i.target = "keeping";
    i.keeps_code = true;
    return i;
  }

 private:
  struct Opened : BackendDevice {
    const DeviceInfo own = Keeping::info();
    const DeviceInfo& info() const override { return own; }
    Result<MemoryHandle> allocate(uint64_t) override { return 1; }
    void release(MemoryHandle) override {}
    Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program>,
                                                    const CompileOptions&) override {
      return std::shared_ptr<CompiledKernel>(std::make_shared<BigKernel>());
    }
    std::shared_ptr<CompiledKernel> load_kernel(std::shared_ptr<const Program>,
                                                const CompileOptions&,
                                                std::span<const std::byte>) override {
      return std::make_shared<BigKernel>();
    }
    Result<SubmissionHandle> submit(uint32_t, std::vector<DeviceCommand>,
                                    std::span<const SubmissionHandle>,
                                    std::optional<Clock::time_point>) override {
      return 1;
    }
    bool is_done(SubmissionHandle) override { return true; }
    SubmissionOutcome wait(SubmissionHandle) override { return {}; }
  };
};

Program generated(uint32_t ops) {
  SsaBuilder b("generated");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::U32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  p.workgroup = {256, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  ValueId sum = b.op(Opcode::Load, Type::U32, {i}, MemoryRef{.buffer = BufferId(0)}.pack());
  while (p.ops.size() < ops)
    sum = b.op(Opcode::Add, Type::U32, {sum, b.constant_u32(uint32_t(p.ops.size()))});
  b.effect(Opcode::Store, Type::U32, {i, sum}, MemoryRef{.buffer = BufferId(1)}.pack());
  return b.finish();
}

void cache_hits() {
  std::string folder = (std::filesystem::temp_directory_path() / "vyre_bench.XXXXXX").string();
  must(::mkdtemp(folder.data()) != nullptr);
  CacheOptions options;
  options.directory = folder;
  CompileCache cache(options);
  options.memory_bytes = 0;
  CompileCache disk(options);
  Keeping backend;
  OpenOptions how;
  how.cache = &cache;
  Device d = *Device::open(backend, 0, how);
  how.cache = &disk;
  Device later = *Device::open(backend, 0, how);
  for (const uint32_t ops : {100u, 1000u}) {
    const Program p = generated(ops);
    const Executable kept = *d.compile(p);
    report("cache", fmt::format("compile: hit in memory, {} ops", ops).c_str(), 20,
           [&] { must(d.compile(p)->origin() == "memory cache"); });
    report("cache", fmt::format("compile: hit on disk, {} ops, 100 KB", ops).c_str(), 1000,
           [&] { must(later.compile(p)->origin() == "disk cache"); });
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) seconds = std::atof(argv[1]);
  fmt::print("launch: {} hardware threads\n", std::thread::hardware_concurrency());
  there_and_back();
  for (const Probed& p : probe_all()) {
    if (p.devices.empty()) {
      fmt::print("{:8} not here, because {}\n", p.entry.name, p.why_none);
      continue;
    }
    Device d = *Device::open(*p.backend, 0);
    launches(d, std::string(p.entry.name));
  }
  cache_hits();
  return ok ? 0 : 1;
}
