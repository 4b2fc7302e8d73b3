#pragma once

// A file descriptor that is closed when its owner goes.

#include <unistd.h>

#include <cstddef>
#include <span>
#include <utility>

namespace vyre {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

/// Makes a file in memory that holds the bytes, to be read from the start. Returns 0, or errno.
int make_memory_file(std::span<const std::byte> bytes, Descriptor& file);

/// Writes all bytes. Returns 0, or errno.
int write_all(int fd, std::span<const std::byte> bytes);

}  // namespace vyre
