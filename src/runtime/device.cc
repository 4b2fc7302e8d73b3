#include "runtime/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "interp/launch_kernel.h"
#include "opt/pipeline.h"
#include "runtime/cache/cache.h"
#include "runtime/device_state.h"
#include "runtime/registry.h"
#include "support/bytes_text.h"

namespace vyre::driver {
namespace {

std::atomic<uint32_t> next_device{1};

/// Returns the passes that this device's compiles run unless they specify others; unset: selection
/// decides.
Result<std::optional<std::vector<const opt::PassDescriptor*>>> standing_passes(
    const OpenOptions& options) {
  using Passes = std::optional<std::vector<const opt::PassDescriptor*>>;
  const char* variable = options.passes.empty() ? std::getenv("VYRE_PASSES") : nullptr;
  const std::string list = variable ? variable : options.passes;
  if (list.empty()) return Passes();
  auto passes = opt::parse_passes(list);
  if (passes) return Passes(std::move(*passes));
  if (variable)
    for (Diagnostic& d : passes.errors()) d.note("the environment variable VYRE_PASSES names it");
  return std::move(passes.errors());
}

}  // namespace

// ---- Handles.

const ExecutableState& Executable::get() const {
  static const ExecutableState empty = [] {
    ExecutableState e;
    e.given = e.program = std::make_shared<const Program>();
    return e;
  }();
  return state_ ? *state_ : empty;
}
const Program& Executable::program() const { return *get().given; }
const Program& Executable::optimized() const { return *get().program; }
const opt::RunReport& Executable::optimizer() const { return get().optimizer; }
uint64_t Executable::optimize_ns() const { return get().optimize_ns; }
uint64_t Executable::emit_ns() const { return get().emit_ns; }
uint32_t Executable::subgroup_size() const { return get().subgroup_size; }
std::string_view Executable::origin() const { return get().origin; }
uint64_t Executable::compile_ns() const { return get().compile_ns; }
size_t Executable::segments() const { return get().segments.size(); }
uint32_t Executable::coarse() const { return get().coarse; }
const plan::SplitPlan* Executable::plan() const { return get().plan.get(); }

bool Ticket::is_done() const { return !state_ || device_->is_done(*state_); }
double Ticket::progress() const { return state_ ? device_->progress(*state_) : 0; }

Result<SubmitReport> Ticket::wait() const try {
  if (!state_) return empty_handle("the ticket", "use the ticket that submit() returned");
  device_->settle(state_);
  const std::lock_guard lock(state_->mutex);
  if (state_->out_of_memory) return interp::out_of_memory("the end of a submission");
  if (!state_->errors.empty()) return state_->errors;
  if (!std::exchange(state_->delivered, true))
    for (const TicketState::Out& out : state_->readbacks) {
      if (out.all)
        *out.all = std::move(*out.staging);
      else if (!out.to.empty())
        std::memcpy(out.to.data(), out.staging->data(), out.to.size());
    }
  return state_->report;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("the end of a submission");
}

// ---- Devices.

Result<Device> Device::open(std::string_view name, const OpenOptions& options) try {
  const Result<Choice> choice = choose(name);
  if (!choice) return choice.errors();
  return open(*choice, options);
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a device");
}

Result<Device> Device::open(const Choice& choice, const OpenOptions& options) try {
  if (!choice.backend) return empty_handle("the choice of a device", "use what choose() returned");
  const auto open_one = [&](const Choice& c) {
    OpenOptions own = options;
    if (choice.name.split) {
      own.split_grid_barriers = true;
      own.native_grid_barriers = false;
    }
    own.split_grid_barriers |= c.split_grid_barriers && !own.native_grid_barriers;
    Result<Device> opened = open(*c.backend, c.index, own);
    if (opened && c.is_named && !own.split_grid_barriers && !own.native_grid_barriers)
      opened->state_->calibrates_barriers = c.backend;
    return opened;
  };
  Result<Device> device = open_one(choice);
  std::string why = choice.why;
  const Choice* tried = &choice;
  for (const Choice& next : choice.others) {
    if (device) break;
    why = fmt::format("{}:{} cannot be opened ({}); before: {}", tried->backend->name(),
                      tried->index, device.errors()[0].message, why);
    device = open_one(next);
    tried = &next;
  }
  if (!device) return device;
  device->state_->chosen_because = std::move(why);
  device->state_->standing.subgroup_size = choice.name.subgroup_size;
  device->state_->standing.extra = choice.name.extra;
  return device;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a device");
}

Result<Device> Device::open(Backend& backend, uint32_t index, const OpenOptions& options) try {
  auto passes = standing_passes(options);
  if (!passes) return passes.errors();
  Result<std::unique_ptr<BackendDevice>> opened = backend.open(index);
  if (!opened) return opened.errors();
  Device d;
  d.state_ = std::make_shared<DeviceState>();
  d.state_->id = next_device++;
  d.state_->backend = std::move(*opened);
  d.state_->options = options;
  d.state_->passes = std::move(*passes);
  if (!options.use_cache)
    d.state_->options.cache = nullptr;
  else if (!options.cache)
    d.state_->options.cache = &CompileCache::shared();
  return d;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a device");
}

Diagnostic empty_handle(std::string_view what, std::string fix) {
  return diagnose(Code::EmptyHandle, {}, fmt::format("{} is empty", what)).with_fix(std::move(fix));
}

Result<> Device::require_open() const {
  if (state_) return Ok{};
  return empty_handle("the device", "use a device that Device::open() returned");
}

const DeviceInfo& Device::info() const {
  static const DeviceInfo empty;
  return state_ ? state_->backend->info() : empty;
}
bool Device::has_telemetry() const { return state_ && state_->options.telemetry; }
const std::string& Device::chosen_because() const {
  static const std::string empty;
  return state_ ? state_->chosen_because : empty;
}

// ---- Memory.

/// Allocates memory. Called with the mutex held.
Result<MemoryHandle> DeviceState::take(uint64_t bytes, const std::string& what) {
  if (bytes > limit() - std::min(used, limit()))
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("{} needs {}; {} of {} are in use on {}", what, exact_bytes(bytes),
                                exact_bytes(used, false), exact_bytes(limit(), false),
                                backend->info().name))
        .with_fix("free buffers, ask for less, or raise the memory limit");
  Result<MemoryHandle> memory = backend->allocate(bytes);
  if (memory) peak = std::max(peak, used += bytes);
  return memory;
}

