#include "runtime/interp/interp_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "interp/interp.h"
#include "interp/launch_kernel.h"
#include "runtime/host_device.h"

namespace vyre::driver {
namespace {

uint64_t machine_bytes() {
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGE_SIZE));
}

constexpr DeviceOption device_options[] = {
    {.name = "schedule",
     .type = DeviceOption::Type::Word,
     .values = "order|reverse|random:N",
     .sentence = "Order of invocations; N is the seed of a random one."},
};

DeviceInfo interp_info() {
  DeviceInfo i;
  i.backend = "interp";
  i.name = "reference interpreter, one core";
  i.target = "interp";
  i.driver_version = "1";
  i.costs = "interp";
  i.keeps_code = false;  // compiling costs next to nothing
  i.options = device_options;
  i.limits.workgroup_invocations = 1024;
  i.limits.shared_bytes = 1ull << 30;
  i.limits.buffer_bytes = max_buffer_bytes;
  i.limits.memory_bytes = machine_bytes();
  i.limits.subgroup_sizes = {1, 2, 4, 8, 16, 32, 64};
  i.limits.default_subgroup_size = 32;
  i.limits.native_grid_barrier = true;
  i.limits.forward_progress = true;
  i.properties = {{"schedules", "order, reverse, random:SEED"},
                  {"types", "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64"},
                  {"atomics", "i32 u32 i64 u64, f32 add"},
                  {"native", "everything: this backend is the definition of every operation"},
                  {"expanded", "nothing"}};
  return i;
}

struct InterpKernel : CompiledKernel {
  interp::Options options;
};

class InterpDevice : public HostDevice {
 public:
  InterpDevice() : HostDevice(interp_info()) {}
  ~InterpDevice() override { close(); }

  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                  const CompileOptions& options) override {
    auto kernel = std::make_shared<InterpKernel>();
    kernel->options.subgroup_size =
        options.subgroup_size ? options.subgroup_size : info().limits.default_subgroup_size;
    if (const auto schedule = option_value(options.extra, "schedule")) {
      constexpr std::string_view random = "random:";
      if (*schedule == "reverse") kernel->options.schedule = interp::Schedule::Reverse;
      if (schedule->starts_with(random)) {
        kernel->options.schedule = interp::Schedule::Random;
        std::from_chars(schedule->data() + random.size(), schedule->data() + schedule->size(),
                        kernel->options.seed);
      }
    }
    const auto size = interp::subgroup_size(*program, kernel->options);
    if (!size) return size.errors();
    kernel->subgroup_size = *size;
    return std::shared_ptr<CompiledKernel>(std::move(kernel));
  }

  uint64_t working_bytes(const CompiledKernel&, const Program& program,
                         const LaunchShape& shape) override {
    const uint64_t bytes = interp::working_bytes(program, shape);
    return bytes > small_working_bytes ? bytes : 0;
  }

 private:
  bool launch(const DeviceLaunch& c, const IdMap<BufferId, std::byte*>& buffers,
              const Surroundings& around) override {
    const Program& p = *c.program;
    interp::Options options = static_cast<const InterpKernel&>(*c.kernel).options;
    if (around.deadline) options.time_limit = seconds_left(*around.deadline);
    options.progress = around.progress;  // at most twenty times a second
    if (c.working_limit > 0) options.memory_limit = std::max(c.working_limit, small_working_bytes);
    IdMap<BufferId, interp::View> views(p.buffers.size());
    for (const BufferId i : p.buffers.ids()) {
      if (!is_parameter(p.buffers[i].role) || p.buffers[i].role == Role::Scalar) continue;
      views[i] = {buffers[i], c.shape.counts[i], c.shape.counts[i] * size_of(p.buffers[i].element),
                  0};
    }
    interp::Clock clock(options);
    interp::Memory budget(options);
    interp::TimedOut stopped;
    const Result<uint64_t> r = interp::launch_kernel(p, c.shape, std::move(views), c.scalars,
                                                     options, clock, budget, &stopped);
    if (r) return true;
    if (stopped.is_set) {  // the driver writes the message: it knows the limit of the submission
      around.outcome.kind = SubmissionOutcome::Kind::TimedOut;
      around.outcome.stopped_at = stopped.op;
      return false;
    }
    around.outcome.kind = SubmissionOutcome::Kind::Failed;
    around.outcome.errors = r.errors();
    return false;
  }
};

class InterpBackend : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::string_view summary() const override { return "reference interpreter, one core"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {interp_info()}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    return std::unique_ptr<BackendDevice>(std::make_unique<InterpDevice>());
  }
};

}  // namespace

Backend* interp_backend() {
  static InterpBackend backend;
  return &backend;
}

}  // namespace vyre::driver
