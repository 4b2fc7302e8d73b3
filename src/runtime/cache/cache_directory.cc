#include "runtime/cache/cache_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>
#include <system_error>

namespace vyre::driver {
namespace {

constexpr std::string_view entry_suffix = ".vyc";
constexpr std::string_view temporary_prefix = "tmp-";
constexpr const char* tag_name = "CACHEDIR.TAG";
// The first line is fixed by https://bford.info/cachedir.
constexpr std::string_view tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder was made by vyre for its compile cache. `vyre cache clear` empties it.\n";
constexpr int64_t second_ns = 1'000'000'000;
constexpr int64_t stale_ns = 3600 * second_ns;

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
// O_NONBLOCK: opening a pipe with this name must not block.
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
constexpr int new_file_flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

std::string reason(int code) { return std::generic_category().message(code); }

bool is_decimal(std::string_view s) {
  return !s.empty() && s.find_first_not_of("0123456789") == s.npos;
}
bool is_hex(std::string_view s, size_t digits) {
  return s.size() == digits && s.find_first_not_of("0123456789abcdef") == s.npos;
}

bool is_entry(std::string_view name) {
  return name.ends_with(entry_suffix) && is_hex(name.substr(0, name.size() - 4), 32);
}

/// True for the names that temporary_name() gives: tmp-PROCESS-RANDOM-NUMBER.
bool is_temporary(std::string_view name) {
  if (!name.starts_with(temporary_prefix)) return false;
  name.remove_prefix(temporary_prefix.size());
  const size_t first = name.find('-'), last = name.rfind('-');
  return first != name.npos && first < last && is_decimal(name.substr(0, first)) &&
         is_hex(name.substr(first + 1, last - first - 1), 16) && is_decimal(name.substr(last + 1));
}

/// Returns why the file or folder may have been written by another user, or "".
std::string distrust(const struct stat& info) {
  if (info.st_uid != ::geteuid()) return fmt::format("belongs to user {}", info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH)) return "may be written to by other users";
  return "";
}

int64_t time_of(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * second_ns + info.st_mtim.tv_nsec;
}

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int take() { return std::exchange(fd, -1); }
};

/// Creates each folder of the path in turn. A failure shows when the folder is opened.
void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
    if (end == path.npos) return;
  }
}

/// Returns a name that no other thread, process or host uses.
std::string temporary_name() {
  static const uint64_t process = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  static std::atomic<uint64_t> next{0};
  return fmt::format("{}{}-{:016x}-{}", temporary_prefix, ::getpid(), process, next++);
}

std::string write_all(int fd, std::span<const std::byte> bytes, const WriteFunction& write) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return reason(n < 0 ? errno : EIO);
    bytes = bytes.subspan(std::min(size_t(n), bytes.size()));
  }
  return "";
}

/// Creates the subdirectory of entries. It is renamed to its final name after its tag is written,
/// so that no process sees it without the tag. A failure shows when it is opened; another process
/// may have been faster.
void make_entries(int folder) {
  const std::string temporary = temporary_name();
  if (::mkdirat(folder, temporary.c_str(), 0700) != 0) return;
  const Descriptor made(::openat(folder, temporary.c_str(), folder_flags));
  if (made.fd >= 0) {
    const Descriptor file(::openat(made.fd, tag_name, new_file_flags, 0600));
    if (file.fd >= 0 && write_all(file.fd, std::as_bytes(std::span(tag)), ::write).empty() &&
        ::renameat(folder, temporary.c_str(), folder, CacheDirectory::entries_name) == 0)
      return;
    ::unlinkat(made.fd, tag_name, 0);
  }
  ::unlinkat(folder, temporary.c_str(), AT_REMOVEDIR);
}

bool has_tag(int folder) {
  const Descriptor file(::openat(folder, tag_name, read_flags));
  std::array<char, tag.size()> bytes;
  return file.fd >= 0 && ::read(file.fd, bytes.data(), bytes.size()) == ssize_t(tag.size()) &&
         std::string_view(bytes.data(), bytes.size()) == tag;
}

