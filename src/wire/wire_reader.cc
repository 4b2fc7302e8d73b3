#include "wire/wire_reader.h"

#include <algorithm>

namespace vyre::wire {
namespace {

std::string tag_text(uint32_t tag) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const auto c = uint8_t(tag >> 8 * i);
    text += c >= 0x20 && c < 0x7f ? std::string(1, char(c)) : fmt::format("\\x{:02x}", c);
  }
  return text;
}

}  // namespace

const std::byte* Reader::take(uint64_t n) {
  if (!ok()) return nullptr;
  if (n > left()) {
    fail(Code::WireTruncated, fmt::format("{} more bytes are needed, {} are left", n, left()));
    return nullptr;
  }
  const std::byte* from = bytes_.data() + at_;
  at_ += n;
  return from;
}

std::string_view Reader::text() {
  const uint32_t length = u32();
  const std::byte* from = take(length);
  return from ? std::string_view(reinterpret_cast<const char*>(from), length) : std::string_view();
}

uint32_t Reader::count(size_t size, std::string_view what) {
  const uint32_t n = u32();
  if (!ok()) return 0;
  const uint64_t needed = uint64_t{n} * size;
  if (n != none && needed <= left()) return n;
  fail(Code::WireCountTooLarge,
       fmt::format("{} {} need {} bytes, {} are left", n, what, needed, left()));
  return 0;
}

const std::byte* Reader::array(size_t size, std::string_view what, uint32_t& n) {
  n = count(size, what);
  const std::byte* from = take(uint64_t{n} * size);
  if (!from) n = 0;
  return from;
}

uint32_t Reader::id(size_t size, std::string_view what, bool may_be_none) {
  const uint32_t value = u32();
  if (value < size || (may_be_none && value == none)) return value;
  fail(Code::WireBadId, fmt::format("{} {} does not exist, there are {}", what, value, size));
  return may_be_none ? none : 0;
}

Reader Reader::section(uint32_t expected) {
  const Reader nothing({}, offset(), *failure_);
  if (!ok()) return nothing;
  if (left() == 0) {
    fail(Code::WireBadSection, fmt::format("section `{}` is missing", tag_text(expected)));
    return nothing;
  }
  const size_t start = offset();
  const uint32_t found = u32();
  const uint64_t length = u64();
  if (!ok()) return nothing;
  if (found != expected) {
    failure_->fail(Code::WireBadSection,
                   fmt::format("at byte {}: expected section `{}`, found `{}`", start,
                               tag_text(expected), tag_text(found)));
    return nothing;
  }
  const size_t at = offset();
  const std::byte* from = take(length);
  if (!from) return nothing;
  return Reader({from, size_t(length)}, at, *failure_);
}

bool Reader::at_section(uint32_t tag) const {
  return ok() && left() >= 4 && load<uint32_t>(bytes_.data() + at_) == tag;
}

void Reader::expect_end(std::string_view what) const {
  if (ok() && left() != 0)
    fail(Code::WireSectionLength, fmt::format("{} bytes follow the end of {}", left(), what));
}

void seal(std::span<std::byte> file) {
  store<uint64_t>(file.data() + length_at, file.size() - header_size);
  store<uint64_t>(file.data() + checksum_at, checksum(file));
}

std::optional<Reader> open(std::span<const std::byte> file, WireKind kind, FirstError& failure) {
  if (!is_wire(file)) {
    std::string begin;
    for (std::byte b : file.first(std::min<size_t>(file.size(), 4)))
      begin += fmt::format(" {:02x}", b);
    failure.fail(Code::WireBadMagic,
                 file.empty() ? "not a vyre wire file: it is empty"
                              : fmt::format("not a vyre wire file: it begins with{}", begin),
                 "give a file that vyre has written");
    return {};
  }
  if (file.size() < header_size) {
    failure.fail(Code::WireTruncated,
                 fmt::format("the file ends after {} bytes, in its header", file.size()),
                 "fetch or write the file again");
    return {};
  }
  const auto major = load<uint16_t>(file.data() + 4);
  const auto minor = load<uint16_t>(file.data() + 6);
  if (major > version_major || (major == version_major && minor > version_minor)) {
    failure.fail(Code::WireVersionTooNew,
                 fmt::format("the file has wire version {}.{}; this vyre reads up to {}.{}", major,
                             minor, version_major, version_minor),
                 "use the vyre that wrote the file, or a later one");
    return {};
  }
  if (major < version_major) {
    failure.fail(Code::WireVersionTooOld,
                 fmt::format("the file has wire version {}.{}; this vyre reads {}.0 and later",
                             major, minor, version_major),
                 "make the file again from its source");
    return {};
  }
  const auto length = load<uint64_t>(file.data() + length_at);
  const uint64_t present = file.size() - header_size;
  if (length > present) {
    failure.fail(
        Code::WireTruncated,
        fmt::format("the file ends {} bytes after its header, which promises {}", present, length),
        "fetch or write the file again");
    return {};
  }
  if (length < present) {
    failure.fail(Code::WireTrailingBytes,
                 fmt::format("{} bytes follow the end of the file's contents", present - length),
                 "keep one program or module a file");
    return {};
  }
  const auto stored = load<uint64_t>(file.data() + checksum_at);
  const uint64_t computed = checksum(file);
  if (stored != computed) {
    failure.fail(Code::WireChecksum,
                 fmt::format("the checksum is {:016x}, the bytes give {:016x}", stored, computed),
                 "fetch or write the file again");
    return {};
  }
  if (load<uint32_t>(file.data() + kind_at + 4) != 0) {
    failure.fail(Code::WireReservedBits, "reserved bytes of the header are not zero");
    return {};
  }
  const auto found = load<uint32_t>(file.data() + kind_at);
  if (found != uint32_t(kind)) {
    const auto describe = [](uint32_t k) {
      return k == 1   ? std::string("a program")
             : k == 2 ? "a module"
                      : fmt::format("a thing of kind {}", k);
    };
    failure.fail(
        Code::WireWrongKind,
        fmt::format("the file holds {}, not {}", describe(found), describe(uint32_t(kind))),
        found == 2   ? "call `decode_module`"
        : found == 1 ? "call `decode_program`"
                     : "give a file that vyre has written");
    return {};
  }
  return Reader(file.subspan(header_size), header_size, failure);
}

}  // namespace vyre::wire

namespace vyre {

bool is_wire(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), wire::magic.data(), 4) == 0;
}

std::optional<WireKind> wire_kind(std::span<const std::byte> bytes) {
  if (!is_wire(bytes) || bytes.size() < wire::header_size) return {};
  const auto kind = wire::load<uint32_t>(bytes.data() + wire::kind_at);
  if (kind != 1 && kind != 2) return {};
  return WireKind(kind);
}

}  // namespace vyre
