#pragma once

// Long work that is asked to end.

#include <atomic>

namespace vyre::cli {

/// From now on, Ctrl-C and SIGTERM set what is given back, so that the work ends with a summary of
/// what was done. A second Ctrl-C ends the process at once; a second SIGTERM does not, because
/// `timeout` sends two.
const std::atomic<bool>& stop_on_signals();

}  // namespace vyre::cli