/// True if it is a regular file of this user that begins like an entry, or is shorter than that.
bool is_own(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), read_flags));
  struct stat info{};
  std::array<std::byte, entry_magic.size()> bytes;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid())
    return false;
  const ssize_t n = ::pread(file.fd, bytes.data(), bytes.size(), 0);
  return n >= 0 && std::memcmp(bytes.data(), entry_magic.data(), size_t(n)) == 0;
}

/// The current time, read from the clock: the kernel's file times are as coarse as its clock tick,
/// which would mix up the order of uses.
struct Now {
  timespec times[2];
  Now() {
    const int64_t now = unix_now_ns();
    times[0] = times[1] = {.tv_sec = now / second_ns, .tv_nsec = now % second_ns};
  }
};

/// True if writing would exceed the limit on file sizes and raise a signal that ends the process.
bool is_over_file_limit(size_t bytes) {
  struct rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

}  // namespace

int64_t unix_now_ns() {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * second_ns + now.tv_nsec;
}

CacheDirectory::~CacheDirectory() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<CacheDirectory> CacheDirectory::open(const std::string& path, Open how,
                                                   std::string& why) {
  why.clear();
  const auto fail = [&](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  // Returns why an opened folder cannot be used, or "".
  const auto problem = [&](int fd, const std::string& name) -> std::string {
    struct stat info{};
    if (fd < 0 || ::fstat(fd, &info) != 0)
      return fmt::format("cannot open '{}': {}", name, reason(errno));
    const std::string distrusted = distrust(info);
    return distrusted.empty() ? "" : fmt::format("'{}' {}", name, distrusted);
  };
  const bool creates = how == Open::Create;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;  // the user's folder may be a link
  int fd = ::open(path.c_str(), flags);
  if (fd < 0 && errno == ENOENT && creates) {
    make_folders(path);
    fd = ::open(path.c_str(), flags);
  }
  if (fd < 0 && errno == ENOENT && !creates) return std::nullopt;
  const Descriptor folder(fd);
  if (std::string p = problem(folder.fd, path); !p.empty()) return fail(std::move(p));

  const std::string name = fmt::format("{}/{}", path, entries_name);
  fd = ::openat(folder.fd, entries_name, folder_flags);
  if (fd < 0 && errno == ENOENT && creates) {
    make_entries(folder.fd);
    fd = ::openat(folder.fd, entries_name, folder_flags);
  }
  if (fd < 0 && errno == ENOENT && !creates) return std::nullopt;
  Descriptor entries(fd);
  if (std::string p = problem(entries.fd, name); !p.empty()) return fail(std::move(p));
  if (!has_tag(entries.fd)) return fail(fmt::format("'{}' was not made by vyre", name));
  return CacheDirectory(entries.take());
}

std::string CacheDirectory::file_name(Hash128 hash) {
  return hash.to_hex() + std::string(entry_suffix);
}

template <class Fn>
void CacheDirectory::each_name(Fn&& see) const {
  // A separate descriptor: a DIR owns its descriptor, and its position in the list.
  const int fd = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  DIR* names = ::fdopendir(fd);
  if (!names) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(names)) see(std::string(entry->d_name));
  ::closedir(names);
}

