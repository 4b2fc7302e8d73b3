#pragma once

// Time and memory that a run may use.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "interp/interp.h"

namespace vyre::interp {

/// An error if a time limit is negative or not a number. 0 means no limit.
Result<> check_time_limit(double seconds);

/// The clock of a run, or of all calls of a graph. Also reports progress.
class Clock {
 public:
  explicit Clock(const Options& options);

  /// Returns whether the limit of time or work has passed. Reads the system's clock.
  bool expired(uint64_t lane_ops = 0);
  double limit() const { return limit_; }
  /// Sets the completed fraction of the work, for the progress callback.
  void set_progress(double fraction) { fraction_ = fraction; }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_;
  Steady::time_point last_report_;
  double limit_;
  uint64_t lane_op_limit_;
  double fraction_ = 0;
  const std::function<void(double)>& progress_;
};

/// Counts bytes against the limit before they are allocated.
class Memory {
 public:
  explicit Memory(const Options& options);

  /// Reserves `bytes` for `what` ("the buffers of `k`"), or returns an error. Values that do not
  /// fit 64 bits are passed saturated.
  Result<> take(uint64_t bytes, const std::string& what);
  void give(uint64_t bytes) { used_ -= bytes; }
  uint64_t used() const { return used_; }

 private:
  uint64_t limit_;
  uint64_t used_ = 0;
  bool given_;
};

/// Products of sizes that saturate instead of wrapping.
inline uint64_t saturating(unsigned __int128 bytes) {
  return bytes > ~0ull ? ~0ull : static_cast<uint64_t>(bytes);
}

}  // namespace vyre::interp
