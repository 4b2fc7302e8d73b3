#include "runtime/vulkan/vulkan_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vyre::driver::vulkan {
namespace {

Listing listing_of(std::string_view text) {
  Listing listing;
  listing.language = "SPIR-V";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    listing.add(std::string(text.substr(0, end)), {});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return listing;
}

}  // namespace

VulkanDevice::VulkanDevice(std::shared_ptr<Context> context, DeviceInfo info)
    : profile(context->physical.reported),
      c_(std::move(context)),
      info_(std::move(info)),
      device_memory_(*c_, MemoryKind::Device, uint64_t{64} << 20),
      host_memory_(*c_, MemoryKind::Host, uint64_t{16} << 20),
      parameter_memory_(*c_, MemoryKind::Parameters, uint64_t{1} << 20),
      memory_(1) {}

VulkanDevice::~VulkanDevice() {
  stop();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  deadlines_changed_.notify_all();
  progressed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  for (auto& [number, s] : streams_)
    if (s.driver.joinable()) s.driver.join();
  c_->wait_idle();
  jobs_.clear();
  kept_.clear();
  free_frames_.clear();
  for (auto& [number, s] : streams_) c_->vk.vkDestroySemaphore(c_->device, s.semaphore, nullptr);
}

// ---- Memory.

Result<MemoryHandle> VulkanDevice::allocate(uint64_t bytes) {
  if (c_->is_lost()) return c_->lost_diagnostic("taking memory");
  const std::lock_guard lock(mutex_);
  Result<Piece> piece = device_memory_.take(bytes);
  if (!piece) return piece.errors();
  if (free_memory_.empty()) {
    free_memory_.push_back(uint32_t(memory_.size()));
    memory_.emplace_back();
  }
  const uint32_t index = free_memory_.back();
  free_memory_.pop_back();
  Memory& m = memory_[index];
  // A handle is never reused: cached sequences identify their memory by it.
  m = {*piece, bytes, m.generation + 1};
  const MemoryHandle h = uint64_t{m.generation} << 32 | index;
  unclear_.push_back(h);
  return h;
}

void VulkanDevice::release(MemoryHandle h) {
  const std::lock_guard lock(mutex_);
  std::erase(unclear_, h);
  Memory& m = memory_[uint32_t(h)];
  device_memory_.give_back(m.piece);
  m.piece = {};
  free_memory_.push_back(uint32_t(h));
}

// ---- Kernels.

Result<emit_spirv::EmitOptions> VulkanDevice::options_for(const CompileOptions& options) const {
  emit_spirv::EmitOptions o;
  o.profile = profile;
  o.subgroup_size = options.subgroup_size;
  o.stoppable = options.stoppable;
  o.unroll = !c_->physical.is_cpu();
  if (const auto n = option_number(options.extra, "unroll")) o.unroll = *n != 0;
  if (const auto n = option_number(options.extra, "functions")) o.functions = *n != 0;
  if (const auto text = option_value(options.extra, "profile")) {
    Result<emit_exact::Profile> forced = force_profile(*text, profile, c_->physical);
    if (!forced) return forced.errors();
    o.profile = *forced;
  }
  return o;
}

Result<std::shared_ptr<CompiledKernel>> VulkanDevice::compile(
    std::shared_ptr<const Program> program, const CompileOptions& options) {
  const Result<emit_spirv::EmitOptions> emit = options_for(options);
  if (!emit) return emit.errors();
  if (auto d = inexact_op(*program)) return *d;
  const auto begin = Steady::now();
  Result<std::shared_ptr<VulkanKernel>> kernel = compile_kernel(c_, *program, *emit);
  if (!kernel) return kernel.errors();
  (*kernel)->compile_ns = uint64_t(std::chrono::nanoseconds(Steady::now() - begin).count());
  return std::shared_ptr<CompiledKernel>(std::move(*kernel));
}

std::optional<Diagnostic> VulkanDevice::inexact_op(const Program& program) const {
  if (inexact.empty()) return std::nullopt;
  for (const OpId i : program.ops.ids()) {
    const auto it = inexact.find(op_key(program, i));
    if (it == inexact.end()) continue;
    return diagnose(Code::NotExact, program.place(program.ops[i].loc),
                    fmt::format("kernel `{}` uses `{}`, which {} does not compute exactly",
                                program.name, it->first, info_.name))
        .note("the self-test of the device found: " + it->second)
        .with_fix("use another device");
  }
  return std::nullopt;
}

bool VulkanDevice::takes_coarse(const CompileOptions& options, const LaunchShape& shape) {
  const Result<emit_spirv::EmitOptions> emit = options_for(options);
  return emit && fits_grid(c_->physical, emit->profile, shape.num_workgroups);
}

std::shared_ptr<CompiledKernel> VulkanDevice::load_kernel(std::shared_ptr<const Program> program,
                                                          const CompileOptions& options,
                                                          std::span<const std::byte> bytes) {
  const Result<emit_spirv::EmitOptions> emit = options_for(options);
  return emit ? vulkan::load_kernel(c_, *program, *emit, bytes) : nullptr;
}

Result<std::optional<Listing>> VulkanDevice::list_code(const Program& program,
                                                       const CompileOptions& options) {
  Result<emit_spirv::EmitOptions> emit = options_for(options);
  if (!emit) return emit.errors();
  emit->debug = true;
  const Result<emit_spirv::Kernel> kernel = emit_spirv::emit(program, *emit);
  if (!kernel) return kernel.errors();
  const Result<std::string> text = emit_spirv::disassemble(kernel->words);
  if (!text) return text.errors();
  return std::optional<Listing>(listing_of(*text));
}

}  // namespace vyre::driver::vulkan
