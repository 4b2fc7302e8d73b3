#include "driver/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

namespace vyre::driver {
namespace {

/// Frees what it was given, whatever happens.
class Owner {
 public:
  explicit Owner(Device& device) : device_(device) {}
  ~Owner() {
    device_.finish();
    for (const Buffer& b : buffers_) (void)bool(device_.free(b));
  }
  Result<Buffer> allocate(uint64_t bytes) {
    Result<Buffer> b = device_.allocate(bytes);
    if (b) buffers_.push_back(*b);
    return b;
  }

 private:
  Device& device_;
  std::vector<Buffer> buffers_;
};

uint64_t bits_of(const std::vector<std::byte>& bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min<size_t>(bytes.size(), 8));
  return bits;
}

uint64_t now() { return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count()); }

}  // namespace

Result<RunOutcome> run(Device& device, const Program& p, const LaunchInputs& inputs, const RunOptions& options) {
  RunOutcome out;
  Result<LaunchShape> shape = resolve_launch(p, inputs);
  if (!shape) return shape.errors();
  out.shape = std::move(*shape);
  out.buffers.resize(p.buffers.size());

  uint64_t begin = now();
  Result<Executable> executable = device.compile(p, options.compile);
  if (!executable) return executable.errors();
  out.times.compile = now() - begin;
  out.subgroup_size = executable->subgroup_size();
  out.origin = executable->origin();

  Owner owner(device);
  std::vector<Argument> arguments;
  std::vector<Command> uploads, readbacks;
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const auto& b = p.buffers[i];
    if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
    if (b.role == Role::Scalar) {
      arguments.emplace_back(bits_of(*inputs.data[i]));
      continue;
    }
    const uint64_t bytes = out.shape.counts[i] * size_of(b.element);
    Result<Buffer> made = owner.allocate(bytes);
    if (!made) return made.errors();
    arguments.emplace_back(*made);
    if (is_host_input(b.role)) uploads.push_back(Upload{*made, *inputs.data[i]});
    if (!is_host_output(b.role)) continue;
    try {
      out.buffers[i].resize(bytes);
    } catch (const std::exception&) {
      return diagnose(Code::OutOfMemory, {}, fmt::format("out of memory: the output `{}` needs {} bytes", b.name, bytes)).with_fix("give smaller lengths");
    }
    readbacks.push_back(Readback{*made, out.buffers[i]});
  }
  out.device_bytes = device.memory_used();

  const auto submit = [&](std::vector<Command> commands, uint64_t* wall, double time_limit = 0) -> Result<SubmitReport> {
    SubmitOptions o;
    o.time_limit = time_limit;
    o.output_limit = options.output_limit;
    const uint64_t start = now();
    Result<Ticket> t = device.submit(std::move(commands), o);
    if (!t) return t.errors();
    Result<SubmitReport> r = t->wait();
    if (wall && *wall == 0) *wall = now() - start;
    return r;
  };
  for (uint32_t i = 0; i < std::max(1u, options.repeat); ++i) {
    Result<SubmitReport> up = submit(uploads, &out.times.upload);
    if (!up) return up.errors();
    out.uploaded = up->uploaded;
    Launch launch;
    launch.executable = *executable;
    launch.arguments = arguments;
    launch.grid = inputs.grid;
    Result<SubmitReport> ran = submit({launch}, &out.times.run, options.time_limit);
    if (!ran) return ran.errors();
    out.device_ns.push_back(ran->run_ns);
  }
  Result<SubmitReport> down = submit(readbacks, &out.times.readback);
  if (!down) return down.errors();
  out.read_back = down->read_back;
  return out;
}

}  // namespace vyre::driver
