#include "tools/vyre/element_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "ir/eval/eval.h"
#include "ir/launch.h"
#include "support/bytes_text.h"
#include "support/file.h"
#include "text/lower/literal.h"
#include "tools/vyre/numbers.h"

namespace vyre::cli {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Shortens long text: it does not help in a message.
std::string quoted(std::string_view text) {
  constexpr size_t longest = 40;
  return text.size() <= longest ? fmt::format("`{}`", text)
                                : fmt::format("`{}…`", text.substr(0, longest));
}

std::string range_of(Type t) {
  if (t == Type::Bool) return "true, false, 1 or 0";
  if (is_integer(t)) {
    const uint32_t w = width_of(t);
    const uint64_t low = is_signed(t) ? 1ull << (w - 1) : 0;
    const uint64_t high = is_signed(t) ? low_mask(w - 1) : low_mask(w);
    return fmt::format("an integer from {} to {}", text::print_value(t, low), high);
  }
  return "a number such as 1.5, -2, 1e-3, inf or nan";
}

Result<Bytes> parse_list(std::string_view list, const std::string& name, Type element) {
  Bytes bytes;
  if (trimmed(list).empty()) return bytes;
  bytes.reserve((1 + static_cast<size_t>(std::count(list.begin(), list.end(), ','))) *
                size_of(element));
  for (uint64_t index = 0;; ++index) {
    const size_t comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    uint64_t bits = 0;
    if (!text::parse_value(item, element, &bits)) {
      Diagnostic d =
          diagnose(Code::BadElement, {},
                   item.empty() ? fmt::format("value {} of `{}` is empty", index, name)
                                : fmt::format("value {} of `{}` is {}, which is no {}", index, name,
                                              quoted(item), vyre::name(element)));
      return d.with_fix(fmt::format("write {}", range_of(element)));
    }
    append_element(bytes, element, bits);
    if (comma == list.npos) return bytes;
    list.remove_prefix(comma + 1);
  }
}

Result<Bytes> read_raw(const std::string& path, const std::string& name, SizeLimit limit) {
  FileContents contents = read_file(path, limit.bytes);
  if (!contents) {
    // Out of memory is an error of the system, a missing file one of the user.
    if (contents.error->code == EFBIG)
      return diagnose(limit.exceeded, {},
                      fmt::format("the file of `{}` does not fit into {} bytes of memory: {}", name,
                                  limit.bytes, contents.error->what))
          .with_fix("give a smaller file or a higher memory limit");
    return diagnose(Code::InputFile, {},
                    fmt::format("cannot read the bytes of `{}`: {}", name, contents.error->what))
        .with_fix(fmt::format("give an existing file, or values: `--in {}=1,2,3`", name));
  }
  const auto* first = reinterpret_cast<const std::byte*>(contents.bytes.data());
  return Bytes(first, first + contents.bytes.size());
}

/// True for a file whose extension shows that its bytes are not the elements.
bool is_other_format(const std::string& path) {
  constexpr std::string_view endings[] = {".npy",  ".npz", ".csv", ".tsv", ".json", ".png", ".jpg",
                                          ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".wav"};
  std::string ending = path.substr(std::min(path.rfind('.'), path.size()));
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return std::find(std::begin(endings), std::end(endings), ending) != std::end(endings);
}

Diagnostic not_raw(const std::string& path, const std::string& name) {
  return diagnose(
             Code::InputFormat, {},
             fmt::format("`--in {0}=@{1}` would read the bytes of `{1}` as elements", name, path))
      .with_fix(fmt::format("convert it to raw elements, or write `--in {}=raw:@{}` to read its "
                            "bytes as they are",
                            name, path));
}

Result<Bytes> parse_random(std::string_view spec, const std::string& name, Type element,
                           SizeLimit limit) {
  const size_t colon = spec.find(':');
  const auto count = parse_decimal_count(spec.substr(0, colon));
  const auto seed =
      colon == spec.npos ? std::optional<uint64_t>(0) : parse_count(spec.substr(colon + 1));
  if (!count || !seed)
    return diagnose(Code::BadRandom, {},
                    fmt::format("{} is no description of random values for `{}`",
                                quoted(fmt::format("random:{}", spec)), name))
        .with_fix(
            fmt::format("write `--in {}=random:COUNT` or `--in {}=random:COUNT:SEED`", name, name));
  const uint64_t size = size_of(element);
  if (*count > max_buffer_bytes / size)
    return diagnose(Code::BufferTooLarge, {},
                    fmt::format("`{}` would have {} elements of {} bytes, more than 2^48 bytes",
                                name, *count, size))
        .with_fix("give fewer elements");
  if (*count * size > limit.bytes)
    return diagnose(limit.exceeded, {},
                    fmt::format("`{}` would have {}, and there are {}", name,
                                exact_bytes(*count * size), exact_bytes(limit.bytes, false)))
        .with_fix("give fewer elements or a higher memory limit");
  return random_elements(element, *count, *seed);
}

uint64_t splitmix64(uint64_t& state) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// A multiple of 2^-(digits-1) in [-1, 1), which a float with that many digits holds exactly.
double unit_interval(uint64_t random, int digits) {
  return static_cast<double>(random >> (64 - digits)) *
             std::bit_cast<double>(uint64_t(1023 - digits + 1) << 52) -
         1;
}

uint64_t random_bits(Type element, uint64_t random) {
  switch (element) {
    case Type::Bool: return random & 1;
    case Type::F64: return std::bit_cast<uint64_t>(unit_interval(random, 53));
    case Type::F32: return std::bit_cast<uint32_t>(static_cast<float>(unit_interval(random, 24)));
    case Type::F16: return to_f16(static_cast<float>(unit_interval(random, 11)));
    case Type::BF16: return to_bf16(static_cast<float>(unit_interval(random, 8)));
    default: return random & low_mask(width_of(element));
  }
}

}  // namespace

