#pragma once

// What must hold for any bytes given to the wire decoder. libFuzzer calls it with what it finds,
// the tests with seeded corruptions.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "wire/fingerprint.h"
#include "wire/wire.h"
#include "wire/wire_bytes.h"
#include "wire/wire_format.h"

namespace vyre {

/// Bytes that a decoded program takes, roughly.
inline size_t memory_of(const Program& p) {
  size_t bytes =
      p.ops.capacity() * sizeof(Op) + p.values.capacity() * sizeof(Value) +
      p.blocks.capacity() * sizeof(Block) + p.ids.capacity() * sizeof(uint32_t) +
      p.locations.capacity() * sizeof(Location) + p.table_bytes.capacity() +
      p.buffers.capacity() * sizeof(Buffer) + p.strings.capacity() * sizeof(std::string) +
      p.formulas.nodes.capacity() * sizeof(FormulaNode) + p.name.capacity() + p.op_id.capacity();
  for (const std::string& s : p.strings) bytes += s.capacity();
  for (const Buffer& b : p.buffers) bytes += b.name.capacity();
  return bytes;
}

/// Uses what the decoder let through like the layers above do: nothing may loop or leave the
/// arrays.
inline std::string misuse(const Program& p, size_t file_size) {
  if (memory_of(p) > 64 * file_size) return "a program takes memory out of proportion";
  size_t walked = 0;
  walk(p, [&](OpId) { ++walked; });
  if (walked != p.ops.size()) return "a walk does not meet every op once";
  Program copy = p;
  compact(copy);
  if (copy.ops.size() != p.ops.size() || copy.values.size() != p.values.size() ||
      copy.blocks.size() != p.blocks.size() || copy.ids != p.ids)
    return "what was decoded is not what compact() gives";
  if (fingerprint(copy) != fingerprint(p)) return "compact() changes the fingerprint";
  return "";
}

/// What is wrong with how these bytes are decoded; "" if nothing is. `accepted`: were they?
inline std::string check_wire_decoder(std::span<const std::byte> bytes, bool* accepted = nullptr) {
  if (accepted) *accepted = false;
  const auto equal = [&](const std::vector<std::byte>& again) {
    return again.size() == bytes.size() && std::equal(again.begin(), again.end(), bytes.begin());
  };
  // The rest of the file holds for either kind, so both decoders see it.
  if (auto p = decode_program(bytes, {.trusted = true})) {
    if (accepted) *accepted = true;
    if (!equal(encode(*p))) return "an accepted program encodes to other bytes";
    if (std::string problem = misuse(*p, bytes.size()); !problem.empty()) return problem;
  } else if (p.errors().empty()) {
    return "an error without a diagnostic";
  }
  if (auto m = decode_module(bytes, {.trusted = true})) {
    if (accepted) *accepted = true;
    if (!equal(encode(*m))) return "an accepted module encodes to other bytes";
    for (const Program& p : m->kernels)
      if (std::string problem = misuse(p, bytes.size()); !problem.empty()) return problem;
    (void)fingerprint(*m);
  } else if (m.errors().empty()) {
    return "an error without a diagnostic";
  }
  return "";
}

/// The same bytes with a header that fits them, so that what is behind it is reached.
inline std::vector<std::byte> resealed(std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  if (copy.size() < wire::header_size) return copy;
  std::memcpy(copy.data(), wire::magic.data(), wire::magic.size());
  wire::store<uint16_t>(copy.data() + 4, wire::version_major);
  wire::store<uint16_t>(copy.data() + 6, wire::version_minor);
  wire::seal(copy);
  return copy;
}

}  // namespace vyre
