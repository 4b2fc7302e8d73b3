#include "runtime/cpu/cpu_backend.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "codegen/llvm/isa.h"
#include "interp/launch_kernel.h"
#include "runtime/cache/cache_key.h"
#include "runtime/cpu/cpu_kernel.h"
#include "runtime/cpu/cpu_launch.h"
#include "runtime/cpu/isolated_compile.h"
#include "runtime/cpu/process_end.h"
#include "runtime/host_device.h"

namespace vyre::driver {

namespace {

using emit_llvm::Isa;

constexpr uint32_t most_threads = 1024;

Diagnostic bad_option(std::string_view option, std::string_view why) {
  return diagnose(Code::BadOptionValue, {}, fmt::format("`{}`: {}", option, why))
      .with_fix(fmt::format("write `isa={}` or less, or `threads=` and a number from 1 to {}",
                            emit_llvm::name(emit_llvm::host_isa()), most_threads));
}

/// Reads "isa=x86-64-v3" or "threads=2" into `options`; ignores other options.
Result<> read_option(std::string_view text, CpuOptions& options) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return Ok{};
  const std::string_view key = text.substr(0, equals), value = text.substr(equals + 1);
  if (key == "isa") {
    const auto isa = emit_llvm::parse_isa(value);
    if (!isa) return bad_option(text, "there is no such instruction set");
    if (!emit_llvm::host_runs(*isa)) return bad_option(text, "this machine does not run it");
    options.isa = *isa;
  } else if (key == "threads") {
    uint32_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc{} || end != value.data() + value.size() || n < 1 || n > most_threads)
      return bad_option(text, "this is no number of threads");
    options.threads = n;
  }
  return Ok{};
}

/// VYRE_CPU_ISA and VYRE_CPU_THREADS.
Result<CpuOptions> environment_options() {
  CpuOptions options;
  options.isa = emit_llvm::host_isa();
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (const char* isa = std::getenv("VYRE_CPU_ISA"))
    if (auto read = read_option(fmt::format("isa={}", isa), options); !read) return read.errors();
  if (const char* threads = std::getenv("VYRE_CPU_THREADS"))
    if (auto read = read_option(fmt::format("threads={}", threads), options); !read)
      return read.errors();
  return options;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

constexpr DeviceOption device_options[] = {
    {.name = "isa",
     .type = DeviceOption::Type::Word,
     .values = "x86-64-v2|x86-64-v3|x86-64-v4|aarch64",
     .sentence = "Instruction set of the code; the machine must run it."},
    {.name = "threads",
     .type = DeviceOption::Type::Integer,
     .min = 1,
     .max = most_threads,
     .sentence = "Threads of a launch."},
};

DeviceInfo cpu_info(const CpuOptions& options) {
  DeviceInfo i;
  const std::string_view isa = emit_llvm::name(options.isa);
  i.backend = "cpu";
  i.optimizes = true;
  i.options = device_options;
  i.costs = "cpu";
  i.compute_units = uint32_t(options.threads);
  i.name = fmt::format("{}, {} thread{}, {}", cpu_model(), options.threads,
                       options.threads == 1 ? "" : "s", isa);
  i.target = fmt::format("{} tuned for {}", isa, emit_llvm::tune_cpu(options.isa));
  // The emitter is in this library, not in the program that owns the cache, so the library's build
  // id is part of the version.
  i.driver_version = fmt::format("LLVM {}, {}", LLVM_VERSION_STRING, build_id());
  i.limits.workgroup_invocations = 1024;
  i.limits.shared_bytes = 16 << 20;
  i.limits.buffer_bytes = max_buffer_bytes;
  i.limits.memory_bytes = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGE_SIZE));
  i.limits.subgroup_sizes = {1, 2, 4, 8, 16, 32, 64};
  i.limits.default_subgroup_size = emit_llvm::vector_bytes(options.isa) / 4;
  i.limits.native_grid_barrier = false;
  i.limits.forward_progress = true;
  i.limits.vector_access = true;
  i.properties = {{"threads", fmt::to_string(options.threads)},
                  {"instruction set", std::string(isa)},
                  {"LLVM", LLVM_VERSION_STRING},
                  {"types", "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64"},
                  {"atomics", "i32 u32 i64 u64, f32 add"},
                  {"native",
                   "integers, f32 and f64 arithmetic, sqrt, fma (but for x86-64-v2), atomics, "
                   "workgroup barriers"},
                  {"expanded",
                   "exp, log, sin and the other functions; f16 and bf16 arithmetic in f32; grid "
                   "barriers by splitting"}};
  return i;
}

class CpuDevice : public HostDevice, private ClosedAtProcessEnd {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : HostDevice(cpu_info(options)), options_(options), workers_(options.threads) {
    close_with_process();
  }

  ~CpuDevice() override {
    leave_process_end();
    stop();
    close();
  }

