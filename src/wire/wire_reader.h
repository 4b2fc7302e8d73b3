#pragma once

// Bounds-checked reading. A Reader sees one piece of the file (the payload, a section); all of its
// pieces share the first error, and reading after an error returns zeros.

#include <fmt/format.h>

#include <optional>
#include <string>

#include "diagnostics/budget.h"
#include "diagnostics/result.h"
#include "wire/wire_bytes.h"
#include "wire/wire_format.h"

namespace vyre::wire {

/// The first error; later ones are consequences and ignored. Also the budget of decoding.
struct FirstError {
  std::optional<Diagnostic> error;
  Budget budget;
  uint64_t kept_bytes = 0;  // of the file and of what was decoded

  /// Called for each op, and for anything that takes longer.
  void poll() {
    if (budget.due()) budget.check(kept_bytes);
  }
  /// Called before memory is allocated.
  void take(uint64_t bytes) {
    kept_bytes += bytes;
    budget.check(kept_bytes);
  }

  bool fail(Code code, std::string message, std::string fix = {}) {
    if (!error) error = diagnose(code, {}, std::move(message)).with_fix(std::move(fix));
    return false;
  }
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, size_t file_offset, FirstError& failure)
      : bytes_(bytes), file_offset_(file_offset), failure_(&failure) {}

  bool ok() const { return !failure_->error; }
  size_t left() const { return bytes_.size() - at_; }
  /// Position in the file, for messages.
  size_t offset() const { return file_offset_ + at_; }
  FirstError& failure() const { return *failure_; }

  bool fail(Code code, const std::string& message) const {
    return failure_->fail(code, fmt::format("at byte {}: {}", offset(), message));
  }

  template <class T>
  T get() {
    const std::byte* from = take(sizeof(T));
    return from ? load<T>(from) : T{};
  }
  uint8_t u8() { return get<uint8_t>(); }
  uint16_t u16() { return get<uint16_t>(); }
  uint32_t u32() { return get<uint32_t>(); }
  uint64_t u64() { return get<uint64_t>(); }

  /// The next n bytes, or null after an error.
  const std::byte* take(uint64_t n);
  /// A length and that many bytes; the view is into the file.
  std::string_view text();
  /// A count of records of at least `size` bytes each: an error if that many cannot follow, so that
  /// the caller may reserve memory for them.
  uint32_t count(size_t size, std::string_view what);
  /// A count and exactly that many records; null and 0 after an error.
  const std::byte* array(size_t size, std::string_view what, uint32_t& count);

  /// A number below `limit`, or an error with `what` in its message.
  template <class T = uint8_t>
  T below(uint32_t limit, std::string_view what) {
    const T value = get<T>();
    if (value < limit) return value;
    fail(Code::WireBadEnum, fmt::format("{} is no {}", value, what));
    return T{};
  }
  /// An index into a list of `size`, or `none` where that is allowed.
  uint32_t id(size_t size, std::string_view what, bool may_be_none = false);
  /// Bytes that must be zero.
  template <class T>
  void zero() {
    if (get<T>() != 0) fail(Code::WireReservedBits, "reserved bytes are not zero");
  }

  /// The next section, which must have this tag.
  Reader section(uint32_t tag);
  /// Returns whether the next section is this one. For optional ones.
  bool at_section(uint32_t tag) const;
  /// Everything must have been read. `what` names the piece that ends here.
  void expect_end(std::string_view what) const;

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  size_t file_offset_;
  FirstError* failure_;
};

/// The payload of a file of this kind, if its header, length and checksum are right.
std::optional<Reader> open(std::span<const std::byte> file, WireKind kind, FirstError& failure);

}  // namespace vyre::wire
