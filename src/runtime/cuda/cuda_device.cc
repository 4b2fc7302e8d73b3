// Opening and closing, memory, code.

#include "runtime/cuda/cuda_device.h"

#include <fmt/format.h>

namespace vyre::driver::cuda {

CudaDevice::CudaDevice(std::shared_ptr<Context> context, Properties properties, emit_ptx::Arch arch)
    : context_(std::move(context)),
      properties_(std::move(properties)),
      arch_(arch),
      memory_(context_, properties_.has_pools),
      pinned_(context_),
      flags_(context_, memory_),
      controls_(context_, memory_),
      graphs_({context_, controls_, flags_}) {}

Result<std::unique_ptr<BackendDevice>> CudaDevice::open(const Api& api,
                                                        const Properties& properties) {
  const Result<emit_ptx::Arch> arch = choose_arch(api, properties);
  if (!arch) return arch.errors();
  Result<std::shared_ptr<Context>> context =
      Context::open(api, properties.ordinal, properties.info.name);
  if (!context) return context.errors();
  std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(*context), properties, *arch));
  if (Result<> started = device->start(); !started) return started.errors();
  return std::unique_ptr<BackendDevice>(std::move(device));
}

Result<> CudaDevice::start() { return memory_.start(); }

CudaDevice::~CudaDevice() {
  stop();
  for (const auto& job : jobs_)
    if (job->handle && job->end) await(job->end);
  {
    const Current current(*context_);
    const std::lock_guard lock(mutex_);
    for (const auto& job : jobs_) {
      if (!job->handle) continue;
      inspect(*job);
      recycle(*job);
    }
  }
  graphs_.clear();
  if (!context_->is_lost()) {
    const Current current(*context_);
    for (const auto& [number, s] : streams_) context_->api.stream_destroy(s.handle);
    if (side_stream_) context_->api.stream_destroy(side_stream_);
    for (EventHandle event : made_events_) context_->api.event_destroy(event);
  }
  context_->close_device();
}

void CudaDevice::stop() {
  stopping_ = true;
  flags_.set_all();
}

// ---- Memory. The address is the handle.

Result<MemoryHandle> CudaDevice::allocate(uint64_t bytes) {
  const Result<DevicePointer> memory = memory_.allocate(bytes);
  if (!memory) return memory.errors();
  return MemoryHandle{*memory};
}

void CudaDevice::release(MemoryHandle memory) { memory_.release(memory); }

// ---- Code.

Result<std::shared_ptr<CompiledKernel>> CudaDevice::compile(std::shared_ptr<const Program> program,
                                                            const CompileOptions& options) {
  if (context_->is_lost()) return context_->loss();
  const emit_ptx::EmitOptions emit = emit_options(*program, options, arch_);
  Result<std::shared_ptr<Kernel>> kernel = Kernel::compile(context_, std::move(program), emit);
  if (!kernel) return kernel.errors();
  return std::shared_ptr<CompiledKernel>(std::move(*kernel));
}

std::shared_ptr<CompiledKernel> CudaDevice::load_kernel(std::shared_ptr<const Program> program,
                                                        const CompileOptions& options,
                                                        std::span<const std::byte> bytes) {
  if (context_->is_lost()) return nullptr;
  const emit_ptx::EmitOptions emit = emit_options(*program, options, arch_);
  return Kernel::load(context_, std::move(program), emit, properties_.capability, bytes);
}

bool CudaDevice::has_native_barrier(const Program& program) {
  return emit_ptx::can_wait_for_grid(program);
}

bool CudaDevice::runs_at_once(const CompiledKernel& compiled, const LaunchShape& shape) {
  if (context_->is_lost() || !fits_grid(shape.num_workgroups)) return false;
  // The occupancy query caches its result.
  auto& kernel = const_cast<Kernel&>(static_cast<const Kernel&>(compiled));
  const Result<uint32_t> held = kernel.workgroups_per_multiprocessor();
  return held && shape.workgroups() <= uint64_t{*held} * properties_.multiprocessors;
}

bool CudaDevice::takes_coarse(const CompileOptions&, const LaunchShape& shape) {
  return fits_grid(shape.num_workgroups);
}

Result<std::optional<Listing>> CudaDevice::list_code(const Program& program,
                                                     const CompileOptions& options) {
  Result<Listing> listing = list_ptx(program, emit_options(program, options, arch_));
  if (!listing) return listing.errors();
  return std::optional<Listing>(std::move(*listing));
}

}  // namespace vyre::driver::cuda
