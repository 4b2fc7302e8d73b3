#include "interp/interp_limits.h"

#include <fmt/format.h>
#include <unistd.h>

#include "diagnostics/budget.h"
#include "support/bytes_text.h"

namespace vyre::interp {
namespace {

uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : ~0ull;
}

}  // namespace

Result<> check_time_limit(double seconds) {
  if (auto fault = fault_of_time_limit(seconds)) return std::move(*fault);
  return Ok{};
}

Clock::Clock(const Options& options)
    : start_(Steady::now()),
      last_report_(start_),
      limit_(options.time_limit),
      lane_op_limit_(options.lane_op_limit),
      progress_(options.progress) {}

bool Clock::expired(uint64_t lane_ops) {
  if (lane_op_limit_ > 0 && lane_ops > lane_op_limit_) return true;
  if (limit_ <= 0 && !progress_) return false;
  const auto now = Steady::now();
  if (progress_ && now - last_report_ > std::chrono::milliseconds(50)) {
    last_report_ = now;
    progress_(fraction_);
  }
  return limit_ > 0 && std::chrono::duration<double>(now - start_).count() > limit_;
}

// The machine's memory is a limit even below a larger specified one: an error is better than a
// process that the system kills.
Memory::Memory(const Options& options) : limit_(physical_memory()), given_(false) {
  if (options.memory_limit == 0 || options.memory_limit > limit_) return;
  limit_ = options.memory_limit;
  given_ = true;
}

Result<> Memory::take(uint64_t bytes, const std::string& what) {
  if (bytes > limit_ || used_ > limit_ - bytes) {
    std::string message = fmt::format("{} need {}; {} of {} are left", what, exact_bytes(bytes),
                                      exact_bytes(limit_ - used_, false), exact_bytes(limit_));
    if (given_)
      return diagnose(Code::MemoryLimitExceeded, {}, "memory limit: " + message)
          .with_fix("raise the memory limit, or give smaller lengths");
    return diagnose(Code::OutOfMemory, {}, "out of memory: " + message + " on this machine")
        .with_fix("use smaller buffers");
  }
  used_ += bytes;
  return Ok{};
}

}  // namespace vyre::interp
