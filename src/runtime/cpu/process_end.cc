#include "runtime/cpu/process_end.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>

namespace vyre::driver {
namespace {

struct State {
  std::mutex mutex;
  std::set<ClosedAtProcessEnd*> open;
  std::atomic<bool> is_ending{false};
};

/// Never destroyed: objects unregister at any time.
State& state() {
  static State& s = *new State();
  return s;
}

void close_all() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.is_ending = true;
  for (ClosedAtProcessEnd* const one : s.open) one->close_at_process_end();
  s.open.clear();
}

}  // namespace

void ClosedAtProcessEnd::close_with_process() {
  [[maybe_unused]] static const int registered = std::atexit(&close_all);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.open.insert(this);
}

void ClosedAtProcessEnd::leave_process_end() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.open.erase(this);
}

bool is_process_ending() { return state().is_ending.load(); }

}  // namespace vyre::driver
