#include "cpu_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>

#include "check/check.h"
#include "cpu_peers.h"
#include "runtime/device.h"
#include "text/parse.h"

namespace bench {
namespace {

using namespace vyre;
using namespace vyre::driver;

Program from_text(const std::string& source) {
  ParseOutcome parsed = parse(source, {.file_name = "generated"});
  if (!parsed.module) fail(render(parsed.diagnostics, parsed.sources));
  const Diagnostics wrong = check(*parsed.module);
  if (has_errors(wrong)) fail(render(wrong, parsed.sources));
  return std::move(parsed.module->kernels[0]);
}

Program ten_ops() {
  return from_text(
      "kernel ten(a: f32, x: in f32[], y: inout f32[len(x)]) workgroup(256) grid(len(x)) {\n"
      "  let i = global_id.x\n"
      "  let v = fma(a, x[i], y[i])\n"
      "  y[i] = max(v * v, 0.5) + 1.0\n"
      "}\n");
}

/// A mix as in long kernels: float and integer arithmetic, loads at computed indices, conversions,
/// some `if`s, loops and divisions, and stores at the end.
Program mixed(size_t ops) {
  const auto source = [](size_t lines) {
    std::mt19937 random(5);
    const auto one_of = [&](size_t n) { return size_t(random() % n); };
    std::string text =
        "kernel mixed(x: in f32[], k: in u32[], y: out f32[len(x)], z: out u32[len(x)]) "
        "workgroup(64) grid(len(x)) {\n"
        "  let i = global_id.x\n  var f0 = x[i]\n  var f1 = 1.5\n  var f2 = f32(i)\n  var f3 = "
        "0.25\n"
        "  var n0 = k[i]\n  var n1 = i\n  var n2: u32 = 7\n  var n3: u32 = 1\n";
    for (size_t line = 0; line < lines; ++line) {
      const size_t a = one_of(4), b = one_of(4), c = one_of(4);
      switch (one_of(12)) {
        case 0: text += fmt::format("  f{} = f{} * f{} + 0.5\n", a, b, c); break;
        case 1: text += fmt::format("  f{} = fma(f{}, f{}, f{})\n", a, b, c, a); break;
        case 2: text += fmt::format("  f{} = max(f{} - f{}, 0.125)\n", a, b, c); break;
        case 3: text += fmt::format("  n{} = (n{} ^ n{} >> 3) * 2654435761\n", a, b, c); break;
        case 4: text += fmt::format("  n{} += rotl(n{}, 7) & 0xffff\n", a, b); break;
        case 5: text += fmt::format("  f{} += x[n{} % len(x)]\n", a, b); break;
        case 6: text += fmt::format("  n{} ^= k[i + n{} % 16]\n", a, b); break;
        case 7: text += fmt::format("  f{} = f32(n{} & 255) / f{}\n", a, b, c); break;
        case 8: text += fmt::format("  if n{} > n{} {{ f{} = f{} * 0.5 }}\n", a, b, c, b); break;
        case 9:
          text += fmt::format("  n{} = select(f{} < f{}, n{}, n{} + 1)\n", a, b, c, b, c);
          break;
        case 10: text += fmt::format("  f{} = sqrt(abs(f{}))\n", a, b); break;
        case 11: text += fmt::format("  for j in 0..n{} & 3 {{ n{} += k[j] }}\n", a, b); break;
      }
    }
    return text + "  y[i] = f0 + f1 + f2 + f3\n  z[i] = n0 ^ n1 ^ n2 ^ n3\n}\n";
  };
  size_t lines = 1;
  while (from_text(source(lines)).ops.size() < ops) ++lines;
  return from_text(source(lines));
}

struct Times {
  double median_us = 0, best_us = 0, cpu_us = 0;
};

double cpu_us() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) / 1e3;
}

Times times_of(int repeats, const std::function<void()>& before,
               const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times, cpu;
  for (int i = 0; i <= repeats; ++i) {
    before();
    const double cpu_start = cpu_us();
    const auto start = Clock::now();
    work();
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    if (i == 0) continue;  // the first one warms up
    times.push_back(us);
    cpu.push_back(cpu_us() - cpu_start);
  }
  std::sort(times.begin(), times.end());
  std::sort(cpu.begin(), cpu.end());
  return {times[times.size() / 2], times.front(), cpu[cpu.size() / 2]};
}