Result<Buffer> DeviceState::allocate(uint64_t bytes, bool of_graph) {
  free_retired();
  const std::lock_guard lock(mutex);
  if (bytes > backend->info().limits.buffer_bytes)
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("a buffer of {}; {} allows {} in one buffer", exact_bytes(bytes),
                                backend->info().name,
                                exact_bytes(backend->info().limits.buffer_bytes, false)))
        .with_fix("split the data into several buffers");
  if (free_slots.empty()) {
    slots.emplace_back();
    try {
      free_slots.reserve(slots.capacity());  // so that give_back() allocates nothing
    } catch (const std::bad_alloc&) {
      slots.pop_back();
      throw;
    }
    free_slots.push_back(uint32_t(slots.size() - 1));
  }
  const Result<MemoryHandle> memory = take(bytes, fmt::format("a buffer of {} bytes", bytes));
  if (!memory) return memory.errors();
  const uint32_t slot = free_slots.back();
  free_slots.pop_back();
  Slot& made = slots[slot];
  made.memory = *memory;
  made.bytes = bytes;
  made.alive = true;
  made.undefined = false;
  made.of_graph = of_graph;
  return Buffer{id, slot, made.generation, bytes};
}

Result<Buffer> Device::allocate(uint64_t bytes) try {
  if (Result<> open = require_open(); !open) return open.errors();
  return state_->allocate(bytes, false);
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a buffer");
}

