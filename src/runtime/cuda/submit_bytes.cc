// Uploads and readbacks, through pinned memory.
//
// The host copies parts of an upload while earlier parts are transferred. Readbacks arrive in
// blocks that wait() empties, so the stream continues without a host thread.

#include <algorithm>
#include <cstring>

#include "runtime/cuda/submitter.h"

namespace vyre::driver::cuda {
namespace {

/// The maximum number of pieces of one upload in transfer; then the block of the first one is
/// reused.
constexpr size_t most_pieces = 16;

/// From this size on the host empties pieces of a readback while later ones are transferred.
constexpr uint64_t piecewise_from = 8 << 20;

}  // namespace

/// Returns memory for up to PinnedBlocks::small_bytes.
std::byte* Submitter::small_slot(size_t bytes) {
  const size_t rounded = (bytes + 63) / 64 * 64;
  const bool fits = !job_.blocks.empty() && !job_.blocks.back().large &&
                    job_.block_used + rounded <= PinnedBlocks::small_bytes;
  if (!fits) {
    const PinnedBlocks::Block block = d_.pinned_.take(false);
    if (!block.data) return nullptr;
    job_.blocks.push_back(block);
    job_.block_used = 0;
  }
  std::byte* const slot = job_.blocks.back().data + job_.block_used;
  job_.block_used += rounded;
  return slot;
}

std::byte* Submitter::large_block() {
  const PinnedBlocks::Block block = d_.pinned_.take(true);
  if (!block.data) return nullptr;
  // Inserted first: the small block at the end may have space left.
  job_.blocks.insert(job_.blocks.begin(), block);
  return block.data;
}

void Submitter::upload(const DeviceUpload& c) {
  const std::byte* const from = c.staging->data();
  const DevicePointer to = c.to.memory + c.to.offset;
  std::vector<std::pair<std::byte*, EventHandle>> pieces;
  size_t next = 0;  // piece to reuse
  for (uint64_t at = 0; at < c.to.bytes && !is_decided();) {
    const uint64_t bytes = std::min<uint64_t>(c.to.bytes - at, PinnedBlocks::large_bytes);
    std::byte* block = nullptr;
    if (c.to.bytes <= PinnedBlocks::small_bytes)
      block = small_slot(bytes);
    else if (pieces.size() < most_pieces)
      block = large_block();
    size_t piece = pieces.size();
    if (!block && !pieces.empty()) {
      piece = next++ % pieces.size();
      d_.await(pieces[piece].second);
      block = pieces[piece].first;
    }
    // Without pinned memory: the driver accepts other memory too, and the bytes live as long as the
    // job.
    if (block) std::memcpy(block, from + at, bytes);
    if (!check(api_.copy_to_device(to + at, block ? block : from + at, bytes, stream_.handle),
               "bytes were uploaded"))
      return;
    at += bytes;
    if (!block || c.to.bytes <= PinnedBlocks::large_bytes) continue;
    if (piece == pieces.size()) {
      if (const EventHandle event = record_event()) pieces.emplace_back(block, event);
    } else {
      check(api_.event_record(pieces[piece].second, stream_.handle), "an event was recorded");
    }
  }
}

void Submitter::readback(const DeviceReadback& c) {
  const DevicePointer from = c.from.memory + c.from.offset;
  for (uint64_t at = 0; at < c.from.bytes && !is_decided();) {
    uint64_t bytes = std::min<uint64_t>(c.from.bytes - at, PinnedBlocks::large_bytes);
    std::byte* const block =
        c.from.bytes <= PinnedBlocks::small_bytes ? small_slot(bytes) : large_block();
    std::byte* target = block;
    if (!block) {
      // Pins the caller's memory; if that fails, the driver copies while this thread waits.
      bytes = c.from.bytes - at;
      c.staging->resize(c.from.bytes);
      target = c.staging->data() + at;
      if (api_.host_register(target, bytes, host_register_portable) == Status::Success)
        job_.registered.push_back(target);
    }
    if (!check(api_.copy_to_host(target, from + at, bytes, stream_.handle), "bytes were read back"))
      return;
    if (block)
      job_.backs.push_back({block, c.staging.get(), at, bytes,
                            c.from.bytes >= piecewise_from ? record_event() : nullptr});
    at += bytes;
  }
}

}  // namespace vyre::driver::cuda
