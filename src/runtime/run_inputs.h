#pragma once

// The inputs of a run that is repeated: written once, and restored before each later repeat where a
// launch may have changed them.

#include <optional>
#include <span>
#include <vector>

#include "runtime/buffer_owner.h"
#include "runtime/run_kernel.h"

namespace vyre::driver {

class RunInputs {
 public:
  RunInputs(BufferOwner& owner, const RunOptions& options) : owner_(owner), options_(options) {}

  /// Adds the buffer of parameter `i`. `data` may end before an output, and must outlive this
  /// object.
  void add(Role role, const Buffer& to, std::span<const std::optional<std::vector<std::byte>>> data,
           size_t i);

  /// Returns the commands before the first repeat.
  const std::vector<Command>& first() const { return first_; }

  /// Returns the commands before the next repeat. Inputs that a launch may change are restored from
  /// a copy on the device. That takes as long as reading and writing its memory once and leaves the
  /// device no time to become idle: GPUs lower their clocks while a large upload is prepared. The
  /// copies are made before the second repeat; without `spare` bytes for them, or without device
  /// memory, the inputs are uploaded again each time.
  std::vector<Command> next(uint64_t spare);

  /// Returns the commands of `count` repeats of `launch`, with the restores before each.
  std::vector<Command> repeated(uint64_t spare, const Command& launch, uint32_t count);

 private:
  struct Changed {
    Buffer buffer;
    const std::vector<std::byte>* data;
  };
  std::optional<Buffer> make_copy(uint64_t bytes, uint64_t& spare);

  BufferOwner& owner_;
  const RunOptions& options_;
  std::vector<Command> first_, next_;
  std::vector<Changed> changed_;
  bool prepared_ = false;
};

}  // namespace vyre::driver
