#include "tools/vyre/time_budget.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace vyre::cli {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TimeBudget::TimeBudget(double limit, Seconds now)
    : limit_(limit), now_(now ? std::move(now) : steady_seconds), begin_(now_()) {}

Result<double> TimeBudget::share(uint64_t runs) const {
  if (limit_ == 0) return 0.0;
  const double left = limit_ - (now_() - begin_);
  const double share = std::floor(left / static_cast<double>(runs) * 1e3) / 1e3;
  if (share > 0) return share;
  return diagnose(Code::TimeLimitExceeded, {},
                  fmt::format("the time of {} seconds was over before all runs were done", limit_))
      .with_fix("raise the time limit");
}

}  // namespace vyre::cli