Result<Buffer> Device::allocate(Type element, uint64_t count) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, uint64_t{size_of(element)}, &bytes))
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("a buffer of {} elements of {}", count, name(element)))
        .with_fix("allocate fewer elements");
  Result<Buffer> made = allocate(bytes);
  if (made) made->element = element;
  return made;
}

std::optional<Diagnostic> DeviceState::problem(const Executable& e) const {
  if (!e.state())
    return empty_handle("the executable", "compile the program with Device::compile()");
  if (e.state()->device == id) return std::nullopt;
  return diagnose(Code::ForeignBuffer, {},
                  fmt::format("the executable of `{}` belongs to device {}, this is device {}",
                              e.optimized().name, e.state()->device, id))
      .with_fix("compile the program on this device");
}

std::optional<Diagnostic> DeviceState::problem(const Buffer& b, bool must_be_defined) {
  if (b.device != id)
    return diagnose(Code::ForeignBuffer, {},
                    fmt::format("the buffer belongs to device {}, this is device {}", b.device, id))
        .with_fix("upload the data to this device");
  if (b.slot >= slots.size() || !slots[b.slot].alive || slots[b.slot].generation != b.generation)
    return diagnose(Code::StaleBuffer, {}, fmt::format("the buffer of {} bytes was freed", b.bytes))
        .with_fix("allocate a buffer and use its handle");
  if (slots[b.slot].of_graph)
    return diagnose(Code::StaleBuffer, {},
                    fmt::format("the buffer of {} bytes belongs to a graph", b.bytes))
        .with_fix("pass a handle that allocate() returned");
  if (b.bytes != slots[b.slot].bytes)
    return diagnose(Code::RangeOutside, {},
                    fmt::format("the handle says {} bytes; its buffer has {}", b.bytes,
                                slots[b.slot].bytes))
        .with_fix("pass the handle as allocate() returned it");
  if (must_be_defined && slots[b.slot].undefined)
    return diagnose(
               Code::UndefinedBuffer, {},
               fmt::format("the buffer of {} bytes is undefined: a launch that writes it failed",
                           b.bytes))
        .with_fix("upload or fill the whole buffer first");
  return std::nullopt;
}

void DeviceState::give_back(const Buffer& b) {
  Slot& slot = slots[b.slot];
  backend->release(slot.memory);
  used -= slot.bytes;
  const uint32_t generation = slot.generation + 1;
  slot = Slot{};
  slot.generation = generation;
  if (generation != 0) free_slots.push_back(b.slot);  // else its first handles would be valid again
}

void DeviceState::free_retired() {
  std::list<std::vector<Buffer>> gone;
  {
    const std::lock_guard lock(retired->mutex);
    gone.swap(retired->buffers);
  }
  const std::lock_guard lock(mutex);
  for (const std::vector<Buffer>& of_graph : gone)
    for (const Buffer& b : of_graph) give_back(b);
}

Result<> Device::free(Buffer b) try {
  if (Result<> open = require_open(); !open) return open;
  DeviceState& s = *state_;
  s.reap();  // releases the buffers of ended submissions
  const std::lock_guard lock(s.mutex);
  if (auto d = s.problem(b, false)) return *d;
  const Slot& slot = s.slots[b.slot];
  if (slot.users > 0)
    return diagnose(Code::BufferInUse, {},
                    fmt::format("the buffer of {} bytes is used by {} submission{} under way",
                                b.bytes, slot.users, slot.users == 1 ? "" : "s"))
        .with_fix("wait for their tickets first");
  s.give_back(b);
  return Ok{};
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("giving back a buffer");
}

uint64_t Device::memory_used() const {
  if (!state_) return 0;
  state_->free_retired();
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

uint64_t Device::memory_peak() const {
  if (!state_) return 0;
  const std::lock_guard lock(state_->mutex);
  return state_->peak;
}

bool Device::is_undefined(Buffer b) const {
  if (!state_) return false;
  const std::lock_guard lock(state_->mutex);
  return state_->problem(b, false) == std::nullopt && state_->slots[b.slot].undefined;
}

void Device::finish() {
  if (state_) state_->finish();
}

}  // namespace vyre::driver
