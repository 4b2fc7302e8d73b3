#include "driver/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "driver/device_state.h"
#include "driver/registry.h"
#include "ir/stats.h"

namespace vyre::driver {
namespace {

std::atomic<uint32_t> next_device{1};

uint64_t since(std::chrono::steady_clock::time_point begin) {
  return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

Diagnostic too_large(const Program& p, std::string message) {
  return diagnose(Code::KernelTooLarge, p.place(p.loc), std::move(message)).with_fix("use a smaller kernel, or another device");
}

/// The program against the device's limits, all of them.
Diagnostics misfits(const Program& p, const DeviceInfo& info, const CompileOptions& options) {
  Diagnostics d;
  const DeviceLimits& l = info.limits;
  const uint64_t invocations = uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2];
  if (invocations > l.workgroup_invocations)
    d.push_back(too_large(p, fmt::format("kernel `{}` has workgroups of {} invocations; {} allows {}", p.name, invocations, info.name, l.workgroup_invocations)));
  if (const uint64_t shared = stats(p).shared_bytes; shared > l.shared_bytes)
    d.push_back(too_large(p, fmt::format("kernel `{}` has {} bytes of shared memory; {} has {}", p.name, shared, info.name, l.shared_bytes)));
  const uint32_t subgroup = p.subgroup ? p.subgroup : options.subgroup_size;
  if (subgroup && std::find(l.subgroup_sizes.begin(), l.subgroup_sizes.end(), subgroup) == l.subgroup_sizes.end())
    d.push_back(too_large(p, fmt::format("kernel `{}` needs subgroups of {}; {} has {}", p.name, subgroup, info.name, fmt::join(l.subgroup_sizes, ", "))));
  if (p.requires_forward_progress && !l.forward_progress)
    d.push_back(diagnose(Code::NeedsForwardProgress, p.place(p.loc), fmt::format("kernel `{}` requires forward progress; {} does not promise it", p.name, info.name))
                    .with_fix("use another device, or a grid barrier instead of waiting"));
  return d;
}

}  // namespace

// ---- Handles.

const Program& Executable::program() const { return *state_->program; }
uint32_t Executable::subgroup_size() const { return state_->kernel->subgroup_size; }
std::string_view Executable::origin() const { return state_->origin; }
uint64_t Executable::compile_ns() const { return state_->compile_ns; }
size_t Executable::segments() const { return 1; }

bool Ticket::is_done() const {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->finished) return true;
  }
  return device_->backend->is_done(state_->handle);
}

Result<SubmitReport> Ticket::wait() const {
  device_->settle(*state_);
  const std::lock_guard lock(state_->mutex);
  if (!state_->errors.empty()) return state_->errors;
  for (const TicketState::Out& out : state_->readbacks)
    if (!state_->delivered && !out.to.empty()) std::memcpy(out.to.data(), out.staging->data(), out.to.size());
  state_->delivered = true;
  return state_->report;
}

// ---- Devices.

Result<Device> Device::open(std::string_view name, const OpenOptions& options) {
  Result<Choice> choice = choose(name);
  if (!choice) return choice.errors();
  Result<Device> device = open(*choice->backend, choice->index, options);
  if (device) device->state_->chosen_because = choice->why;
  return device;
}

Result<Device> Device::open(Backend& backend, uint32_t index, const OpenOptions& options) {
  Result<std::unique_ptr<BackendDevice>> opened = backend.open(index);
  if (!opened) return opened.errors();
  Device d;
  d.state_ = std::make_shared<DeviceState>();
  d.state_->id = next_device++;
  d.state_->backend = std::move(*opened);
  d.state_->options = options;
  return d;
}

const DeviceInfo& Device::info() const { return state_->backend->info(); }
const std::string& Device::chosen_because() const { return state_->chosen_because; }

// ---- Memory.

