#include "gpu_latency.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "bench/measure_emit.h"
#include "codegen/ptx/ptx_emit.h"
#include "ir/graph_launch.h"
#include "runtime/cache/cache.h"

namespace bench {
namespace {

using namespace vyre;
using namespace vyre::driver;
using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

Program small_program(uint32_t salt) {
  Module m = parse_module(fmt::format(R"(
kernel small(a: f32, x: in f32[], y: inout f32[len(x)]) workgroup(64) grid(len(x)) {{
  let i = global_id.x
  var sum = y[i]
  for k in 0..9 {{ sum = fma(a, x[(i + k) % len(x)], sum) }}
  if sum > {}.5 {{ sum = sqrt(sum) / a }}
  y[i] = sum
}}
)",
                                      salt));
  return std::move(m.kernels[0]);
}

const char* tiny_source = R"(
kernel tiny(x: inout u32[]) workgroup(64) grid(len(x)) {
  x[global_id.x] = x[global_id.x] * 3 + 1
}
)";

class Study {
 public:
  Study(std::string backend, driver::Device device, std::shared_ptr<Cuda> cuda, const Options& o)
      : backend_(std::move(backend)), device_(std::move(device)), cuda_(std::move(cuda)), o_(o) {
    if (backend_ != "cuda") cuda_ = nullptr;  // the peer of that backend alone
  }

  std::vector<Latency> run() {
    part("code", [&] { code(); });
    part("first launch", [&] { first_launch(); });
    part("disk cache", [&] { disk_cache(); });
    part("submission", [&] { submission(); });
    part("graph of 64", [&] { graph_of_64(); });
    part("while", [&] { rounds(); });
    part("grid barrier", [&] { grid_barrier(); });
    return std::move(all_);
  }

 private:
  void part(const char* name, const std::function<void()>& measure) {
    try {
      measure();
    } catch (const Failure& f) {
      all_.push_back({.what = name, .backend = backend_, .failure = f.what});
    }
  }
  void add(std::string what, double value, const char* unit, double goal = 0, std::string note = "",
           bool at_least = false) {
    all_.push_back({std::move(what), backend_, value, unit, goal, at_least, std::move(note), ""});
  }
  int few() const { return o_.small ? 2 : 12; }

  driver::Device open(CompileCache* cache) {
    OpenOptions o;
    o.use_cache = cache != nullptr;
    o.cache = cache;
    return take(driver::Device::open(backend_, o), backend_);
  }
  SubmitReport run(driver::Device& d, std::vector<Command> commands) {
    return take(take(d.submit(std::move(commands), untimed()), "submit").wait(), "wait");
  }
  static SubmitOptions untimed() {
    SubmitOptions how;
    how.call_times = false;
    return how;
  }
  static SubmitOptions unmeasured() {
    SubmitOptions how;
    how.times = false;
    return how;
  }

  /// From the program to the code that the driver takes.
  void code() {
    driver::Device fresh = open(nullptr);
    std::vector<double> emit, optimize, whole;
    size_t ops = 0;
    for (int i = 0; i < few(); ++i) {
      const Program p = vyre::bench::generate(500, uint32_t(i));
      ops = p.ops.size();
      const Executable e = take(fresh.compile(p), "compile");
      emit.push_back(double(e.emit_ns()) * 1e-6);
      optimize.push_back(double(e.optimize_ns()) * 1e-6);
      whole.push_back(double(e.compile_ns()) * 1e-6);
    }
    const std::string size = fmt::format(" of {} ops", ops);
    add("emit the code" + size, median(emit), "ms", 1, "0: the backend does not tell");
    add("optimize" + size, median(optimize), "ms");
    add("compile" + size + ", with the driver's compiler", median(whole), "ms");
    if (backend_ != "cuda") return;
    std::vector<double> direct;
    const Program p = vyre::bench::generate(500, 77);
    for (int i = 0; i < 50; ++i) {
      const auto begin = Clock::now();
      take(emit_ptx::emit(p, {.arch = emit_ptx::Arch::Sm90}), "emit");
      direct.push_back(us_since(begin) * 1e-3);
    }
    add("emit PTX" + size + ", unoptimized, again and again", median(direct), "ms", 1);
  }

