#include "support/hash.h"

#include <fmt/format.h>

#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace vyre {
namespace {

Hash128 from_xxh(XXH128_hash_t hash) { return {hash.low64, hash.high64}; }

XXH3_state_t* state_in(std::byte* storage) {
  return std::launder(reinterpret_cast<XXH3_state_t*>(storage));
}
const XXH3_state_t* state_in(const std::byte* storage) {
  return std::launder(reinterpret_cast<const XXH3_state_t*>(storage));
}

}  // namespace

std::string Hash128::to_hex() const { return fmt::format("{:016x}{:016x}", hi, lo); }

std::uint64_t hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
std::uint64_t hash64(std::string_view text) { return hash64(std::as_bytes(std::span(text))); }

Hash128 hash128(std::span<const std::byte> bytes) {
  return from_xxh(XXH3_128bits(bytes.data(), bytes.size()));
}
Hash128 hash128(std::string_view text) { return hash128(std::as_bytes(std::span(text))); }

Hasher::Hasher() {
  static_assert(sizeof(XXH3_state_t) <= sizeof(state_) && alignof(XXH3_state_t) <= 64);
  // A reset state serves both widths: they differ only in the digest.
  auto* state = new (state_.data()) XXH3_state_t;
  XXH3_INITSTATE(state);
  XXH3_64bits_reset(state);
}

Hasher& Hasher::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(state_in(state_.data()), bytes.data(), bytes.size());
  return *this;
}
Hasher& Hasher::add(std::string_view text) { return add(std::as_bytes(std::span(text))); }

std::uint64_t Hasher::digest64() const { return XXH3_64bits_digest(state_in(state_.data())); }

Hash128 Hasher::digest128() const { return from_xxh(XXH3_128bits_digest(state_in(state_.data()))); }

}  // namespace vyre
