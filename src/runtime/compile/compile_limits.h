#pragma once

// Time and memory that a compilation may take.
//
//   CompileOptions options;
//   options.limits = CompileLimits(0.5, 256 << 20);  // half a second from now, 256 MiB
//
// The optimizer, the splitter and the emitters for GPUs poll the deadline. LLVM cannot be stopped
// inside a process: the CPU backend compiles with limits in another process
// (isolated_compile.h). The compilers of GPU drivers are not limited.

#include <chrono>
#include <cstdint>
#include <optional>

#include "diagnostics/diagnostic.h"
#include "ir/program.h"

namespace vyre::driver {

class CompileLimits {
 public:
  using Clock = std::chrono::steady_clock;

  CompileLimits() = default;
  /// The time begins now. 0 means no limit. The memory is the memory of compilation besides the
  /// fixed size of a compiler.
  explicit CompileLimits(double seconds, uint64_t bytes = 0);

  bool any() const { return deadline_.has_value() || bytes_ > 0; }
  double seconds() const { return seconds_; }
  uint64_t bytes() const { return bytes_; }
  const std::optional<Clock::time_point>& deadline() const { return deadline_; }
  bool is_over() const { return deadline_ && Clock::now() >= *deadline_; }
  /// The same amounts; the time begins now.
  CompileLimits restarted() const { return CompileLimits(seconds_, bytes_); }

  /// Returns V0502: the deadline passed while the program was compiled.
  Diagnostic timed_out(const Program& program) const;
  /// Returns V0503: compiling the program takes more than bytes().
  Diagnostic out_of_memory(const Program& program) const;

  bool operator==(const CompileLimits&) const = default;

 private:
  double seconds_ = 0;
  uint64_t bytes_ = 0;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace vyre::driver
