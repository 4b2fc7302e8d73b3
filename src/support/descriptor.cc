#include "support/descriptor.h"

#include <sys/mman.h>

#include <cerrno>

namespace vyre {

int write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return 0;
}

int make_memory_file(std::span<const std::byte> bytes, Descriptor& file) {
  file.reset(::memfd_create("vyre", MFD_CLOEXEC));
  if (!file.open()) return errno;
  if (const int code = write_all(file.get(), bytes)) return code;
  return ::lseek(file.get(), 0, SEEK_SET) == 0 ? 0 : errno;
}

}  // namespace vyre
