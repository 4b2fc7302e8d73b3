#include "runtime/cache/cache_key.h"

#include <algorithm>

#include "wire/fingerprint.h"
#include "wire/wire.h"
#include "wire/wire_bytes.h"

namespace vyre::driver {
namespace {

/// Reads the output of wire::Bytes; after the first missing item everything is empty.
class KeyReader {
 public:
  explicit KeyReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    const std::string_view piece = take(sizeof(T));
    return piece.empty() ? T{} : wire::load<T>(reinterpret_cast<const std::byte*>(piece.data()));
  }
  std::string text() { return std::string(take(get<uint32_t>())); }
  Hash128 hash() {
    const auto lo = get<uint64_t>();
    return {lo, get<uint64_t>()};
  }
  bool at_end() const { return ok_ && rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view take(size_t n) {
    if (!ok_ || n > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view piece = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return piece;
  }

  std::string_view rest_;
  bool ok_ = true;
};

void put(wire::Bytes& out, Hash128 hash) {
  out.u64(hash.lo);
  out.u64(hash.hi);
}

}  // namespace

CacheKey seal(const CacheKeyFields& f) {
  wire::Bytes out;
  put(out, f.fingerprint);
  for (const std::string* s : {&f.backend, &f.target, &f.driver_version, &f.build}) out.text(*s);
  out.u32(f.subgroup_size);
  out.u32(f.default_subgroup_size);
  out.u8(f.stoppable);
  out.u32(uint32_t(f.extra.size()));
  for (const std::string& s : f.extra) out.text(s);
  out.u8(0);  // reserved

  CacheKey key;
  key.bytes.assign(reinterpret_cast<const char*>(out.data.data()), out.data.size());
  key.hash = hash128(key.bytes);
  return key;
}

std::optional<CacheKeyFields> read_key(std::string_view bytes) {
  KeyReader in(bytes);
  CacheKeyFields f;
  f.fingerprint = in.hash();
  for (std::string* s : {&f.backend, &f.target, &f.driver_version, &f.build}) *s = in.text();
  f.subgroup_size = in.get<uint32_t>();
  f.default_subgroup_size = in.get<uint32_t>();
  f.stoppable = in.get<uint8_t>() != 0;
  for (auto n = in.get<uint32_t>(); n > 0 && in.ok(); --n) f.extra.push_back(in.text());
  if (in.get<uint8_t>() != 0) return std::nullopt;
  if (!in.at_end() || seal(f).bytes != bytes) return std::nullopt;
  return f;
}

CacheKey make_key(const Program& program, const DeviceInfo& device, const CompileOptions& options) {
  CacheKeyFields f{.fingerprint = fingerprint(program),
                   .backend = device.backend,
                   .target = device.target,
                   .driver_version = device.driver_version,
                   .build = build_id(),
                   .subgroup_size = options.subgroup_size,
                   .default_subgroup_size = device.limits.default_subgroup_size,
                   .stoppable = options.stoppable,
                   .extra = options.extra};
  std::sort(f.extra.begin(), f.extra.end());
  return seal(f);
}

}  // namespace vyre::driver