  /// A kernel that is in no cache: compile, launch, wait. For comparison, the driver's own compiler
  /// with the same text.
  void first_launch() {
    driver::Device fresh = open(nullptr);
    const driver::Buffer x = take(fresh.allocate(4096), "x"), y = take(fresh.allocate(4096), "y");
    std::vector<double> ours, jit;
    size_t lines = 0;
    for (int i = 0; i < few() + 1; ++i) {
      const Program p = small_program(1000 + uint32_t(i));
      const auto begin = Clock::now();
      const Executable e = take(fresh.compile(p), "compile");
      run(fresh, {Launch{e, {scalar(0.5f), x, y}}});
      if (i) ours.push_back(us_since(begin) * 1e-3);  // the first one warms up
      if (!cuda_) continue;
      const emit_ptx::Kernel text =
          take(emit_ptx::emit(e.optimized(), {.arch = emit_ptx::Arch::Sm90}), "emit");
      lines = size_t(std::count(text.text.begin(), text.text.end(), '\n'));
      const auto direct = Clock::now();
      const cuda::ModuleHandle module = cuda_->load(text.text.c_str());
      if (i) jit.push_back(us_since(direct) * 1e-3);
      cuda_->api.module_unload(module);
    }
    (void)bool(fresh.free(x));
    (void)bool(fresh.free(y));
    add("first launch of a new small kernel", median(ours), "ms");
    if (jit.empty()) return;
    add("the driver's own JIT of the same text", median(jit), "ms", 0,
        fmt::format("{} lines", lines));
    add("first launch on top of that JIT", median(ours) - median(jit), "ms", 3);
  }

  void disk_cache() {
    if (!device_.info().keeps_code) return;
    namespace fs = std::filesystem;
    std::string folder = (fs::temp_directory_path() / "vyre-bench-XXXXXX").string();
    if (!::mkdtemp(folder.data())) throw Failure{"no folder for a cache"};
    CacheOptions options;
    options.directory = folder;
    std::vector<double> ours, compile;
    std::string origin;
    for (int i = 0; i < few() + 1; ++i) {
      const Program p = small_program(2000 + uint32_t(i));
      {
        CompileCache cache(options);
        driver::Device first = open(&cache);
        take(first.compile(p), "compile");
      }
      CompileCache cache(options);  // nothing in memory: as in another process
      driver::Device second = open(&cache);
      const driver::Buffer x = take(second.allocate(4096), "x"),
                           y = take(second.allocate(4096), "y");
      const auto begin = Clock::now();
      const Executable e = take(second.compile(p), "compile");
      const double compiled = us_since(begin) * 1e-3;
      run(second, {Launch{e, {scalar(0.5f), x, y}}});
      origin = std::string(e.origin());
      if (i == 0) continue;
      ours.push_back(us_since(begin) * 1e-3);
      compile.push_back(compiled);
      (void)bool(second.free(x));
      (void)bool(second.free(y));
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    if (origin != "disk cache") throw Failure{"the code came from: " + origin};
    add("small kernel from the disk cache, ready", median(compile), "ms", 1);
    add("… and launched for the first time", median(ours), "ms");
  }

  /// The host time of a launch without a wait, and of launches in one submission.
  void submission() {
    const Executable tiny = take(device_.compile(parse_module(tiny_source).kernels[0]), "tiny");
    const driver::Buffer x = take(device_.allocate(1024 * 4), "x");
    const Launch launch{tiny, {x}};
    run(device_, std::vector<Command>(64, launch));
    std::vector<double> each;
    const int groups = o_.small ? 2 : 20, size = 50;
    double all = 0;
    for (int g = 0; g < groups; ++g) {
      std::vector<Ticket> tickets;
      tickets.reserve(size_t(size));
      for (int i = 0; i < size; ++i) {
        std::vector<Command> commands(1, launch);
        const auto begin = Clock::now();
        Result<Ticket> t = device_.submit(std::move(commands), unmeasured());
        const double us = us_since(begin);
        tickets.push_back(take(std::move(t), "submit"));
        each.push_back(us);
        all += us;
      }
      for (const Ticket& t : tickets) take(t.wait(), "wait");
    }
    const double goal = backend_ == "vulkan" ? 25 : 4;
    add(fmt::format("asynchronous launch, host time, mean of {}", groups * size),
        all / (groups * size), "us", goal, fmt::format("median {:.2f} us", median(each)));
    by_hand();
    std::vector<double> waited, sequence;
    for (int i = 0; i < (o_.small ? 2 : 200); ++i) {
      const auto one = Clock::now();
      run(device_, {launch});
      waited.push_back(us_since(one));
      const auto many = Clock::now();
      run(device_, std::vector<Command>(64, launch));
      sequence.push_back(us_since(many) / 64);
    }
    add("launch and wait", median(waited), "us");
    add("a launch in a submission of 64, waited for", median(sequence), "us",
        backend_ == "vulkan" ? 3 : 0, "the same 64 each time");
    unlike_sequences(x);
    (void)bool(device_.free(x));
  }

  /// Submissions of which no two are the same, so that nothing can be kept of them.
  void unlike_sequences(const driver::Buffer& x) {
    const Executable raise = take(device_.compile(parse_module(R"(
kernel raise(by: u32, x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] = x[global_id.x] * 3 + by }
)")
                                                      .kernels[0]),
                                  "raise");
    std::vector<double> each;
    uint32_t by = 0;
    for (int i = 0; i < (o_.small ? 2 : 200); ++i) {
      const auto begin = Clock::now();
      std::vector<Command> commands;
      commands.reserve(64);
      for (int k = 0; k < 64; ++k) commands.push_back(Launch{raise, {scalar(++by), x}});
      run(device_, std::move(commands));
      each.push_back(us_since(begin) / 64);
    }
    add("… of which no two are the same", median(each), "us");
  }

