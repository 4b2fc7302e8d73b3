#include "support/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <random>
#include <system_error>
#include <utility>

#include "support/descriptor.h"

namespace vyre {
namespace {

FileError error_of(int code, std::string_view doing, const std::string& path) {
  return {code, fmt::format("{} '{}': {}", doing, path, std::generic_category().message(code))};
}

/// The folder of a path, with a slash at the end.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The file that a path leads to through symbolic links; it need not exist. The kernel followed the
/// links before, so they have an end.
std::string resolved(std::string path) {
  constexpr int max_links = 40;
  for (int i = 0; i < max_links; ++i) {
    char link[PATH_MAX];
    const ssize_t n = ::readlink(path.c_str(), link, sizeof link);
    if (n <= 0) break;
    const std::string to(link, static_cast<std::size_t>(n));
    path = to[0] == '/' ? to : folder_of(path) + to;
  }
  return path;
}

/// The permissions of a newly created file. Reading the umask requires setting it, which affects
/// other threads, so the kernel's report is read; 022 where there is none.
mode_t default_mode() {
  mode_t mask = 022;
  const FileContents status = read_file("/proc/self/status", 1 << 16);
  const std::size_t at = status.bytes.find("\nUmask:");
  if (at != std::string::npos)
    mask = static_cast<mode_t>(std::strtoul(status.bytes.c_str() + at + 7, nullptr, 8));
  return 0666 & ~mask;
}

/// A short name, because that of the target may be as long as names can be.
std::string temporary_name(const std::string& folder) {
  std::random_device random;
  return fmt::format("{}.vyre-{:08x}{:08x}", folder, random(), random());
}

/// Names a file that has no name. False and errno if that cannot be done.
bool give_name(int fd, const std::string& name) {
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

/// Opens a file without a name in the folder. -1 if the file system has none, or cannot name them
/// afterwards, which is tried with another one.
int nameless_file(const std::string& folder) {
  constexpr int flags = O_TMPFILE | O_WRONLY | O_CLOEXEC;
  const int probe = ::open(folder.c_str(), flags, 0600);
  if (probe < 0) return -1;
  const std::string name = temporary_name(folder);
  const bool works = give_name(probe, name) && ::unlink(name.c_str()) == 0;
  ::close(probe);
  return works ? ::open(folder.c_str(), flags, 0600) : -1;
}

/// The descriptor of standard output or error if it is this file, else -1.
int standard_stream(const struct stat& file) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat info{};
    if (::fstat(fd, &info) == 0 && info.st_dev == file.st_dev && info.st_ino == file.st_ino)
      return fd;
  }
  return -1;
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::swap(OutputFile& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(id_, other.id_);
  std::swap(mode_, other.mode_);
  std::swap(fd_, other.fd_);
  std::swap(direct_, other.direct_);
}

std::optional<FileError> OutputFile::open(const std::string& path, OutputFile& into) {
  OutputFile file;
  file.path_ = path;
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return error_of(errno, "create", path);
  if (exists && S_ISDIR(info.st_mode)) return error_of(EISDIR, "write", path);
  const int stream = exists ? standard_stream(info) : -1;
  file.direct_ = exists && (!S_ISREG(info.st_mode) || stream >= 0);
  if (exists) {
    file.id_ = {info.st_dev, info.st_ino, ""};
    file.mode_ = info.st_mode & 07777;
  }
  if (auto error = file.direct_ ? file.open_direct(info, stream) : file.open_temporary(exists))
    return error;
  into = std::move(file);
  return std::nullopt;
}

std::optional<FileError> OutputFile::open_direct(const struct stat& info, int stream) {
  if (S_ISFIFO(info.st_mode)) {
    if (::access(path_.c_str(), W_OK) == 0) return std::nullopt;
  } else {
    // A stream that is a file is written at its current position.
    fd_ = S_ISREG(info.st_mode) ? ::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ >= 0) return std::nullopt;
  }
  return error_of(errno, "open", path_);
}

std::optional<FileError> OutputFile::open_temporary(bool exists) {
  target_ = resolved(path_);
  const std::string name = name_of(target_);
  if (name.size() > NAME_MAX) return error_of(ENAMETOOLONG, "create", path_);
  const std::string folder = folder_of(target_);
  struct stat info{};
  if (name.empty() || ::stat(folder.c_str(), &info) != 0)
    return error_of(name.empty() ? ENOENT : errno, "create", path_);
  if (!exists) {
    id_ = {info.st_dev, info.st_ino, name};
    mode_ = default_mode();
  }
  fd_ = nameless_file(folder);
  if (fd_ >= 0) return std::nullopt;
  const std::string temporary = temporary_name(folder);
  fd_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ < 0) return error_of(errno, "create", path_);
  temporary_ = temporary;
  return std::nullopt;
}

bool OutputFile::is_same(const OutputFile& other) const { return id_ == other.id_; }

std::optional<FileError> OutputFile::write(std::span<const std::byte> bytes) {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);  // a pipe
  if (fd_ < 0) return error_of(errno, "open", path_);
  int code = write_all(fd_, bytes);
  if (code == 0 && !direct_ && ::fchmod(fd_, mode_) != 0) code = errno;
  if (direct_ && ::close(std::exchange(fd_, -1)) != 0 && code == 0) code = errno;
  if (code != 0) return error_of(code, "write", path_);
  return std::nullopt;
}

std::optional<FileError> OutputFile::commit() {
  if (direct_) return std::nullopt;
  if (temporary_.empty()) {
    const std::string name = temporary_name(folder_of(target_));
    if (!give_name(fd_, name)) return error_of(errno, "write", path_);
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return error_of(errno, "write", path_);
  temporary_.clear();
  return std::nullopt;
}

}  // namespace vyre