/// Called with the mutex held.
Result<MemoryHandle> DeviceState::take(uint64_t bytes, const std::string& what) {
  if (bytes > limit() - std::min(used, limit()))
    return diagnose(Code::DeviceMemoryExceeded, {}, fmt::format("{} needs {} bytes; {} of {} are in use on {}", what, bytes, used, limit(), backend->info().name))
        .with_fix("free buffers, ask for less, or raise the memory limit");
  Result<MemoryHandle> memory = backend->allocate(bytes);
  if (memory) used += bytes;
  return memory;
}

Result<Buffer> Device::allocate(uint64_t bytes) {
  DeviceState& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (bytes > s.backend->info().limits.buffer_bytes)
    return diagnose(Code::DeviceMemoryExceeded, {}, fmt::format("a buffer of {} bytes; {} allows {} in one buffer", bytes, s.backend->info().name, s.backend->info().limits.buffer_bytes))
        .with_fix("split the data into several buffers");
  const Result<MemoryHandle> memory = s.take(bytes, fmt::format("a buffer of {} bytes", bytes));
  if (!memory) return memory.errors();
  if (s.free_slots.empty()) {
    s.free_slots.push_back(uint32_t(s.slots.size()));
    s.slots.emplace_back();
  }
  const uint32_t slot = s.free_slots.back();
  s.free_slots.pop_back();
  Slot& made = s.slots[slot];
  made.memory = *memory;
  made.bytes = bytes;
  made.alive = true;
  made.undefined = false;
  return Buffer{s.id, slot, made.generation, bytes};
}

std::optional<Diagnostic> DeviceState::problem(const Buffer& b, bool must_be_defined) {
  if (b.device != id)
    return diagnose(Code::ForeignBuffer, {}, fmt::format("the buffer belongs to device {}, this is device {}", b.device, id)).with_fix("upload the data to this device");
  if (b.slot >= slots.size() || !slots[b.slot].alive || slots[b.slot].generation != b.generation)
    return diagnose(Code::StaleBuffer, {}, fmt::format("the buffer of {} bytes was freed", b.bytes)).with_fix("allocate a buffer and use its handle");
  if (must_be_defined && slots[b.slot].undefined)
    return diagnose(Code::UndefinedBuffer, {}, fmt::format("the buffer of {} bytes is undefined: a launch that writes it failed", b.bytes)).with_fix("upload or fill the whole buffer first");
  return std::nullopt;
}

Result<> Device::free(Buffer b) {
  DeviceState& s = *state_;
  s.reap();  // what has ended uses nothing any more, waited for or not
  const std::lock_guard lock(s.mutex);
  if (auto d = s.problem(b, false)) return *d;
  Slot& slot = s.slots[b.slot];
  if (slot.users > 0)
    return diagnose(Code::BufferInUse, {}, fmt::format("the buffer of {} bytes is used by {} submission{} under way", b.bytes, slot.users, slot.users == 1 ? "" : "s"))
        .with_fix("wait for their tickets first");
  s.backend->release(slot.memory);
  s.used -= slot.bytes;
  const uint32_t generation = slot.generation + 1;
  slot = Slot{};
  slot.generation = generation;
  s.free_slots.push_back(b.slot);
  return Ok{};
}

uint64_t Device::memory_used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

bool Device::is_undefined(Buffer b) const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem(b, false) == std::nullopt && state_->slots[b.slot].undefined;
}

// ---- Executables.

Result<Executable> Device::compile(const Program& program, const CompileOptions& options) {
  Diagnostics wrong = misfits(program, info(), options);
  if (!wrong.empty()) return wrong;
  const auto begin = std::chrono::steady_clock::now();
  auto made = std::make_shared<ExecutableState>();
  made->device = state_->id;
  made->program = std::make_shared<Program>(program);
  Result<std::shared_ptr<CompiledKernel>> kernel = state_->backend->compile(made->program, options);
  if (!kernel) return kernel.errors();
  made->kernel = std::move(*kernel);
  made->compile_ns = since(begin);
  Executable e;
  e.state_ = std::move(made);
  return e;
}

void Device::finish() {
  std::vector<std::shared_ptr<TicketState>> pending;
  {
    const std::lock_guard lock(state_->mutex);
    pending = state_->pending;
  }
  for (const auto& t : pending) state_->settle(*t);
}

}  // namespace vyre::driver
