#include "driver/cache_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <string_view>
#include <system_error>

namespace vyre::driver {
namespace {

constexpr std::string_view entry_suffix = ".vyc";
constexpr std::string_view temporary_prefix = "tmp-";
constexpr int64_t second_ns = 1'000'000'000;
constexpr int64_t stale_ns = 3600 * second_ns;

std::string reason(int code) { return std::generic_category().message(code); }

bool is_entry(std::string_view name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() == 32 + entry_suffix.size() && name.ends_with(entry_suffix) &&
         std::all_of(name.begin(), name.begin() + 32, is_digit);
}
bool is_temporary(std::string_view name) { return name.starts_with(temporary_prefix); }

/// May somebody else have written it?
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
};

/// Each folder of the path in turn. What fails shows when the folder is opened.
void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
    if (end == path.npos) return;
  }
}

/// Unlike any that another thread, process or host makes.
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

/// The time as we read it: the kernel's own is as coarse as its clock tick, which would mix up the
/// order of uses.
struct Now {
  timespec times[2];
  Now() {
    const int64_t now = unix_now_ns();
    times[0] = times[1] = {.tv_sec = now / second_ns, .tv_nsec = now % second_ns};
  }
};

/// Writing beyond the limit on file sizes would raise a signal that ends the process.
bool is_over_file_limit(size_t bytes) {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

}  // namespace

int64_t unix_now_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * second_ns + now.tv_nsec;
}

CacheDirectory::~CacheDirectory() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<CacheDirectory> CacheDirectory::open(const std::string& path, Open how,
                                                   std::string& why) {
  why.clear();
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int fd = ::open(path.c_str(), flags);
  if (fd < 0 && errno == ENOENT && how == Open::Create) {
    make_folders(path);
    fd = ::open(path.c_str(), flags);
  }
  if (fd < 0) {
    if (errno != ENOENT || how == Open::Create)
      why = fmt::format("cannot open '{}': {}", path, reason(errno));
    return std::nullopt;
  }
  CacheDirectory directory(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0)
    why = fmt::format("cannot open '{}': {}", path, reason(errno));
  else if (const std::string distrusted = distrust(info); !distrusted.empty())
    why = fmt::format("'{}' {}", path, distrusted);
  if (!why.empty()) return std::nullopt;
  return directory;
}

std::string CacheDirectory::file_name(Hash128 hash) {
  return hash.to_hex() + std::string(entry_suffix);
}

template <class Fn>
void CacheDirectory::each_name(Fn&& see) const {
  // A descriptor of its own: a DIR owns its descriptor, and its position in the list.
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
    struct stat info {};
    if (is_entry(name) && ::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back({std::move(name), uint64_t(info.st_size), time_of(info)});
  });
  return files;
}

CacheDirectory::Contents CacheDirectory::read(const std::string& name, uint64_t max_bytes,
                                              bool head_only) const {
  using Kind = Contents::Kind;
  // O_NONBLOCK: a pipe by this name must not make us wait.
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const Descriptor file(::openat(fd_, name.c_str(), flags));
  if (file.fd < 0) return errno == ENOENT ? Contents{} : Contents{Kind::Bad, {}, reason(errno)};
  struct stat info {};
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
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  std::string why;
  {
    const Descriptor file(::openat(fd_, temporary.c_str(), flags, 0600));
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

bool CacheDirectory::remove(const std::string& name) const {
  return ::unlinkat(fd_, name.c_str(), 0) == 0;
}

CacheDirectory::Trimmed CacheDirectory::trim(uint64_t max_bytes) const {
  const int64_t now = unix_now_ns();
  each_name([&](const std::string& name) {
    struct stat info {};
    if (is_temporary(name) && ::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        time_of(info) < now - stale_ns)
      remove(name);
  });
  std::vector<CacheFile> files = list();
  Trimmed result;
  for (CacheFile& f : files) {
    result.bytes += f.bytes;
    if (f.used_ns > now + stale_ns) f.used_ns = 0;  // a time to come is no use of it
  }
  if (result.bytes <= max_bytes) return result;
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return a.used_ns < b.used_ns; });
  for (const CacheFile& f : files) {
    if (result.bytes <= max_bytes - max_bytes / 8) break;
    if (&f == &files.back() && f.bytes <= max_bytes) break;  // the newest, which may be that large
    if (remove(f.name)) ++result.evicted;
    result.bytes -= f.bytes;  // gone, by us or by another process
  }
  return result;
}

CacheDirectory::Cleared CacheDirectory::clear() const {
  Cleared result;
  each_name([&](const std::string& name) {
    struct stat info {};
    if (!is_entry(name) && !is_temporary(name)) return;
    if (::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (remove(name)) {
      ++result.files;
      result.bytes += uint64_t(info.st_size);
    } else if (errno != ENOENT) {
      ++result.left;
    }
  });
  return result;
}

}  // namespace vyre::driver
