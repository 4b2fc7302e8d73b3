#pragma once

// The primary context of a device, and the handling of its errors.
//
// Everything that lives in the context holds it: memory, modules, streams. It is released when the
// last of them is destroyed. An error that leaves the context unusable marks it lost: from then on
// the driver is not called with anything in it, neither to use it nor to free it.
//
// The primary context is shared with all other code of the process, so it is never reset. A lost
// one is released as soon as no device of ours is open on it; the driver destroys it with its last
// reference, and the next open() creates another.

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

#include "diagnostics/result.h"
#include "runtime/cuda/cuda_api.h"

namespace vyre::driver::cuda {

class Context {
 public:
  /// Retains it for a device that is being opened. Returns an error if it is lost and still in use
  /// by an earlier device or by other code of the process.
  static Result<std::shared_ptr<Context>> open(const Api& api, int ordinal, std::string name);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Called when the device that it was opened for closes: its pinned memory is not read any more.
  void close_device();

  const Api& api;
  const std::string name;  // of the device, for messages
  ContextHandle handle = nullptr;
  Device device = 0;

  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  /// Returns why it is lost, as the error that later calls return.
  Diagnostic loss() const;

  /// Returns a failed call as an error; `what` follows "while": "a kernel was launched". Marks the
  /// context lost if the status says so.
  Diagnostic failed(Status status, std::string_view what);
  /// Returns true if the call succeeded; otherwise adds an error to `errors`.
  bool check(Status status, std::string_view what, Diagnostics& errors) {
    if (status == Status::Success) [[likely]]
      return true;
    errors.push_back(failed(status, what));
    return false;
  }

  struct History;  // of one device, in cuda_context.cc

 private:
  Context(const Api& a, std::string n) : api(a), name(std::move(n)) {}
  /// Retains the context and tries it: retaining a lost one may succeed.
  Status retain();
  /// Releases every reference to a lost context, unless a device is still open on it.
  static void release_lost(History& history);
  void release();
  void lose(std::string why);

  int ordinal_ = 0;
  // Guarded by the mutex of the histories.
  bool is_open_ = false;      // the device
  bool is_retained_ = false;  // ~Context or release_lost() releases it
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;  // guards loss_
  std::string loss_;
};

/// Makes the context current on the calling thread for its own lifetime; then the thread's previous
/// context is current again. Does nothing inside another one of the same context.
class Current {
 public:
  explicit Current(const Context& context) : context_(context), before_(active_) {
    if (before_ == &context || context.is_lost()) return;
    if (context.api.context_push(context.handle) == Status::Success) active_ = &context;
  }
  ~Current() {
    if (active_ == before_) return;
    active_ = before_;
    ContextHandle ours = nullptr;
    context_.api.context_pop(&ours);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  static inline constinit thread_local const Context* active_ = nullptr;

  const Context& context_;
  const Context* const before_;
};

/// Returns true if the context is unusable after this status.
bool is_sticky(Status status);

}  // namespace vyre::driver::cuda
