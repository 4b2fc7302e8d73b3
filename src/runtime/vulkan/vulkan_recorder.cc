#include "runtime/vulkan/vulkan_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace vyre::driver::vulkan {
namespace {

constexpr uint32_t most_timestamps = 1 << 15;
constexpr VkPipelineStageFlags work_stages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kernel_accesses = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT;
constexpr VkAccessFlags work_writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags work_accesses =
    kernel_accesses | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT;

Access reads(const Piece& p, uint64_t offset, uint64_t bytes) {
  return {p.address + offset, p.address + offset + bytes, false};
}
Access writes(const Piece& p, uint64_t offset, uint64_t bytes) {
  return {p.address + offset, p.address + offset + bytes, true};
}

uint64_t divide_up(uint64_t n, uint64_t by) { return n / by + (n % by != 0); }

/// Returns X, Y and Z, each at most `most`, with X * Y * Z >= the workgroups of `n` and few to
/// spare; nothing if there are too many workgroups.
std::optional<std::array<uint32_t, 3>> spread(const std::array<uint64_t, 3>& n, uint32_t most) {
  if (n[0] * n[1] > ~uint64_t{0} / n[2]) return std::nullopt;
  const uint64_t all = n[0] * n[1] * n[2], rows = divide_up(all, most);
  const uint64_t z = divide_up(rows, most), y = divide_up(rows, z);
  if (z > most) return std::nullopt;
  return std::array{uint32_t(divide_up(all, y * z)), uint32_t(y), uint32_t(z)};
}

Diagnostic too_many(const Program& p, const std::array<uint64_t, 3>& n, const PhysicalDevice& d) {
  return diagnose(
             Code::KernelTooLarge, p.place(p.loc),
             fmt::format("the grid of `{}` has {} x {} x {} workgroups; {} has at most {} in each "
                         "dimension, and it cannot be folded into them",
                         p.name, n[0], n[1], n[2], d.properties.deviceName,
                         d.reported.most_workgroups))
      .with_fix("let each invocation do several elements");
}

}  // namespace

uint32_t Recorder::timestamps(const Context& c, std::span<const DeviceCommand> commands) {
  if (!c.physical.timestamp_bits || c.physical.properties.limits.timestampPeriod <= 0) return 0;
  if (commands.empty() || !commands[0].measured) return 0;
  return uint32_t(std::min<size_t>(commands.size(), most_timestamps) + 1);
}

void Recorder::barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
                       VkAccessFlags access) {
  auto m = made<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  m.srcAccessMask = written;
  m.dstAccessMask = access;
  c_.vk.vkCmdPipelineBarrier(cb_, from, to, 0, 1, &m, 0, nullptr, 0, nullptr);
}

void Recorder::full_barrier() { barrier(work_stages, work_writes, work_stages, work_accesses); }

void Recorder::put(Barrier b) {
  if (b == Barrier::All) full_barrier();
  if (b == Barrier::Kernels)
    barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kernel_accesses);
}

void Recorder::need(std::span<const Access> accesses, Work work) {
  put(hazards_.add(accesses, work));
}

void Recorder::clear(const Piece& p) {
  const Access a[] = {writes(p, 0, p.bytes)};
  need(a, Work::Transfer);
  c_.vk.vkCmdFillBuffer(cb_, p.buffer, p.offset, p.bytes, 0);
}

/// Writes a timestamp before a command. Consecutive commands that are not timed share one
/// timestamp.
void Recorder::stamp(bool timed, size_t number) {
  if (recorded.timestamps + 1 >= room_) return;  // one is for the end
  if (!timed && open_stretch_ && recorded.timestamps > 0) return;
  c_.vk.vkCmdWriteTimestamp(cb_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, f_.queries,
                            recorded.timestamps++);
  recorded.stamped.push_back(number);
  open_stretch_ = !timed;
}

Result<> Recorder::record(const DeviceCommand& c, size_t number) {
  stamp(c.timed, number);
  return one(c, number, 0);
}

Result<> Recorder::repeat(const DeviceCommand& loop, size_t number, uint64_t rounds) {
  stamp(loop.timed, number);
  for (uint64_t r = 0; r < rounds; ++r)
    for (size_t i = 0; i < loop.body()->size(); ++i)
      if (Result<> done = one(loop.inner(i), number, i); !done) return done;
  return Ok{};
}

