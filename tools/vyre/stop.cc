#include "tools/vyre/stop.h"

#include <csignal>

namespace vyre::cli {
namespace {

std::atomic<bool> stop_wanted = false;  // signal handlers can access only global state
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int) { stop_wanted = true; }

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  stop_wanted = false;
  struct sigaction action = {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_flags |= static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  return stop_wanted;
}

}  // namespace vyre::cli
