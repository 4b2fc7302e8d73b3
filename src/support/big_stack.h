#pragma once

// Runs a function on a large stack. The reader of the language recurses up to its nesting limit of
// 1,000; callers may be threads with small stacks, and sanitizers make frames large.

#include <functional>

namespace vyre {

/// Calls fn and returns when it is done. An exception of fn propagates to the caller. On a thread
/// that already runs on a large stack, fn is called directly. Throws std::bad_alloc if a stack of
/// 16 MiB cannot be allocated; where the system refuses threads, fn runs on the caller's stack.
void run_on_big_stack(const std::function<void()>& fn);

}  // namespace vyre