std::vector<CacheFile> CacheDirectory::list() const {
  std::vector<CacheFile> files;
  each_name([&](std::string name) {
    struct stat info{};
    if (is_entry(name) && ::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back({std::move(name), uint64_t(info.st_size), time_of(info)});
  });
  return files;
}

CacheDirectory::Contents CacheDirectory::read(const std::string& name, uint64_t max_bytes,
                                              bool head_only) const {
  using Kind = Contents::Kind;
  const Descriptor file(::openat(fd_, name.c_str(), read_flags));
  if (file.fd < 0) return errno == ENOENT ? Contents{} : Contents{Kind::Bad, {}, reason(errno)};
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) return {Kind::Bad, {}, reason(errno)};
  if (!S_ISREG(info.st_mode)) return {Kind::Bad, {}, "it is no regular file"};
  if (std::string why = distrust(info); !why.empty()) return {Kind::Bad, {}, "it " + why};

  uint64_t size = uint64_t(info.st_size);
  if (size > max_bytes) {
    if (!head_only)
      return {Kind::Bad, {}, fmt::format("{} bytes are more than {}", size, max_bytes)};
    size = max_bytes;
  }
  Contents contents{Kind::Read, CacheBytes(size), {}};
  size_t used = 0;
  while (used < size) {
    const ssize_t n = ::read(file.fd, contents.bytes.data() + used, size - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {Kind::Bad, {}, reason(errno)};
    if (n == 0) break;  // it shrank; its length will say so
    used += size_t(n);
  }
  contents.bytes.resize(used);
  return contents;
}

std::string CacheDirectory::write(const std::string& name, std::span<const std::byte> bytes,
                                  const WriteFunction& write) const {
  if (is_over_file_limit(bytes.size())) return reason(EFBIG);
  const std::string temporary = temporary_name();
  std::string why;
  {
    const Descriptor file(::openat(fd_, temporary.c_str(), new_file_flags, 0600));
    if (file.fd < 0) return reason(errno);
    why = write_all(file.fd, bytes, write);
    ::futimens(file.fd, Now().times);
  }
  if (why.empty() && ::renameat(fd_, temporary.c_str(), fd_, name.c_str()) != 0)
    why = reason(errno);
  if (!why.empty()) ::unlinkat(fd_, temporary.c_str(), 0);
  return why;
}

void CacheDirectory::touch(const std::string& name) const {
  ::utimensat(fd_, name.c_str(), Now().times, AT_SYMLINK_NOFOLLOW);
}

CacheDirectory::Removal CacheDirectory::remove(const std::string& name) const {
  if (!is_entry(name) && !is_temporary(name)) return Removal::Foreign;
  struct stat info{};
  if (::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
    return Removal::Gone;
  if (!is_own(fd_, name)) return Removal::Foreign;
  if (::unlinkat(fd_, name.c_str(), 0) == 0) return Removal::Removed;
  return errno == ENOENT ? Removal::Gone : Removal::Failed;
}

CacheDirectory::Trimmed CacheDirectory::trim(uint64_t max_bytes) const {
  const int64_t now = unix_now_ns();
  each_name([&](const std::string& name) {
    struct stat info{};
    if (is_temporary(name) && ::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        time_of(info) < now - stale_ns)
      remove(name);
  });
  std::vector<CacheFile> files = list();
  Trimmed result;
  for (CacheFile& f : files) {
    result.bytes += f.bytes;
    if (f.used_ns > now + stale_ns) f.used_ns = 0;  // ignores a time in the future
  }
  if (result.bytes <= max_bytes) return result;
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return a.used_ns < b.used_ns; });
  for (const CacheFile& f : files) {
    if (result.bytes <= max_bytes - max_bytes / 8) break;
    if (&f == &files.back() && f.bytes <= max_bytes) break;  // the newest, which may be that large
    const Removal removal = remove(f.name);
    result.evicted += removal == Removal::Removed;
    if (removal == Removal::Removed || removal == Removal::Gone) result.bytes -= f.bytes;
  }
  return result;
}

CacheDirectory::Cleared CacheDirectory::clear() const {
  Cleared result;
  each_name([&](const std::string& name) {
    struct stat info{};
    if (::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    const Removal removal = remove(name);
    if (removal == Removal::Removed) {
      ++result.files;
      result.bytes += uint64_t(info.st_size);
    } else if (removal == Removal::Failed) {
      ++result.left;
    }
  });
  return result;
}

}  // namespace vyre::driver
