#include "runtime/cache/cache_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/cache/cache_key.h"
#include "support/hash.h"
#include "wire/fingerprint.h"
#include "wire/wire.h"
#include "wire/wire_bytes.h"

namespace vyre::driver {
namespace {

constexpr uint32_t magic = std::bit_cast<uint32_t>(entry_magic);
constexpr uint32_t version = 1;
constexpr uint64_t head_bytes = 48;
constexpr uint64_t checksum_bytes = 8;
constexpr uint64_t code_alignment = 16;  // of malloc: loaders of code may want whole words
constexpr size_t name_limit = 1024;

struct Head {
  uint32_t magic, version;
  uint64_t length, made_ns;
  uint32_t key, name;
  uint64_t program, code;
};

Head read_head(const std::byte* at) {
  using wire::load;
  return {load<uint32_t>(at),      load<uint32_t>(at + 4),  load<uint64_t>(at + 8),
          load<uint64_t>(at + 16), load<uint32_t>(at + 24), load<uint32_t>(at + 28),
          load<uint64_t>(at + 32), load<uint64_t>(at + 40)};
}

uint64_t aligned(uint64_t n) { return (n + code_alignment - 1) & ~(code_alignment - 1); }

std::string_view text_at(std::span<const std::byte> bytes, uint64_t at, uint64_t n) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, n};
}

/// Returns views by the lengths of the head, which fit.
EntryView cut(std::span<const std::byte> bytes, const Head& h) {
  EntryView view{.made_ns = h.made_ns};
  view.key = text_at(bytes, head_bytes, h.key);
  view.name = text_at(bytes, head_bytes + h.key, h.name);
  const uint64_t program = head_bytes + h.key + h.name;
  view.program = bytes.subspan(program, h.program);
  view.code = bytes.subspan(aligned(program + h.program), h.code);
  return view;
}

std::string mistake_in(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes + checksum_bytes)
    return fmt::format("{} bytes are too few", bytes.size());
  const Head h = read_head(bytes.data());
  if (h.magic != magic) return "it does not begin like an entry";
  if (h.version != version) return fmt::format("its version is {}, not {}", h.version, version);
  if (h.length != bytes.size())
    return fmt::format("it has {} bytes and should have {}", bytes.size(), h.length);
  // Each length is at most the file's, so their sum does not overflow.
  if (std::max({uint64_t{h.key}, uint64_t{h.name}, h.program, h.code}) > bytes.size() ||
      aligned(head_bytes + h.key + h.name + h.program) + h.code + checksum_bytes != bytes.size())
    return "its lengths do not fit";
  const uint64_t body = bytes.size() - checksum_bytes;
  if (hash64(bytes.first(body)) != wire::load<uint64_t>(bytes.data() + body))
    return "its checksum is wrong";
  return "";
}

}  // namespace

EntryImage make_entry(std::string_view key, std::string_view name,
                      std::span<const std::byte> program, std::span<const std::byte> code,
                      uint64_t made_ns) {
  name = name.substr(0, name_limit);
  const uint64_t code_at = aligned(head_bytes + key.size() + name.size() + program.size());
  const uint64_t length = code_at + code.size() + checksum_bytes;
  wire::Bytes out;
  out.data.reserve(length);
  out.u32(magic);
  out.u32(version);
  out.u64(length);
  out.u64(made_ns);
  out.u32(uint32_t(key.size()));
  out.u32(uint32_t(name.size()));
  out.u64(program.size());
  out.u64(code.size());
  out.raw(std::as_bytes(std::span(key)));
  out.raw(std::as_bytes(std::span(name)));
  out.raw(program);
  out.grow(code_at - out.data.size());
  out.raw(code);
  out.u64(hash64(out.data));

  EntryImage image{.bytes = std::make_shared<const CacheBytes>(std::move(out.data))};
  image.view = cut(*image.bytes, read_head(image.bytes->data()));
  return image;
}

std::optional<EntryView> parse_entry(std::span<const std::byte> bytes, std::string* why) {
  std::string mistake = mistake_in(bytes);
  if (mistake.empty()) return cut(bytes, read_head(bytes.data()));
  if (why) *why = std::move(mistake);
  return std::nullopt;
}

std::optional<EntryView> parse_entry_head(std::span<const std::byte> beginning) {
  if (beginning.size() < head_bytes) return std::nullopt;
  Head h = read_head(beginning.data());
  if (h.magic != magic || h.version != version ||
      uint64_t{h.key} + h.name > beginning.size() - head_bytes)
    return std::nullopt;
  EntryView view{.made_ns = h.made_ns};
  view.key = text_at(beginning, head_bytes, h.key);
  view.name = text_at(beginning, head_bytes + h.key, h.name);
  return view;
}

std::string mistake_in_entry(const EntryView& entry) {
  const auto key = read_key(entry.key);
  if (!key) return "its key is malformed";
  const Result<Program> program = decode_program(entry.program, {.trusted = true});
  if (!program) return "its program is malformed: " + program.errors()[0].message;
  if (fingerprint(*program) != key->fingerprint) return "its program is not the one of its key";
  return "";
}

}  // namespace vyre::driver