  /// The driver's own time for the calls that every launch needs.
  void by_hand() {
    if (!cuda_ || !cuda_->same) return;
    const Cuda& c = *cuda_;
    cuda::DevicePointer memory = 0;
    cuda::EventHandle event = nullptr;
    c.check(c.api.memory_allocate(&memory, 4096), "cuMemAlloc");
    c.check(c.api.event_create(&event, cuda::event_default), "cuEventCreate");
    uint32_t n = 1024;
    void* parameters[] = {&memory, &n};
    const cuda::FunctionHandle tiny = c.function(c.same, "tiny");
    double launch = 0, record = 0;
    const int groups = o_.small ? 2 : 20, size = 50;
    for (int g = 0; g < groups; ++g) {
      for (int i = 0; i < size; ++i) {
        const auto begin = Clock::now();
        c.check(c.api.launch(tiny, 16, 1, 1, 64, 1, 1, 0, c.stream, parameters, nullptr),
                "cuLaunchKernel");
        launch += us_since(begin);
        const auto behind = Clock::now();
        c.check(c.api.event_record(event, c.stream), "cuEventRecord");
        record += us_since(behind);
      }
      c.check(c.api.stream_synchronize(c.stream), "cuStreamSynchronize");
    }
    c.api.event_destroy(event);
    c.api.memory_free(memory);
    add("cuLaunchKernel by hand, host time", launch / (groups * size), "us", 0,
        fmt::format("cuEventRecord {:.2f} us", record / (groups * size)));
  }

  struct Prepared {
    Module module;
    GraphExecutable graph;
  };
  Prepared prepare(const std::string& source, uint64_t elements) {
    Prepared p;
    p.module = parse_module(source);
    const Graph& g = p.module.graphs[0];
    std::vector<std::optional<uint64_t>> counts(g.buffers.size()), scalars(g.buffers.size());
    counts[0] = elements;
    const GraphShape shape = take(resolve_graph(g, counts, scalars), "shape");
    GraphOptions how;
    how.fuse = false;  // as many launches as there are calls
    p.graph = take(device_.prepare(p.module, g, shape, how), "prepare");
    return p;
  }

  void graph_of_64() {
    constexpr uint32_t elements = 1024, links = 64;
    std::string source = tiny_source;
    source += "graph g(x: inout u32[]) {\n";
    for (uint32_t i = 0; i < links; ++i) source += "  call tiny(x)\n";
    source += "}\n";
    const Prepared p = prepare(source, elements);
    const driver::Buffer x = take(device_.allocate(elements * 4), "x");
    const std::vector<Command> commands = {LaunchGraph{p.graph, {x}}};
    const int times = o_.small ? 3 : 300;
    std::vector<double> ours, ours_device, by_hand, by_hand_device;
    cuda::GraphHandle graph = nullptr;
    cuda::GraphExecHandle exec = nullptr;
    cuda::DevicePointer memory = 0;
    cuda::EventHandle begin = nullptr, end = nullptr;
    if (cuda_ && cuda_->same && cuda_->api.has_graphs()) {
      const Cuda& c = *cuda_;
      c.check(c.api.memory_allocate(&memory, elements * 4), "cuMemAlloc");
      c.check(c.api.fill_bytes(memory, 0, elements * 4, c.stream), "cuMemsetD8");
      c.check(c.api.event_create(&begin, cuda::event_default), "cuEventCreate");
      c.check(c.api.event_create(&end, cuda::event_default), "cuEventCreate");
      c.check(c.api.graph_create(&graph, 0), "cuGraphCreate");
      uint32_t n = elements;
      void* parameters[] = {&memory, &n};
      cuda::KernelNode node;
      node.function = c.function(c.same, "tiny");
      node.grid[0] = elements / 64;
      node.block[0] = 64;
      node.parameters = parameters;
      cuda::GraphNodeHandle last = nullptr;
      for (uint32_t i = 0; i < links; ++i) {
        cuda::GraphNodeHandle made = nullptr;
        c.check(c.api.graph_add_kernel(&made, graph, last ? &last : nullptr, last ? 1 : 0, &node),
                "cuGraphAddKernelNode");
        last = made;
      }
      c.check(c.api.graph_instantiate(&exec, graph, 0), "cuGraphInstantiate");
    }
    for (int i = -3; i < times; ++i) {
      const auto at = Clock::now();
      const SubmitReport r = run(device_, commands);
      const double us = us_since(at);
      if (i >= 0) {
        ours.push_back(us);
        ours_device.push_back(double(r.run_ns) * 1e-3);
      }
      if (!exec) continue;
      const Cuda& c = *cuda_;
      const auto by = Clock::now();
      c.check(c.api.graph_launch(exec, c.stream), "cuGraphLaunch");
      c.check(c.api.stream_synchronize(c.stream), "cuStreamSynchronize");
      const double hand = us_since(by);
      // Once more with events around it.
      c.check(c.api.event_record(begin, c.stream), "cuEventRecord");
      c.check(c.api.graph_launch(exec, c.stream), "cuGraphLaunch");
      c.check(c.api.event_record(end, c.stream), "cuEventRecord");
      c.check(c.api.stream_synchronize(c.stream), "cuStreamSynchronize");
      float ms = 0;
      c.check(c.api.event_elapsed(&ms, begin, end), "cuEventElapsedTime");
      if (i < 0) continue;
      by_hand.push_back(hand);
      by_hand_device.push_back(double(ms) * 1e3);
    }
    add("graph of 64 dependent tiny launches, replay", median(ours), "us", 0,
        fmt::format("{:.2f} us a launch; on the device {:.1f} us", median(ours) / links,
                    median(ours_device)));
    if (exec) {
      add("the same 64 as a CUDA graph by hand", median(by_hand), "us", 0,
          fmt::format("on the device {:.1f} us", median(by_hand_device)));
      add("replay by the graph by hand", median(ours) / median(by_hand), "x", 1.2,
          fmt::format("on the device {:.2f}", median(ours_device) / median(by_hand_device)));
      cuda_->api.graph_exec_destroy(exec);
      cuda_->api.graph_destroy(graph);
      cuda_->api.event_destroy(begin);
      cuda_->api.event_destroy(end);
      cuda_->api.memory_free(memory);
    }
    (void)bool(device_.free(x));
  }

