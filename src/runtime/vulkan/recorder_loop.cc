// Loops that test a word, without the host. A batch of iterations is recorded, with a gate before
// each. The gate is a kernel that writes the sizes of the iteration's dispatches: the recorded
// sizes, or zeros once the word is zero. Copies and fills are dispatches too.

#include <algorithm>
#include <cstring>

#include "runtime/vulkan/vulkan_recorder.h"

namespace vyre::driver::vulkan {

struct Recorder::Gated {
  uint32_t dispatches = 0;  // of an iteration, at most
  uint32_t next = 0;        // of this iteration
  uint32_t blocks = 0;      // control blocks
  uint32_t next_block = 0;  // of this iteration
  bool first_round = true;
  Arena::Place sizes, control, state;
  Piece args;
  std::vector<Piece> between;  // for copies that overlap; every iteration reuses them
  size_t next_between = 0;
};

namespace {

constexpr uint64_t block_stride = 64;  // of control blocks: the gate knows it
static_assert(sizeof(emit_spirv::ControlBlock) <= block_stride);
constexpr uint64_t size_bytes = 3 * sizeof(uint32_t);

}  // namespace

Result<uint64_t> Recorder::control_block(size_t number, size_t inside, Gated* gated) {
  if (!gated) {
    const Result<Arena::Place> place = f_.words.take(sizeof(emit_spirv::ControlBlock));
    if (!place) return place.errors();
    recorded.told.push_back({number, inside, new (place->host) emit_spirv::ControlBlock()});
    tells_host_ = true;
    return place->address;
  }
  // One block for all iterations: none begins after a trap.
  const uint64_t offset = gated->next_block++ * block_stride;
  if (gated->first_round) {
    auto* block = reinterpret_cast<emit_spirv::ControlBlock*>(gated->control.host + offset);
    recorded.told.push_back({number, inside, block});
  }
  return gated->control.address + offset;
}

void Recorder::dispatch_gated(const std::array<uint32_t, 3>& groups, Gated& g) {
  const uint64_t offset = g.next++ * size_bytes;
  std::memcpy(g.sizes.host + offset, groups.data(), size_bytes);
  c_.vk.vkCmdDispatchIndirect(cb_, g.args.buffer, g.args.offset + offset);
}

Result<> Recorder::batch(const DeviceCommand& command, size_t number, uint64_t rounds) {
  stamp(command.timed, number);
  const auto& loop = std::get<DeviceLoop>(command.what);
  Gated g;
  for (const DeviceCommand& c : *loop.body) {
    g.dispatches += c.as<DeviceCopy>() ? 2 : 1;
    g.blocks += c.as<DeviceLaunch>() != nullptr;
  }
  g.dispatches = std::max(g.dispatches, 1u);
  const auto take = [&](uint64_t bytes, Arena::Place& to) -> Result<> {
    const Result<Arena::Place> place = f_.words.take(std::max<uint64_t>(bytes, 64), true);
    if (!place) return place.errors();
    to = *place;
    std::memset(to.host, 0, bytes);
    return Ok{};
  };
  if (Result<> r = take(g.dispatches * size_bytes, g.sizes); !r) return r;
  if (Result<> r = take(g.blocks * block_stride, g.control); !r) return r;
  if (Result<> r = take(2 * sizeof(uint32_t), g.state); !r) return r;
  for (uint32_t i = 0; i < g.blocks; ++i)
    new (g.control.host + i * block_stride) emit_spirv::ControlBlock();
  Result<Piece> args = workshop_.device_memory.take(g.dispatches * size_bytes);
  if (!args) return args.errors();
  f_.held.emplace_back(&workshop_.device_memory, *args);
  g.args = *args;
  recorded.batch = reinterpret_cast<const uint32_t*>(g.state.host);
  tells_host_ = true;

  for (uint64_t r = 0; r < rounds; ++r) {
    if (Result<> done = gate(loop.word, g); !done) return done;
    g.next = g.next_block = 0;
    g.next_between = 0;
    for (size_t i = 0; i < loop.body->size(); ++i) {
      const DeviceCommand& c = (*loop.body)[i];
      const auto* const fill = c.as<DeviceFill>();
      const auto* const copy = c.as<DeviceCopy>();
      Result<> done = fill   ? gated_fill(*fill, g)
                      : copy ? gated_copy(*copy, g)
                             : launch(std::get<DeviceLaunch>(c.what), number, i, &g);
      if (!done) return done;
    }
    g.first_round = false;
  }
  return Ok{};
}

Result<> Recorder::gate(const MemoryRange& word, Gated& g) {
  const auto helper = workshop_.helpers.get(Helper::Gate, workshop_.context, workshop_.profile);
  if (!helper) return helper.errors();
  full_barrier();
  hazards_.clear();
  accesses_.clear();
  const Piece& w = piece(word.memory);
  // The word may straddle two 32-bit words.
  const uint64_t shift = word.offset % 4 * 8;
  const uint64_t mask =
      word.bytes >= 8 ? ~uint64_t{0} : ((uint64_t{1} << word.bytes * 8) - 1) << shift;
  const Bound bound[] = {{word.offset / 4},
                         {mask & 0xffffffff},
                         {mask >> 32},
                         {g.blocks},
                         {w.address, w.bytes / 4},
                         {g.sizes.address, g.dispatches * 3},
                         {g.control.address, g.blocks * block_stride / 4},
                         {g.args.address, g.dispatches * 3},
                         {g.state.address, 2}};
  if (Result<> r = dispatch(*(*helper)->kernel, *(*helper)->program, bound, {1, 1, 1}, 0); !r)
    return r;
  auto m = made<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  m.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  m.dstAccessMask =
      VK_ACCESS_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  c_.vk.vkCmdPipelineBarrier(
      cb_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
      VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &m, 0,
      nullptr, 0, nullptr);
  return Ok{};
}

namespace {

/// Returns workgroups of 64 invocations for the words that a range of bytes touches.
std::array<uint64_t, 3> groups_of(uint64_t offset, uint64_t bytes) {
  const uint64_t words = (offset + bytes + 3) / 4 - offset / 4;
  return {(words + 63) / 64, 1, 1};
}

}  // namespace

Result<> Recorder::gated_fill(const DeviceFill& c, Gated& g) {
  if (c.to.bytes == 0) return Ok{};
  const auto helper = workshop_.helpers.get(Helper::Fill, workshop_.context, workshop_.profile);
  if (!helper) return helper.errors();
  const Piece& to = piece(c.to.memory);
  accesses_.assign({{to.address + c.to.offset / 4 * 4,
                     to.address + (c.to.offset + c.to.bytes + 3) / 4 * 4, true}});
  const Bound bound[] = {{c.to.offset},
                         {c.to.offset + c.to.bytes},
                         {c.value * 0x01010101u},
                         {to.address, to.bytes / 4}};
  return dispatch(*(*helper)->kernel, *(*helper)->program, bound,
                  groups_of(c.to.offset, c.to.bytes), 0, &g);
}

Result<> Recorder::gated_copy(const Piece& from, uint64_t from_offset, const Piece& to,
                              uint64_t to_offset, uint64_t bytes, Gated& g) {
  const auto helper = workshop_.helpers.get(Helper::Copy, workshop_.context, workshop_.profile);
  if (!helper) return helper.errors();
  accesses_.assign(
      {{from.address + from_offset, from.address + from_offset + bytes, false},
       {to.address + to_offset / 4 * 4, to.address + (to_offset + bytes + 3) / 4 * 4, true}});
  const Bound bound[] = {{to_offset},
                         {to_offset + bytes},
                         {from_offset},
                         {from.address, from.bytes / 4},
                         {to.address, to.bytes / 4}};
  return dispatch(*(*helper)->kernel, *(*helper)->program, bound, groups_of(to_offset, bytes), 0,
                  &g);
}

Result<> Recorder::gated_copy(const DeviceCopy& c, Gated& g) {
  if (c.to.bytes == 0) return Ok{};
  const Piece &from = piece(c.source), &to = piece(c.to.memory);
  // Inside one memory, words are read that other invocations write: copy by way of another memory.
  if (c.source != c.to.memory)
    return gated_copy(from, c.source_offset, to, c.to.offset, c.to.bytes, g);
  if (g.next_between == g.between.size()) {
    Result<Piece> taken = workshop_.device_memory.take(c.to.bytes);
    if (!taken) return taken.errors();
    f_.held.emplace_back(&workshop_.device_memory, *taken);
    g.between.push_back(*taken);
  }
  const Piece& between = g.between[g.next_between++];
  if (Result<> r = gated_copy(from, c.source_offset, between, 0, c.to.bytes, g); !r) return r;
  return gated_copy(between, 0, to, c.to.offset, c.to.bytes, g);
}

}  // namespace vyre::driver::vulkan
