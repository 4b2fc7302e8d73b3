#include "runtime/compile/compile_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/bytes_text.h"

namespace vyre::driver {

CompileLimits::CompileLimits(double seconds, uint64_t bytes) : seconds_(seconds), bytes_(bytes) {
  if (!(seconds > 0)) return;
  const std::chrono::duration<double> time(std::min(seconds, 1e9));
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

Diagnostic CompileLimits::timed_out(const Program& p) const {
  return diagnose(
             Code::TimeLimitExceeded, p.place(p.loc),
             fmt::format("kernel `{}` was still being compiled after {} seconds", p.name, seconds_))
      .with_fix("raise the time limit, or use a smaller kernel");
}

Diagnostic CompileLimits::out_of_memory(const Program& p) const {
  return diagnose(Code::MemoryLimitExceeded, p.place(p.loc),
                  fmt::format("memory limit: compiling kernel `{}` takes more than {}", p.name,
                              exact_bytes(bytes_)))
      .with_fix("raise the memory limit, or use a smaller kernel");
}

}  // namespace vyre::driver
