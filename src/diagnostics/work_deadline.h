#pragma once

// Ends long work at a deadline. The loops over the ops of a program (walk() of ir/program.h and
// those of the passes) poll the deadline of their thread, so that every analysis and transformation
// can end inside its loops without a parameter for it.

#include <cstdint>
#include <functional>

namespace vyre {

/// Thrown by WorkDeadline::poll(). The result of the interrupted work is incomplete.
struct WorkEnded {};

/// While it lives, the work of this thread ends when `is_over` returns true. One inside another
/// replaces it.
class WorkDeadline {
 public:
  /// Ops between two questions: `is_over` may read a clock.
  static constexpr uint32_t steps_per_question = 1024;

  explicit WorkDeadline(const std::function<bool()>& is_over)
      : is_over_(is_over), outer_(current_) {
    current_ = this;
  }
  ~WorkDeadline() { current_ = outer_; }
  WorkDeadline(const WorkDeadline&) = delete;
  WorkDeadline& operator=(const WorkDeadline&) = delete;

  /// The deadline of this thread; null if it has none. A loop calls this once and polls for each
  /// op.
  static WorkDeadline* current() { return current_; }

  /// Polls that of this thread, if it has one.
  static void poll_current() {
    if (current_) current_->poll();
  }

  /// Counts a step of at most a few microseconds.
  void poll() {
    if (++steps_ % steps_per_question == 0 && is_over_()) throw WorkEnded{};
  }

 private:
  static inline constinit thread_local WorkDeadline* current_ = nullptr;

  const std::function<bool()>& is_over_;
  WorkDeadline* const outer_;
  uint32_t steps_ = 0;
};

/// Runs `work`. False: it ended before it was done. An empty `is_over` never ends it.
template <class Work>
bool run_until(const std::function<bool()>& is_over, const Work& work) {
  if (!is_over) {
    work();
    return true;
  }
  const WorkDeadline deadline(is_over);
  try {
    work();
    return true;
  } catch (const WorkEnded&) {
    return false;
  }
}

}  // namespace vyre