  void stop() final { watchdog_.stop_all(); }

  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                  const CompileOptions& options) override {
    const Result<CpuOptions> chosen = options_with(options);
    if (!chosen) return chosen.errors();
    const auto begin = std::chrono::steady_clock::now();
    Result<std::shared_ptr<CpuKernel>> kernel = options.limits.any()
                                                    ? compile_isolated(*program, options, *chosen)
                                                    : compile_kernel(*program, options, *chosen);
    if (!kernel) return kernel.errors();
    (*kernel)->compile_ns =
        uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
    return std::shared_ptr<CompiledKernel>(std::move(*kernel));
  }

  std::shared_ptr<CompiledKernel> load_kernel(std::shared_ptr<const Program> program,
                                              const CompileOptions& options,
                                              std::span<const std::byte> bytes) override {
    const Result<CpuOptions> chosen = options_with(options);
    return chosen ? load_cpu_kernel(*program, options, *chosen, bytes) : nullptr;
  }

  uint64_t working_bytes(const CompiledKernel& kernel, const Program&,
                         const LaunchShape& shape) override {
    const auto& k = static_cast<const CpuKernel&>(kernel);
    if (k.info.arena_bytes <= small_working_bytes) return 0;
    const uint32_t threads =
        k.threads ? std::min(k.threads, workers_.threads()) : workers_.threads();
    const auto at_once = std::min<unsigned __int128>(threads, shape.workgroups());
    return interp::saturating(at_once * k.info.arena_bytes);
  }

  Result<std::optional<Listing>> list_code(const Program& program,
                                           const CompileOptions& options) override {
    const Result<CpuOptions> chosen = options_with(options);
    if (!chosen) return chosen.errors();
    Result<Listing> listing =
        emit_llvm::list_code(program, {chosen->isa, options.subgroup_size, options.stoppable});
    if (!listing) return listing.errors();
    return std::optional<Listing>(std::move(*listing));
  }

 private:
  void close_at_process_end() override {
    stop();
    close();
    workers_.close();
  }

  /// Large buffers are filled by all threads, which also spreads their page faults.
  void fill(std::byte* at, uint64_t bytes, uint8_t value) override {
    constexpr uint64_t part = 256 << 10;
    if (bytes < 2 * part) return HostDevice::fill(at, bytes, value);
    workers_.run(0, bytes, part, workers_.threads(), [&](uint64_t first, uint64_t last) {
      std::memset(at + first, value, last - first);
    });
  }

  Result<CpuOptions> options_with(const CompileOptions& compile) const {
    CpuOptions options = options_;
    options.threads = 0;
    for (const std::string& extra : compile.extra)
      if (auto read = read_option(extra, options); !read) return read.errors();
    return options;
  }

  static Diagnostic no_memory(uint64_t bytes, const Program& p) {
    return diagnose(
               Code::OutOfMemory, p.place(p.loc),
               fmt::format("out of memory: the workgroups of kernel `{}` that run at once need "
                           "{} bytes",
                           p.name, bytes))
        .with_fix("use smaller shared or private arrays, or smaller workgroups");
  }

  bool launch(const DeviceLaunch& c, const IdMap<BufferId, std::byte*>& buffers,
              const Surroundings& around) override {
    auto& kernel = static_cast<CpuKernel&>(*c.kernel);
    SubmissionOutcome& o = around.outcome;
    const KernelCall call{kernel.code->entry, kernel.info.arena_bytes, kernel.info.stack_bytes,
                          kernel.threads, &kernel.group_ns};
    if (const uint64_t working = working_bytes(kernel, *c.program, c.shape);
        working > info().limits.memory_bytes) {
      o.kind = SubmissionOutcome::Kind::Failed;
      o.errors = {no_memory(working, *c.program)};
      return false;
    }
    const LaunchEnd end = run_workgroups(call, buffers, c.scalars, c.shape, workers_, watchdog_,
                                         around.deadline, around.progress);
    switch (end.kind) {
      case LaunchEnd::Kind::Done: return true;
      case LaunchEnd::Kind::Trapped:
        o.kind = SubmissionOutcome::Kind::Trapped;
        o.trap = end.trap;
        return false;
      case LaunchEnd::Kind::Stopped:
        o.kind = SubmissionOutcome::Kind::TimedOut;
        o.stopped_at = end.stopped_at;
        return false;
      case LaunchEnd::Kind::OutOfMemory:
        o.kind = SubmissionOutcome::Kind::Failed;
        o.errors = {no_memory(kernel.info.arena_bytes, *c.program)};
        return false;
    }
    return true;
  }

  const CpuOptions options_;
  Watchdog watchdog_;
  Workers workers_;
};

class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view summary() const override { return "this machine's cores, compiled by LLVM"; }

  std::vector<DeviceInfo> probe(std::string* why_none) override {
    const Result<CpuOptions> options = environment_options();
    if (options && emit_llvm::host_runs(options->isa)) return {cpu_info(*options)};
    if (why_none)
      *why_none =
          options ? "this processor is older than x86-64-v2" : options.errors().front().message;
    return {};
  }

  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    const Result<CpuOptions> options = environment_options();
    if (!options) return options.errors();
    return std::unique_ptr<BackendDevice>(std::make_unique<CpuDevice>(*options));
  }
};

}  // namespace

Backend* cpu_backend() {
  static CpuBackend backend;
  return &backend;
}

}  // namespace vyre::driver
