#include "diagnostics/budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/bytes_text.h"

namespace vyre {

Budget::Budget(double seconds, uint64_t bytes)
    : seconds_(seconds), bytes_(bytes), limited_(seconds > 0 || bytes > 0) {
  // A century does not overflow the clock.
  const std::chrono::duration<double> time(std::min(seconds_, 3e9));
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

void Budget::check(uint64_t bytes) const {
  if (!limited_) return;
  if (bytes_ > 0 && bytes > bytes_) throw BudgetExceeded{Code::MemoryLimitExceeded};
  if (seconds_ > 0 && Clock::now() >= deadline_) throw BudgetExceeded{Code::TimeLimitExceeded};
}

Diagnostic Budget::diagnostic(const BudgetExceeded& exceeded, const std::string& what,
                              Place place) const {
  if (exceeded.code == Code::TimeLimitExceeded)
    return diagnose(exceeded.code, std::move(place),
                    fmt::format("{} takes more than {} seconds", what, seconds_))
        .with_fix("raise the time limit, or use a smaller program");
  return diagnose(exceeded.code, std::move(place),
                  fmt::format("memory limit: {} takes more than {}", what, exact_bytes(bytes_)))
      .with_fix("raise the memory limit, or use a smaller program");
}

std::optional<Diagnostic> fault_of_time_limit(double seconds) {
  if (seconds >= 0) return std::nullopt;
  return diagnose(Code::BadOptionValue, {},
                  fmt::format("a time limit of {} seconds has no meaning", seconds))
      .with_fix("pass a number of seconds above 0, or 0 for no limit");
}

}  // namespace vyre