  void rounds() {
    const uint32_t n = o_.small ? 50 : 10'000;
    const Prepared p = prepare(R"(
kernel step(x: inout u32[]) workgroup(64) grid(len(x)) {
  x[global_id.x] = select(global_id.x == 0, x[0] - 1, x[global_id.x] * 3 + 1)
}
graph g(x: inout u32[]) { while x[0] != 0 limit 4000000000 { call step(x) } }
)",
                               1024);
    const driver::Buffer x = take(device_.allocate(4096), "x");
    std::vector<uint32_t> data(1024, 1);
    data[0] = n;
    std::vector<double> us;
    for (int i = 0; i < 4; ++i) {
      run(device_, {Upload{x, std::as_bytes(std::span(data))}});
      const auto begin = Clock::now();
      run(device_, {LaunchGraph{p.graph, {x}}});
      if (i) us.push_back(us_since(begin));
    }
    add(fmt::format("`while` of {} rounds of one tiny call", n), n / median(us) * 1e6, "rounds/s",
        0, fmt::format("{:.2f} us a round", median(us) / n));
    (void)bool(device_.free(x));
  }

  void grid_barrier() {
    const Module m = parse_module(R"(
kernel waits(n: u32, x: inout u32[]) workgroup(256) grid(len(x)) {
  for i in 0..n {
    x[global_id.x] += 1
    barrier grid
  }
}
)");
    const uint32_t n = o_.small ? 5 : 500, elements = 132 * 256;
    for (const bool split : {false, true}) {
      OpenOptions o;
      o.split_grid_barriers = split;
      driver::Device d = take(driver::Device::open(backend_, o), backend_);
      const Executable e = take(d.compile(m.kernels[0]), "compile");
      const driver::Buffer x = take(d.allocate(elements * 4), "x");
      std::vector<double> us;
      uint64_t launches = 0;
      for (int i = 0; i < 4; ++i) {
        const auto begin = Clock::now();
        launches = run(d, {Launch{e, {scalar(n), x}}}).launches;
        if (i) us.push_back(us_since(begin));
      }
      (void)bool(d.free(x));
      add(fmt::format("grid barrier of 132 workgroups, {}",
                      split ? "split" : "as the device has it"),
          median(us) / n, "us", 0, fmt::format("{} launches for {} barriers", launches, n));
    }
  }

  std::string backend_;
  driver::Device device_;
  std::shared_ptr<Cuda> cuda_;
  Options o_;
  std::vector<Latency> all_;
};

}  // namespace

std::vector<Latency> measure_latency(const std::string& backend, driver::Device device,
                                     const std::shared_ptr<Cuda>& cuda, const Options& options) {
  return Study(backend, std::move(device), cuda, options).run();
}

}  // namespace bench