Result<> Recorder::record_body(const std::vector<DeviceCommand>& body) {
  for (size_t i = 0; i < body.size(); ++i)
    if (Result<> done = one(body[i], 0, i); !done) return done;
  return end();
}

void Recorder::replay(bool timed, size_t number, Kept& kept) {
  stamp(timed, number);
  put(hazards_.add_unknown());
  for (Recorded::Told t : kept.recorded.told) {
    *t.block = {};
    t.command = number;
    recorded.told.push_back(t);
  }
  for (std::atomic<uint32_t>* word : kept.recorded.stops) {
    word->store(0, std::memory_order_relaxed);
    recorded.stops.push_back(word);
  }
  c_.vk.vkCmdExecuteCommands(cb_, 1, &kept.frame.commands);
  bound_ = VK_NULL_HANDLE;
  pushed_bytes_ = 0;
  tells_host_ = tells_host_ || !kept.recorded.told.empty();
}

Result<> Recorder::one(const DeviceCommand& c, size_t number, size_t inside) {
  if (const auto* what = c.as<DeviceUpload>()) return upload(*what);
  if (const auto* what = c.as<DeviceReadback>()) return readback(*what);
  if (const auto* what = c.as<DeviceCopy>()) return copy(*what);
  if (const auto* what = c.as<DeviceFill>()) return fill(*what);
  if (const auto* what = c.as<DeviceLaunch>()) return launch(*what, number, inside);
  return Ok{};  // commands with a body are recorded by repeat(), batch() and replay()
}

