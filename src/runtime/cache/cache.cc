#include "runtime/cache/cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace vyre::driver {
namespace {

/// Returns true if the entry holds this program for this key.
bool matches(const EntryView& entry, const CacheKey& key, const Program& program) {
  if (entry.key != key.bytes) return false;
  const CacheBytes wire = nameless_wire(program);
  return std::equal(entry.program.begin(), entry.program.end(), wire.begin(), wire.end());
}

bool matches(const CachedCode& cached, const CacheKey& key, const Program& program) {
  if (cached.image.view.key == key.bytes && same_but_for_names(*cached.program, program))
    return true;
  return matches(cached.image.view, key, program);
}

CacheOptions completed(CacheOptions options) {
  if (!options.write) options.write = ::write;
  if (!options.enabled) options.memory_bytes = 0;
  if (!options.enabled || options.disk_bytes == 0) options.directory.clear();
  return options;
}

}  // namespace

CompileCache::CompileCache(CacheOptions options)
    : options_(completed(std::move(options))), memory_(options_.memory_bytes) {
  if (!options_.directory.empty()) return;
  problem_ = !options_.enabled              ? "the cache is turned off"
             : options_.disk_bytes == 0     ? "its size on disk is 0"
             : options_.why_no_disk.empty() ? "it has no folder"
                                            : options_.why_no_disk;
}

std::optional<CacheEntry> CompileCache::find(const Key& key, const Program& program) {
  try {
    if (options_.enabled) {
      const auto cached = memory_.find(key.hash);
      if (cached && matches(*cached, key, program)) {
        ++memory_hits_;
        return Entry{cached->image.view.code, Entry::Origin::Memory, cached->image.bytes};
      }
      if (auto entry = find_on_disk(key, program)) {
        ++disk_hits_;
        return entry;
      }
    }
  } catch (const std::bad_alloc&) {  // compiling may need less memory than reading
    set_problem("out of memory");
  }
  ++misses_;
  return std::nullopt;
}

std::optional<CacheEntry> CompileCache::find_on_disk(const Key& key, const Program& program) {
  if (options_.directory.empty()) return std::nullopt;
  std::string why;
  const auto directory =
      CacheDirectory::open(options_.directory, CacheDirectory::Open::Existing, why);
  if (!directory) {
    if (!why.empty()) set_problem(why);
    return std::nullopt;
  }
  using Kind = CacheDirectory::Contents::Kind;
  const std::string name = CacheDirectory::file_name(key.hash);
  CacheDirectory::Contents file = directory->read(name, options_.disk_bytes);
  if (file.kind == Kind::Missing) return std::nullopt;

  EntryImage image;
  if (file.kind == Kind::Read) {
    if (const auto view = parse_entry(file.bytes, &file.why)) {
      // Moving a vector leaves its elements, and the views of them, where they are.
      image.bytes = std::make_shared<const CacheBytes>(std::move(file.bytes));
      image.view = *view;
    }
  }
  if (!image.bytes) {
    ++bad_entries_;
    set_problem(fmt::format("bad entry {}: {}", name, file.why));
    directory->remove(name);
    return std::nullopt;
  }
  if (!matches(image.view, key, program)) return std::nullopt;  // another entry with the same hash
  directory->touch(name);
  Entry entry{image.view.code, Entry::Origin::Disk, image.bytes};
  store_in_memory(key, program, std::move(image));
  return entry;
}

void CompileCache::store(const Key& key, const Program& program, std::span<const std::byte> code) {
  if (!options_.enabled) return;
  try {
    EntryImage image = make_entry(key.bytes, program.name, nameless_wire(program), code,
                                  uint64_t(std::max<int64_t>(unix_now_ns(), 0)));
    const bool on_disk = store_on_disk(key, image);
    const bool in_memory = store_in_memory(key, program, std::move(image));
    if (on_disk || (options_.directory.empty() && in_memory)) ++stores_;
  } catch (const std::bad_alloc&) {
    set_problem("out of memory");
  }
}

bool CompileCache::store_in_memory(const Key& key, const Program& program, EntryImage image) {
  if (options_.memory_bytes == 0) return false;
  const auto stored = memory_.store(
      key.hash, {std::move(image), std::make_shared<const Program>(nameless(program))});
  memory_evictions_ += stored.evicted;
  return stored.kept;
}

bool CompileCache::store_on_disk(const Key& key, const EntryImage& image) {
  if (options_.directory.empty()) return false;
  const uint64_t size = image.bytes->size();
  if (size > options_.disk_bytes) return false;
  std::string why;
  const auto directory =
      CacheDirectory::open(options_.directory, CacheDirectory::Open::Create, why);
  if (directory) {
    why = directory->write(CacheDirectory::file_name(key.hash), *image.bytes, options_.write);
    if (!why.empty()) why = fmt::format("cannot write to '{}': {}", options_.directory, why);
  }
  set_problem(why);
  if (!why.empty()) return false;
  keep_to_size(*directory, size);
  return true;
}

// A scan costs one system call per entry, so it is not made for every store. It is made for the
// first store, when the known size exceeds the limit, and after this process stored a sixteenth of
// the limit: only a scan sees the stores of other processes.
void CompileCache::keep_to_size(const CacheDirectory& directory, uint64_t stored) {
  {
    const std::lock_guard lock(mutex_);
    known_bytes_ += stored;
    since_last_scan_ += stored;
    if (scanned_ && known_bytes_ <= options_.disk_bytes &&
        since_last_scan_ <= options_.disk_bytes / 16)
      return;
    scanned_ = true;  // set before the scan: other threads skip it
    since_last_scan_ = 0;
    known_bytes_ = 0;
  }
  const auto trimmed = directory.trim(options_.disk_bytes);
  evictions_ += trimmed.evicted;
  const std::lock_guard lock(mutex_);
  known_bytes_ += trimmed.bytes;
}

void CompileCache::set_problem(std::string why) {
  const std::lock_guard lock(mutex_);
  problem_ = std::move(why);
}

CacheStats CompileCache::stats() const {
  CacheStats s{.memory_hits = memory_hits_,
               .disk_hits = disk_hits_,
               .misses = misses_,
               .bad_entries = bad_entries_,
               .stores = stores_,
               .evictions = evictions_,
               .memory_evictions = memory_evictions_,
               .memory_bytes = memory_.bytes()};
  const std::lock_guard lock(mutex_);
  s.problem = problem_;
  return s;
}

}  // namespace vyre::driver