Executable compiled(Device& device, const Program& program) {
  Result<Executable> e = device.compile(program);
  if (!e) fail(render(e.errors(), {}));
  return std::move(*e);
}

Latency compile_latency(const std::string& what, const std::string& backend, const Program& program,
                        double goal_ms, int repeats) {
  Result<Device> device = Device::open(backend, {.use_cache = false});
  if (!device) fail(render(device.errors(), {}));
  const Times t = times_of(repeats, [] {}, [&] { compiled(*device, program); });
  return {fmt::format("{} ({} ops)", what, program.ops.size()), t.median_us, t.best_us, t.cpu_us,
          goal_ms * 1000};
}

/// Each repeat has a copy of the cache's folder under a new name: the process has no memory level
/// for it yet.
Latency disk_latency(const std::string& backend, const Program& program, int repeats) {
  Latency result{.what = fmt::format("from the disk cache ({} ops)", program.ops.size()),
                 .goal_us = 2000};
  namespace fs = std::filesystem;
  std::string root = (fs::temp_directory_path() / "vyre_bench_cpu.XXXXXX").string();
  if (!::mkdtemp(root.data())) {
    result.problem = "no temporary folder";
    return result;
  }
  const char* before = std::getenv("VYRE_CACHE_DIR");
  const std::string old = before ? before : "";
  const auto use = [&](const std::string& folder) {
    ::setenv("VYRE_CACHE_DIR", folder.c_str(), 1);
  };
  use(root + "/first");
  {
    Result<Device> device = Device::open(backend);
    if (!device) fail(render(device.errors(), {}));
    compiled(*device, program);
  }
  int copy = 0;
  std::string origin;
  if (!fs::exists(root + "/first")) {
    result.problem = "the backend stored nothing in the cache";
  } else {
    std::optional<Device> device;
    const Times t = times_of(
        repeats,
        [&] {
          const std::string folder = fmt::format("{}/copy{}", root, copy++);
          fs::copy(root + "/first", folder, fs::copy_options::recursive);
          use(folder);
          Result<Device> opened = Device::open(backend);
          if (!opened) fail(render(opened.errors(), {}));
          device = std::move(*opened);
        },
        [&] { origin = compiled(*device, program).origin(); });
    result.median_us = t.median_us;
    result.best_us = t.best_us;
    result.cpu_us = t.cpu_us;
    if (origin != "disk cache")
      result.problem = fmt::format("not found in the disk cache (origin: {})", origin);
  }
  if (before)
    use(old);
  else
    ::unsetenv("VYRE_CACHE_DIR");
  fs::remove_all(root);
  return result;
}

/// One workgroup that stores one number.
Latency launch_latency(const std::string& backend, int repeats) {
  Result<Device> device = Device::open(backend, {.use_cache = false});
  if (!device) fail(render(device.errors(), {}));
  const Executable kernel = compiled(
      *device, from_text("kernel nothing(y: out u32[1]) workgroup(1) grid(1) { y[0] = 1 }\n"));
  const Result<driver::Buffer> y = device->allocate(4);
  if (!y) fail(render(y.errors(), {}));
  const auto launch = [&] {
    const Result<Ticket> ticket =
        device->submit({Launch{.executable = kernel, .arguments = {*y}, .clear_outputs = false}});
    if (!ticket || !ticket->wait()) fail("the empty launch failed");
  };
  const Times t = times_of(repeats, [] {}, launch);
  return {"empty launch", t.median_us, t.best_us, t.cpu_us, 10};
}

}  // namespace

std::vector<Latency> measure_latency(const std::string& backend, bool quick) {
  const int repeats = quick ? 5 : 21;
  const Program ten = ten_ops(), large = mixed(500);
  return {
      compile_latency("compile a small kernel", backend, ten, 8, repeats),
      compile_latency("compile a large kernel", backend, large, 40, repeats),
      disk_latency(backend, ten, repeats),
      disk_latency(backend, large, repeats),
      launch_latency(backend, quick ? 200 : 2000),
  };
}

}  // namespace bench
