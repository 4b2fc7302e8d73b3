#pragma once

// The one hash of vyre: XXH3. Not cryptographic: equal hashes of 128 bits are taken as equal
// contents among programs that are not made to collide; whatever reads bytes from outside checks
// them as well. The values are the same on every machine and in every build: they go into files.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace vyre {

struct Hash128 {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;

  auto operator<=>(const Hash128&) const = default;

  /// 32 lower-case digits, `hi` first.
  std::string to_hex() const;
};

std::uint64_t hash64(std::span<const std::byte> bytes);
std::uint64_t hash64(std::string_view text);
Hash128 hash128(std::span<const std::byte> bytes);
Hash128 hash128(std::string_view text);

/// Hashes data piece by piece. Only the concatenation of the pieces counts: a caller that adds
/// strings or lists must add their lengths too. `add_value` takes integers and enums in
/// little-endian order.
class Hasher {
 public:
  Hasher();

  Hasher& add(std::span<const std::byte> bytes);
  Hasher& add(std::string_view text);

  template <typename T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  Hasher& add_value(T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    std::array<std::byte, sizeof(T)> bytes;
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::byte>(bits >> (8 * i));
    return add(std::span<const std::byte>(bytes));
  }

  /// The hash of everything added so far, equal to the one-shot functions. More can be added after.
  std::uint64_t digest64() const;
  Hash128 digest128() const;

 private:
  // XXH3_state_t, whose header is costly to include; hash.cc checks size and alignment.
  alignas(64) std::array<std::byte, 576> state_;
};

}  // namespace vyre