Result<> Recorder::end() {
  if (recorded.timestamps > 0)
    c_.vk.vkCmdWriteTimestamp(cb_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, f_.queries,
                              recorded.timestamps++);
  if (tells_host_)
    barrier(work_stages, work_writes, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  if (const VkResult r = c_.vk.vkEndCommandBuffer(cb_); r != VK_SUCCESS)
    return c_.failure(r, "ending a command buffer");
  return Ok{};
}

// ---- Copies and fills.

void Recorder::copy_range(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset,
                          uint64_t bytes) {
  const VkBufferCopy region{from_offset, to_offset, bytes};
  c_.vk.vkCmdCopyBuffer(cb_, from, to, 1, &region);
}

Result<> Recorder::upload(const DeviceUpload& c) {
  if (c.to.bytes == 0) return Ok{};
  const Result<Piece> staging = f_.take_staging(c.to.bytes);
  if (!staging) return staging.errors();
  std::memcpy(staging->host, c.staging->data(), c.to.bytes);
  const Piece& to = piece(c.to.memory);
  const Access a[] = {writes(to, c.to.offset, c.to.bytes)};
  need(a, Work::Transfer);
  copy_range(staging->buffer, staging->offset, to.buffer, to.offset + c.to.offset, c.to.bytes);
  return Ok{};
}

Result<> Recorder::readback(const DeviceReadback& c) {
  if (c.from.bytes == 0) return Ok{};
  const Result<Piece> staging = f_.take_staging(c.from.bytes);
  if (!staging) return staging.errors();
  const Piece& from = piece(c.from.memory);
  const Access a[] = {reads(from, c.from.offset, c.from.bytes)};
  need(a, Work::Transfer);
  copy_range(from.buffer, from.offset + c.from.offset, staging->buffer, staging->offset,
             c.from.bytes);
  recorded.readbacks.push_back({staging->host, c.staging, c.from.bytes});
  tells_host_ = true;
  return Ok{};
}

Result<> Recorder::copy(const DeviceCopy& c) {
  if (c.to.bytes == 0) return Ok{};
  const Piece& from = piece(c.source);
  const Piece& to = piece(c.to.memory);
  const Access a[] = {reads(from, c.source_offset, c.to.bytes),
                      writes(to, c.to.offset, c.to.bytes)};
  need(a, Work::Transfer);
  const bool overlap = a[0].begin < a[1].end && a[1].begin < a[0].end;
  if (!overlap) {
    copy_range(from.buffer, from.offset + c.source_offset, to.buffer, to.offset + c.to.offset,
               c.to.bytes);
    return Ok{};
  }
  // Vulkan copies only between ranges that do not overlap.
  Result<Piece> between = workshop_.device_memory.take(c.to.bytes);
  if (!between) return between.errors();
  f_.held.emplace_back(&workshop_.device_memory, *between);
  copy_range(from.buffer, from.offset + c.source_offset, between->buffer, between->offset,
             c.to.bytes);
  full_barrier();
  copy_range(between->buffer, between->offset, to.buffer, to.offset + c.to.offset, c.to.bytes);
  return Ok{};
}

Result<> Recorder::fill(const DeviceFill& c) {
  if (c.to.bytes == 0) return Ok{};
  const Piece& to = piece(c.to.memory);
  const Access a[] = {writes(to, c.to.offset, c.to.bytes)};
  need(a, Work::Transfer);
  // vkCmdFillBuffer fills whole words; the bytes before and after them are copied.
  const uint64_t begin = to.offset + c.to.offset, end = begin + c.to.bytes;
  const uint64_t first = std::min((begin + 3) / 4 * 4, end), last = std::max(end / 4 * 4, first);
  if (last > first)
    c_.vk.vkCmdFillBuffer(cb_, to.buffer, first, last - first, c.value * 0x01010101u);
  if (first == begin && last == end) return Ok{};
  const Result<Arena::Place> bytes = f_.words.take(4);
  if (!bytes) return bytes.errors();
  std::memset(bytes->host, c.value, 4);
  if (first > begin) copy_range(bytes->buffer, bytes->offset, to.buffer, begin, first - begin);
  if (end > last) copy_range(bytes->buffer, bytes->offset, to.buffer, last, end - last);
  return Ok{};
}

// ---- Launches.

Result<uint64_t> Recorder::stop_address() {
  if (stop_address_) return stop_address_;
  // The flag is in the device's own memory where the host can write it: NVIDIA's devices keep a
  // copy of host memory and never see the word change.
  const Result<Arena::Place> place = f_.parameters.take(sizeof(uint32_t));
  if (!place) return place.errors();
  recorded.stops.push_back(new (place->host) std::atomic<uint32_t>(0));
  return stop_address_ = place->address;
}

/// Returns the address of zeros. Empty buffers use it too: a kernel may load from the address of
/// the first element and not use the value.
Result<uint64_t> Recorder::zeros_address() {
  if (zeros_address_) return zeros_address_;
  const Result<Arena::Place> place = f_.parameters.take(sizeof(uint64_t));
  if (!place) return place.errors();
  std::memset(place->host, 0, sizeof(uint64_t));
  return zeros_address_ = place->address;
}

Result<> Recorder::launch(const DeviceLaunch& c, size_t number, size_t inside, Gated* gated) {
  auto& kernel = static_cast<VulkanKernel&>(*c.kernel);
  const Program& p = *c.program;
  bounds_.clear();
  accesses_.clear();
  for (const BufferId i : p.buffers.ids()) {
    const auto& b = p.buffers[i];
    if (!is_parameter(b.role)) continue;
    Bound bound;
    if (b.role == Role::Scalar) {
      bound.value = c.scalars[i];
    } else if (c.shape.counts[i] == 0) {
      const Result<uint64_t> zeros = zeros_address();
      if (!zeros) return zeros.errors();
      bound.value = *zeros;
    } else if (c.buffers[i]) {
      const Piece& memory = piece(c.buffers[i]);
      const uint64_t offset = c.offsets.contains(i) ? c.offsets[i] : 0;
      const uint64_t size = c.shape.counts[i] * size_of(b.element);
      bound = {memory.address + offset, c.shape.counts[i]};
      // Whole words: narrow stores may be legalized to word stores (legalize/profile.h).
      accesses_.push_back(is_writable(b.role) ? writes(memory, offset, (size + 3) / 4 * 4)
                                              : reads(memory, offset, size));
    }
    bounds_.push_back(bound);
  }
  uint64_t control = 0;
  if (kernel.code.info.uses_control) {
    Result<uint64_t> block = control_block(number, inside, gated);
    if (!block) return block.errors();
    control = *block;
  }
  return dispatch(kernel, p, bounds_, c.shape.num_workgroups, control, gated, c.coarse);
}

bool fits_grid(const PhysicalDevice& d, const emit_exact::Profile& profile,
               const std::array<uint64_t, 3>& n) {
  const uint32_t* const most = d.properties.limits.maxComputeWorkGroupCount;
  const bool forced = profile.most_workgroups < d.reported.most_workgroups;
  for (int i = 0; i < 3; ++i)
    if (n[i] > (forced ? profile.most_workgroups : most[i])) return false;
  return true;
}

/// All pipelines have one layout, so pushed constants persist: only changed ones are pushed again.
void Recorder::push(std::span<const std::byte> bytes) {
  size_t first = 0, last = bytes.size();
  constexpr size_t step = sizeof(uint64_t);  // blocks consist of these
  const auto is_known = [&](size_t at) {
    return at + step <= pushed_bytes_ && std::memcmp(&bytes[at], &pushed_[at], step) == 0;
  };
  while (first < last && is_known(first)) first += step;
  while (first < last && is_known(last - step)) last -= step;
  if (first == last) return;
  std::memcpy(&pushed_[first], &bytes[first], last - first);
  pushed_bytes_ = std::max(pushed_bytes_, last);
  c_.vk.vkCmdPushConstants(cb_, c_.layout, VK_SHADER_STAGE_COMPUTE_BIT, uint32_t(first),
                           uint32_t(last - first), &bytes[first]);
}

Result<> Recorder::dispatch(VulkanKernel& kernel, const Program& p, std::span<const Bound> bound,
                            const std::array<uint64_t, 3>& n, uint64_t control, Gated* gated,
                            uint32_t coarse) {
  if (n[0] == 0 || n[1] == 0 || n[2] == 0) return Ok{};
  const emit_spirv::KernelInfo* info = &kernel.code.info;
  VkPipeline pipeline = kernel.pipeline->handle();
  std::array<uint32_t, 3> groups = {uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2])};
  groups[0] = (groups[0] + coarse - 1) / coarse;
  if (!fits_grid(c_.physical, kernel.options.profile, n)) {
    const Result<const VulkanKernel::Variant*> linear = kernel.linear(p);
    if (!linear) return linear.errors();
    info = &(*linear)->code.info;
    pipeline = (*linear)->pipeline->handle();
    std::optional<std::array<uint32_t, 3>> all = spread(n, kernel.options.profile.most_workgroups);
    // A forced limit applies to small grids.
    if (!all) all = spread(n, c_.physical.reported.most_workgroups);
    if (!all) return too_many(p, n, c_.physical);
    groups = *all;
  }
  std::array<std::byte, most_pushed> small;
  std::byte* block = small.data();
  Arena::Place in_memory;
  if (info->block_in_memory) {
    const Result<Arena::Place> place = f_.parameters.take(info->parameter_bytes, true);
    if (!place) return place.errors();
    in_memory = *place;
    block = in_memory.host;
  }
  const auto put = [block](uint64_t at, const auto& value) {
    std::memcpy(block + at, &value, sizeof value);
  };
  uint64_t stop = 0;
  if (info->uses_stop) {
    const Result<uint64_t> address = stop_address();
    if (!address) return address.errors();
    stop = *address;
  }
  if (info->uses_zeros) {
    const Result<uint64_t> zeros = zeros_address();
    if (!zeros) return zeros.errors();
    control = *zeros;
  }
  put(0, control);
  put(8, stop);
  const uint32_t head[] = {uint32_t(n[0]), uint32_t(n[1]), uint32_t(n[2]), 0};
  put(16, head);
  uint64_t at = emit_spirv::first_parameter_offset;
  size_t next = 0;
  for (const auto& b : p.buffers) {
    if (!is_parameter(b.role)) continue;
    const Bound& v = bound[next++];
    put(at, v.value);
    at += 8;
    if (b.role == Role::Scalar) continue;
    put(at, v.count);
    at += 8;
  }
  need(accesses_, Work::Kernel);
  if (pipeline != bound_) c_.vk.vkCmdBindPipeline(cb_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  bound_ = pipeline;
  if (info->block_in_memory)
    push(std::as_bytes(std::span(&in_memory.address, 1)));
  else
    push({block, info->parameter_bytes});
  if (gated)
    dispatch_gated(groups, *gated);
  else
    c_.vk.vkCmdDispatch(cb_, groups[0], groups[1], groups[2]);
  return Ok{};
}

}  // namespace vyre::driver::vulkan
