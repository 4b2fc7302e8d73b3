#include "runtime/vulkan/vulkan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace vyre::driver::vulkan {

MemoryPool::MemoryPool(Context& context, MemoryKind kind, uint64_t block_bytes)
    : c_(context), kind_(kind), block_bytes_(block_bytes) {}

MemoryPool::~MemoryPool() {
  for (Block& b : blocks_) free_block(b);
}

std::optional<uint32_t> MemoryPool::memory_type(uint32_t allowed) const {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                  host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  // The first list that some memory type satisfies.
  const std::vector<VkMemoryPropertyFlags> wishes =
      kind_ == MemoryKind::Device ? std::vector<VkMemoryPropertyFlags>{local, 0}
      : kind_ == MemoryKind::Host ? std::vector<VkMemoryPropertyFlags>{host | cached, host}
                                  : std::vector<VkMemoryPropertyFlags>{host | local, host};
  const VkPhysicalDeviceMemoryProperties& m = c_.physical.memory;
  for (const VkMemoryPropertyFlags wish : wishes)
    for (uint32_t i = 0; i < m.memoryTypeCount; ++i)
      if ((allowed >> i & 1) && (m.memoryTypes[i].propertyFlags & wish) == wish) return i;
  return std::nullopt;
}

VkResult MemoryPool::fill_block(Block& b) {
  auto info = made<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = b.bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkResult r = c_.vk.vkCreateBuffer(c_.device, &info, nullptr, &b.buffer);
  if (r != VK_SUCCESS) return r;
  VkMemoryRequirements needs{};
  c_.vk.vkGetBufferMemoryRequirements(c_.device, b.buffer, &needs);
  const std::optional<uint32_t> type = memory_type(needs.memoryTypeBits);
  if (!type) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  auto flags = made<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = made<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = *type;
  r = c_.vk.vkAllocateMemory(c_.device, &allocate, nullptr, &b.memory);
  if (r != VK_SUCCESS) return r;
  r = c_.vk.vkBindBufferMemory(c_.device, b.buffer, b.memory, 0);
  if (r != VK_SUCCESS) return r;
  if (kind_ != MemoryKind::Device) {
    void* at = nullptr;
    r = c_.vk.vkMapMemory(c_.device, b.memory, 0, VK_WHOLE_SIZE, 0, &at);
    if (r != VK_SUCCESS) return r;
    b.host = static_cast<std::byte*>(at);
  }
  auto asked = made<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  asked.buffer = b.buffer;
  b.address = c_.vk.vkGetBufferDeviceAddress(c_.device, &asked);
  return VK_SUCCESS;
}

void MemoryPool::free_block(Block& b) {
  if (b.buffer) c_.vk.vkDestroyBuffer(c_.device, b.buffer, nullptr);
  if (b.memory) c_.vk.vkFreeMemory(c_.device, b.memory, nullptr);  // unmaps it too
  b = Block{};
}

Result<uint32_t> MemoryPool::make_block(uint64_t bytes) {
  Block b;
  // Vulkan does not guarantee that a buffer begins at a multiple of our alignment.
  b.bytes = bytes + alignment;
  const VkResult r = fill_block(b);
  if (r != VK_SUCCESS) {
    free_block(b);
    if (r == VK_ERROR_DEVICE_LOST) return c_.failure(r, "taking memory");
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("{} bytes are not to be had from {}: {} of its {} bytes are in use "
                                "by this process ({})",
                                bytes, c_.physical.properties.deviceName, taken_,
                                c_.physical.device_local_bytes(), name(r)))
        .with_fix("free buffers, ask for less, or use another device");
  }
  const uint64_t first = (alignment - b.address % alignment) % alignment;
  b.holes.emplace(first, (b.bytes - first) / alignment * alignment);
  taken_ += b.bytes;
  const auto free =
      std::find_if(blocks_.begin(), blocks_.end(), [](const Block& x) { return !x.buffer; });
  const auto index = uint32_t(free - blocks_.begin());
  if (free == blocks_.end()) blocks_.emplace_back();
  blocks_[index] = std::move(b);
  return index;
}

std::optional<Piece> MemoryPool::cut(uint32_t index, uint64_t bytes) {
  Block& b = blocks_[index];
  for (auto it = b.holes.begin(); it != b.holes.end(); ++it) {
    if (it->second < bytes) continue;
    const auto [offset, room] = *it;
    b.holes.erase(it);
    if (room > bytes) b.holes.emplace(offset + bytes, room - bytes);
    return Piece{b.buffer, offset, bytes, b.address + offset, b.host ? b.host + offset : nullptr,
                 index};
  }
  return std::nullopt;
}

Result<Piece> MemoryPool::take(uint64_t bytes) {
  if (bytes > ~uint64_t{0} - 2 * alignment)
    return diagnose(Code::DeviceMemoryExceeded, {},
                    fmt::format("{} bytes are not to be had", bytes));
  const uint64_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  const bool own = rounded > block_bytes_ / 2;
  std::optional<Piece> piece;
  for (uint32_t i = 0; !own && !piece && i < blocks_.size(); ++i)
    if (blocks_[i].buffer && !blocks_[i].own) piece = cut(i, rounded);
  if (!piece) {
    Result<uint32_t> block = make_block(own ? rounded : block_bytes_);
    if (!block) return block.errors();
    blocks_[*block].own = own;
    piece = cut(*block, rounded);
  }
  used_ += rounded;
  return *piece;
}

void MemoryPool::give_back(const Piece& piece) {
  Block& b = blocks_[piece.block];
  used_ -= piece.bytes;
  auto [it, added] = b.holes.emplace(piece.offset, piece.bytes);
  if (const auto next = std::next(it);
      next != b.holes.end() && it->first + it->second == next->first) {
    it->second += next->second;
    b.holes.erase(next);
  }
  if (it != b.holes.begin()) {
    const auto before = std::prev(it);
    if (before->first + before->second == it->first) {
      before->second += it->second;
      b.holes.erase(it);
    }
  }
  const bool empty = b.holes.size() == 1 && b.holes.begin()->second + alignment >= b.bytes;
  if (!empty) return;
  // One empty block stays: alternating take() and give_back() must not call the driver each time.
  const bool another = std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& x) {
    return &x != &b && x.buffer && !x.own && x.holes.size() == 1 &&
           x.holes.begin()->second + alignment >= x.bytes;
  });
  if (!b.own && !another) return;
  taken_ -= b.bytes;
  free_block(b);
}

}  // namespace vyre::driver::vulkan
