#pragma once

// Runs a function on a stack of its own. The reader of the language recurses up to its nesting
// limit of 1,000; callers may be threads with small stacks, and sanitizers make frames large.

#include <functional>

namespace vyre {

/// Calls fn and returns when it is done. Where no thread can be made, fn runs on the caller's
/// stack. What fn throws reaches the caller.
void run_on_big_stack(const std::function<void()>& fn);

}  // namespace vyre
