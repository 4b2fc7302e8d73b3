#pragma once

// One launch of compiled code: distributes workgroups over threads, collects traps, and ends.

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <functional>
#include <optional>
#include <shared_mutex>
#include <span>

#include "codegen/llvm/llvm_abi.h"
#include "runtime/backend.h"
#include "runtime/submit/watchdog.h"

namespace vyre::driver {

/// The threads of one device that run workgroups.
class Workers {
 public:
  explicit Workers(uint32_t threads);

  uint32_t threads() const { return threads_; }
  /// Calls `body(i, j)` on parts of first … last-1. Parts have at least `grain` elements, except
  /// for the last ones. At most `limit` threads run at once.
  void run(uint64_t first, uint64_t last, uint64_t grain, uint32_t limit,
           const std::function<void(uint64_t, uint64_t)>& body);
  /// Waits for runs in progress and destroys the objects of oneTBB; later runs use the calling
  /// thread.
  void close();

 private:
  uint32_t threads_;
  std::shared_mutex mutex_;                     // shared by runs, taken by close()
  std::optional<tbb::global_control> control_;  // more threads than the machine has, if asked for
  std::optional<tbb::task_arena> arena_;        // none once closed
};

/// The largest frame of a kernel: it fits on a large stack (support/big_stack.h).
inline constexpr uint64_t max_stack_bytes = 96 << 20;

/// The parameters of a launch.
struct KernelCall {
  emit_llvm::KernelFunction entry = nullptr;
  uint64_t arena_bytes = 0;
  uint64_t stack_bytes = 0;
  uint32_t threads = 0;  // at most; 0: all
  /// The time of a workgroup in the last launch, in nanoseconds; 0: unknown.
  std::atomic<uint64_t>* group_ns = nullptr;
};

struct LaunchEnd {
  enum class Kind : uint8_t { Done, Trapped, Stopped, OutOfMemory } kind = Kind::Done;
  Trap trap;
  OpId stopped_at = none;
};

LaunchEnd run_workgroups(const KernelCall& call, std::span<std::byte* const> buffers,
                         std::span<const uint64_t> scalars, const LaunchShape& shape,
                         Workers& workers, Watchdog& watchdog,
                         std::optional<Watchdog::Clock::time_point> deadline,
                         const std::function<void(double)>& progress);

}  // namespace vyre::driver
