#include "support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "support/output_file.h"

namespace vyre {
namespace {

FileError error_of(int code, std::string_view doing, const std::string& path) {
  return {code, fmt::format("{} '{}': {}", doing, path, std::generic_category().message(code))};
}

// Closes on every way out, and keeps errno for the caller's message.
struct Descriptor {
  int fd = -1;

  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    const int saved = errno;
    if (fd > STDERR_FILENO) ::close(fd);
    errno = saved;
  }
};

FileContents too_large(const std::string& path, std::uint64_t max_bytes) {
  return {"", FileError{EFBIG, fmt::format("read '{}': larger than the limit of {} bytes", path,
                                           max_bytes)}};
}

/// Reads until the end. The stated size is a hint: it is 0 in /proc and for pipes.
FileContents read_to_end(int fd, std::uint64_t stated, const std::string& path,
                         std::uint64_t max_bytes) {
  // Reads one byte more than the size first, so that an ordinary file takes one read and one that
  // returns the end.
  FileContents result;
  constexpr std::uint64_t kStep = 1 << 16;
  std::size_t used = 0;
  const std::uint64_t room = std::max(stated, kStep) + 1;
  for (;;) {
    if (used == result.bytes.size()) {
      const std::uint64_t grown = std::max<std::uint64_t>(room, result.bytes.size() * 2);
      // One byte over the cap distinguishes "exactly the cap" from "more".
      const std::uint64_t size =
          max_bytes < UINT64_MAX ? std::min<std::uint64_t>(grown, max_bytes + 1) : grown;
      result.bytes.resize(static_cast<std::size_t>(size));
    }
    const ssize_t n = ::read(fd, result.bytes.data() + used, result.bytes.size() - used);
    if (n < 0) {
      if (errno == EINTR) continue;
      return {"", error_of(errno, "read", path)};
    }
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > max_bytes) return too_large(path, max_bytes);
  }
  result.bytes.resize(used);
  return result;
}

}  // namespace

FileContents read_file(const std::string& path, std::uint64_t max_bytes) {
  const bool is_stdin = path == "-";
  const Descriptor file(is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return {"", error_of(errno, "open", path)};
  if (S_ISDIR(info.st_mode)) return {"", error_of(EISDIR, "read", path)};
  const auto stated = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  if (S_ISREG(info.st_mode) && !is_stdin && stated > max_bytes) return too_large(path, max_bytes);
  return read_to_end(file.fd, stated, path, max_bytes);
}

FileContents read_regular_file(const std::string& path, std::uint64_t max_bytes) {
  const auto not_regular = [&](mode_t mode) -> FileContents {
    if (S_ISDIR(mode)) return {"", error_of(EISDIR, "read", path)};
    return {"", FileError{EINVAL, fmt::format("read '{}': not a regular file", path)}};
  };
  // Looked at before it is opened, because opening a device may do something; and after, because
  // the name may mean another file by then.
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return {"", error_of(errno, "open", path)};
  if (!S_ISREG(info.st_mode)) return not_regular(info.st_mode);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return {"", error_of(errno, "open", path)};
  if (!S_ISREG(info.st_mode)) return not_regular(info.st_mode);
  const auto stated = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  if (stated > max_bytes) return too_large(path, max_bytes);
  return read_to_end(file.fd, stated, path, max_bytes);
}

std::optional<FileError> write_file(const std::string& path, std::span<const std::byte> bytes) {
  OutputFile file;
  if (auto error = OutputFile::open(path, file)) return error;
  if (auto error = file.write(bytes)) return error;
  return file.commit();
}

std::optional<FileError> write_file(const std::string& path, std::string_view bytes) {
  return write_file(path, std::as_bytes(std::span(bytes)));
}

}  // namespace vyre
