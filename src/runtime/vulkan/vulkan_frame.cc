#include "runtime/vulkan/vulkan_frame.h"

#include <algorithm>

namespace vyre::driver::vulkan {

namespace {
constexpr uint64_t arena_bytes = 16 << 10;
}

Arena::~Arena() {
  for (const Piece& p : pieces_) pool_.give_back(p);
}

Result<Arena::Place> Arena::take(uint64_t bytes, bool for_kernel) {
  const uint64_t align = for_kernel ? MemoryPool::alignment : 64;
  for (;; ++current_, used_ = 0) {
    if (current_ == pieces_.size()) {
      Result<Piece> piece = pool_.take(std::max(bytes, arena_bytes));
      if (!piece) return piece.errors();
      pieces_.push_back(*piece);
    }
    const Piece& p = pieces_[current_];
    const uint64_t begin = (used_ + align - 1) / align * align;
    if (begin > p.bytes || bytes > p.bytes - begin) continue;
    used_ = begin + bytes;
    return Place{p.host + begin, p.address + begin, p.buffer, p.offset + begin};
  }
}

void Arena::reset() {
  current_ = 0;
  used_ = 0;
}

Frame::Frame(Context& context, MemoryPool& host, MemoryPool& params, Level level)
    : words(host), parameters(params), c_(context), host_(host), level_(level) {}

Frame::~Frame() {
  recycle();
  if (pool_) c_.vk.vkDestroyCommandPool(c_.device, pool_, nullptr);
  if (queries) c_.vk.vkDestroyQueryPool(c_.device, queries, nullptr);
}

/// An earlier begin() that failed may have created some of them.
Result<> Frame::make_commands() {
  VkResult r = VK_SUCCESS;
  if (!pool_) {
    auto info = made<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    if (level_ == Level::Primary) info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    info.queueFamilyIndex = c_.physical.queue_family;
    r = c_.vk.vkCreateCommandPool(c_.device, &info, nullptr, &pool_);
    if (r != VK_SUCCESS) {
      pool_ = VK_NULL_HANDLE;
      return c_.failure(r, "making a command pool");
    }
  }
  if (commands) {
    r = c_.vk.vkResetCommandPool(c_.device, pool_, 0);
    if (r != VK_SUCCESS) return c_.failure(r, "resetting a command pool");
    return Ok{};
  }
  auto info = made<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = level_ == Level::Primary ? VK_COMMAND_BUFFER_LEVEL_PRIMARY
                                        : VK_COMMAND_BUFFER_LEVEL_SECONDARY;
  info.commandBufferCount = 1;
  r = c_.vk.vkAllocateCommandBuffers(c_.device, &info, &commands);
  if (r == VK_SUCCESS) return Ok{};
  commands = VK_NULL_HANDLE;
  return c_.failure(r, "making a command buffer");
}

Result<> Frame::make_queries(uint32_t timestamps) {
  if (timestamps <= query_room_) return Ok{};
  if (queries) c_.vk.vkDestroyQueryPool(c_.device, queries, nullptr);
  query_room_ = std::max(64u, timestamps * 2);
  auto info = made<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = query_room_;
  const VkResult r = c_.vk.vkCreateQueryPool(c_.device, &info, nullptr, &queries);
  if (r == VK_SUCCESS) return Ok{};
  queries = VK_NULL_HANDLE;
  query_room_ = 0;
  return c_.failure(r, "making timestamps");
}

Result<> Frame::begin(uint32_t timestamps) {
  if (Result<> r = make_commands(); !r) return r;
  if (Result<> r = make_queries(timestamps); !r) return r;
  auto begin = made<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  const auto nothing =
      made<VkCommandBufferInheritanceInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO);
  if (level_ == Level::Primary)
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  else
    begin.pInheritanceInfo = &nothing;
  const VkResult r = c_.vk.vkBeginCommandBuffer(commands, &begin);
  if (r != VK_SUCCESS) return c_.failure(r, "beginning a command buffer");
  if (timestamps) c_.vk.vkCmdResetQueryPool(commands, queries, 0, timestamps);
  return Ok{};
}

void Frame::recycle() {
  for (const auto& [pool, piece] : held) pool->give_back(piece);
  held.clear();
  words.reset();
  parameters.reset();
}

Result<Piece> Frame::take_staging(uint64_t bytes) {
  Result<Piece> piece = host_.take(bytes);
  if (piece) held.emplace_back(&host_, *piece);
  return piece;
}

}  // namespace vyre::driver::vulkan
