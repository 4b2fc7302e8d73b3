#include "runtime/cuda/cuda_util.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "codegen/ptx/ptx_abi.h"
#include "interp/launch_kernel.h"
#include "interp/wording.h"
#include "plan/split/split_grid.h"
#include "runtime/cuda/cuda_kernel.h"

namespace vyre::driver {
namespace {

using emit_ptx::ControlBlock;

/// The program and options that a PTX text was emitted from.
struct Source {
  Program program;
  uint32_t subgroup_size = 0;
  emit_ptx::Grid grid = emit_ptx::Grid::Direct;
};

struct Sources {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Source>> by_text;
};

Sources& sources() {
  static Sources all;
  return all;
}

void remember(const Program& program, const emit_ptx::EmitOptions& options,
              const std::string& text) {
  const std::lock_guard lock(sources().mutex);
  const uint32_t size = program.subgroup ? program.subgroup : options.subgroup_size;
  sources().by_text[text] = std::make_shared<Source>(Source{program, size, options.grid});
}

template <class T>
T read(const fake_cuda::Launch& l, size_t offset) {
  T value;
  std::memcpy(&value, l.parameters + offset, sizeof value);
  return value;
}

/// A launch, as the interpreter wants it.
struct Call {
  LaunchShape shape;
  IdMap<BufferId, interp::View> views;
  IdMap<BufferId, uint64_t> scalars;
};

Call call_of(const Program& p, const fake_cuda::Launch& l) {
  Call c;
  const size_t n = p.buffers.size();
  c.shape.counts.assign(n, 0);
  c.views.resize(n);
  c.scalars.assign(n, 0);
  for (size_t d = 0; d < 3; ++d) {
    c.shape.num_workgroups[d] = read<uint32_t>(l, emit_ptx::num_workgroups_offset + d * 4);
    c.shape.invocations_wanted[d] = c.shape.num_workgroups[d] * p.workgroup[d];
  }
  size_t at = emit_ptx::first_parameter_offset;
  for (const BufferId i : p.buffers.ids()) {
    const auto& b = p.buffers[i];
    if (!is_parameter(b.role)) {
      p.formulas.is_constant(b.count, &c.shape.counts[i]);
    } else if (b.role == Role::Scalar) {
      c.scalars[i] = read<uint64_t>(l, at);
      at += 8;
    } else {
      const uint64_t count = c.shape.counts[i] = read<uint64_t>(l, at + 8);
      c.views[i] = {reinterpret_cast<std::byte*>(read<uint64_t>(l, at)), count,
                    count * size_of(b.element), 0};
      at += 16;
    }
  }
  return c;
}

/// True if the launch is as the text of the kernel requires.
bool is_fit(const Source& source, const fake_cuda::Launch& l, const LaunchShape& shape) {
  const Program& p = source.program;
  for (size_t d = 0; d < 3; ++d)
    if (l.block[d] != p.workgroup[d]) return false;
  if (plan::has_grid_barrier(p) != l.cooperative) return false;
  if (source.grid == emit_ptx::Grid::Linear)
    return uint64_t{l.grid[0]} * l.grid[1] * l.grid[2] >= shape.workgroups();
  if (l.grid[0] > shape.num_workgroups[0]) return false;  // fewer: it is coarse
  return l.grid[1] == shape.num_workgroups[1] && l.grid[2] == shape.num_workgroups[2];
}

/// Replaces num_workgroups.x by `n`: a coarsened launch runs fewer workgroups than the program
/// sees.
Program knowing_workgroups(Program p, uint64_t n) {
  for (Op& o : p.ops)
    if (o.code == Opcode::NumWorkgroups && o.attr == 0) {
      o.code = Opcode::Const;
      o.type = Type::U32;
      o.attr = n;
    }
  return p;
}

/// The op that a trap's words are about: the interpreter gives words only.
OpId trapping_op(const Program& p, const Diagnostic& d, uint32_t code,
                 const std::array<uint32_t, 3>& id) {
  OpId found = none;
  walk(p, [&](OpId op) {
    const Diagnostic same = interp::trapped(p, code, id, op);
    if (found == none && same.op == d.op && same.place.line == d.place.line &&
        same.place.column == d.place.column)
      found = op;
  });
  return found == none ? OpId(0) : found;
}

void write_trap(const Program& p, const Diagnostic& d, ControlBlock& control) {
  uint32_t code = 0;
  std::array<uint32_t, 3> id = {0, 0, 0};
  const size_t at = d.message.find("trapped with code ");
  if (at == d.message.npos ||
      std::sscanf(d.message.c_str() + at, "trapped with code %u in invocation (%u, %u, %u)", &code,
                  &id[0], &id[1], &id[2]) != 4) {
    ADD_FAILURE() << d.message;
    return;
  }
  control.lowest = control.trapped = 1;  // the backend only asks whether it is set
  control.x = id[0];
  control.y = id[1];
  control.z = id[2];
  control.code = code;
  control.op = trapping_op(p, d, code, id).value();
}

std::atomic<unsigned> last_grid_x = 0;

/// Runs a launch with the interpreter, on the fake's memory. Kernels poll the stop flag; the
/// interpreter has a time limit instead. A launch that exceeds it starts again with a longer one,
/// until it ends or the flag is set.
bool execute_now(const fake_cuda::Launch& l) {
  last_grid_x = l.grid[0];
  std::shared_ptr<const Source> source;
  {
    const std::lock_guard lock(sources().mutex);
    const auto it = sources().by_text.find(l.text);
    if (it == sources().by_text.end()) {
      ADD_FAILURE() << "a launch of a text that nobody has written";
      return false;
    }
    source = it->second;
  }
  Program p = source->program;
  Call call = call_of(p, l);
  if (!is_fit(*source, l, call.shape)) {
    ADD_FAILURE() << "`" << p.name << "` was not launched as its text wants it";
    return false;
  }
  uint64_t& n = call.shape.num_workgroups[0];
  if (source->grid == emit_ptx::Grid::Direct && l.grid[0] < n) {
    p = knowing_workgroups(std::move(p), n);
    n = l.grid[0];
  }
  auto* const control =
      reinterpret_cast<ControlBlock*>(read<uint64_t>(l, emit_ptx::control_offset));
  auto* const stop =
      reinterpret_cast<std::atomic<uint32_t>*>(read<uint64_t>(l, emit_ptx::stop_offset));
  IdMap<BufferId, std::vector<std::byte>> before;
  for (const interp::View& v : call.views) before.emplace_back(v.base, v.base + v.bytes);
  interp::Options options;
  options.subgroup_size = source->subgroup_size;
  for (options.time_limit = 0.2;; options.time_limit *= 2) {
    interp::Clock clock(options);
    interp::Memory memory(options);
    interp::TimedOut stopped;
    const Result<uint64_t> r = interp::launch_kernel(p, call.shape, call.views, call.scalars,
                                                     options, clock, memory, &stopped);
    if (r) return true;
    if (!stopped.is_set) {
      write_trap(p, r.errors()[0], *control);
      return true;
    }
    if (stop && *stop) {
      control->stopped_at = 1 + (stopped.op == none ? 0 : stopped.op.value());
      return true;
    }
    if (l.error) return false;
    for (const BufferId i : before.ids())
      if (!before[i].empty()) std::memcpy(call.views[i].base, before[i].data(), before[i].size());
  }
}

}  // namespace

bool execute(const fake_cuda::Launch& l) { return execute_now(l); }

unsigned last_grid() { return last_grid_x; }

std::string fake_library(int version) {
  static std::map<int, std::string> dots;  // "/./././"
  std::string& own = dots[version];
  for (size_t i = own.empty() ? dots.size() : 0; i > 0; --i) own += "./";
  return std::string(VYRE_BIN_DIR) + "/../lib/" + own + "libfake_cuda.so";
}

FakeGpu::FakeGpu(const fake_cuda::Config& config) {
  const std::string path = fake_library(config.driver_version);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    ADD_FAILURE() << dlerror();
    std::abort();
  }
  control_ =
      reinterpret_cast<fake_cuda::ControlFunction>(dlsym(library, fake_cuda::control_symbol))();
  control_->reset(config);
  control_->set_executor(execute);
  cuda::text_observer_for_test = remember;
  setenv("VYRE_CUDA_LIBRARY", path.c_str(), 1);
}

FakeGpu::~FakeGpu() {
  if (!forgives_) {
    EXPECT_EQ(control_->objects(), 0u) << "something was not given back";
  }
  unsetenv("VYRE_CUDA_LIBRARY");
  cuda::text_observer_for_test = nullptr;
  control_->reset({});
}

Result<Device> FakeGpu::try_open(OpenOptions options, uint32_t index) {
  options.use_cache = options.cache != nullptr;
  std::string why;
  Backend* const backend = cuda_backend(&why);
  EXPECT_TRUE(backend) << why;
  return Device::open(*backend, index, options);
}

Device FakeGpu::open(OpenOptions options, uint32_t index) {
  Result<Device> device = try_open(std::move(options), index);
  EXPECT_TRUE(device) << device.errors()[0].message;
  return *device;
}

}  // namespace vyre::driver
