#pragma once

// Time and memory that reading a program may take. The work polls its budget; a budget that is used
// up is an exception inside the library and a diagnostic outside.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "diagnostics/work_deadline.h"

namespace vyre {

/// Thrown by Budget::check, and caught by the functions of the API that take limits.
struct BudgetExceeded {
  Code code;  // TimeLimitExceeded or MemoryLimitExceeded
};

class Budget {
 public:
  /// 0 means no limit. The time begins now.
  explicit Budget(double seconds = 0, uint64_t bytes = 0);

  /// Counts a step of at most a few microseconds. Periodically true if there are limits: call
  /// check() then.
  bool due() { return limited_ && (++steps_ & 255) == 0; }

  /// Throws BudgetExceeded if the time is over, or if `bytes` in use are over the limit.
  void check(uint64_t bytes = 0) const;

  bool limited() const { return limited_; }

  /// The diagnostic of an exceeded budget. `what` names the work: "reading the program".
  Diagnostic diagnostic(const BudgetExceeded& exceeded, const std::string& what, Place place) const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  uint64_t bytes_;
  bool limited_;
  uint64_t steps_ = 0;
  Clock::time_point deadline_;
};

/// While it lives, every poll of this thread's WorkDeadline also checks the time of the budget:
/// loops over the ops of programs then throw BudgetExceeded, too.
class BudgetPoll {
 public:
  explicit BudgetPoll(const Budget& budget) {
    if (!budget.limited()) return;
    is_over_ = [&budget] {
      budget.check();
      return false;
    };
    deadline_.emplace(is_over_);
  }

 private:
  std::function<bool()> is_over_;
  std::optional<WorkDeadline> deadline_;
};

/// An error if a time limit is negative or not a number. 0 means no limit.
std::optional<Diagnostic> fault_of_time_limit(double seconds);

/// Bytes that a vector holds; near its capacity, those that it holds while it grows.
template <class T>
uint64_t bytes_of_vector(const std::vector<T>& v) {
  constexpr size_t near = 4096;
  const uint64_t held = uint64_t{v.capacity()} * sizeof(T);
  return v.capacity() - v.size() < near ? 3 * held : held;
}

}  // namespace vyre
