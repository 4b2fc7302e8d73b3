#pragma once

// A time limit that several runs share.

#include <functional>

#include "diagnostics/result.h"

namespace vyre::cli {

class TimeBudget {
 public:
  using Seconds = std::function<double()>;  // of any monotonic clock

  /// 0: no limit. The time begins now.
  explicit TimeBudget(double limit = 0, Seconds now = nullptr);

  /// Returns the seconds that the next run may take if it is one of `runs` with equal shares: the
  /// remaining time, divided, in whole milliseconds; 0 if the time is not limited. V0502 if nothing
  /// is left.
  Result<double> share(uint64_t runs = 1) const;

  double limit() const { return limit_; }

 private:
  double limit_;
  Seconds now_;
  double begin_;
};

}  // namespace vyre::cli
