#pragma once

// Requests to end long work.

#include <atomic>

namespace vyre::cli {

/// Installs handlers: Ctrl-C and SIGTERM set the returned flag, so that the work ends with a
/// summary of its results. A second Ctrl-C ends the process at once; a second SIGTERM does not,
/// because `timeout` sends two.
const std::atomic<bool>& stop_on_signals();

}  // namespace vyre::cli