uint64_t element_bits(Type element, std::span<const std::byte> bytes, uint64_t index) {
  const size_t size = size_of(element);
  uint64_t bits = 0;
  for (size_t k = 0; k < size; ++k)
    bits |= static_cast<uint64_t>(bytes[index * size + k]) << (8 * k);
  return bits;
}

void append_element(Bytes& bytes, Type element, uint64_t bits) {
  for (size_t k = 0; k < size_of(element); ++k)
    bytes.push_back(static_cast<std::byte>(bits >> (8 * k)));
}

Result<Bytes> parse_elements(std::string_view spec, const std::string& name, Type element,
                             SizeLimit limit) {
  constexpr std::string_view random = "random:", raw = "raw:@";
  if (spec.starts_with(raw)) return read_raw(std::string(spec.substr(raw.size())), name, limit);
  if (spec.starts_with('@')) {
    const std::string path(spec.substr(1));
    if (is_other_format(path)) return not_raw(path, name);
    return read_raw(path, name, limit);
  }
  if (spec.starts_with(random))
    return parse_random(spec.substr(random.size()), name, element, limit);
  return parse_list(spec, name, element);
}

Bytes random_elements(Type element, uint64_t count, uint64_t seed) {
  Bytes bytes;
  bytes.reserve(count * size_of(element));
  for (uint64_t i = 0; i < count; ++i)
    append_element(bytes, element, random_bits(element, splitmix64(seed)));
  return bytes;
}

std::string print_elements(Type element, std::span<const std::byte> bytes, uint64_t count) {
  const uint64_t there = bytes.size() / size_of(element);
  std::string out;
  for (uint64_t i = 0; i < std::min(count, there); ++i) {
    if (i != 0) out += ' ';
    out += text::print_value(element, element_bits(element, bytes, i));
  }
  return out;
}

}  // namespace vyre::cli
