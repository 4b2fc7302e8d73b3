#pragma once

// One launch of compiled code: workgroups over threads, traps and the end.

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

/// Threads that run workgroups, of one device.
class Workers {
 public:
  explicit Workers(uint32_t threads);

  uint32_t threads() const { return threads_; }
  /// Calls `body(first, last)` on parts of 0 … count-1, of at least `grain` but for the last ones,
  /// on at most `limit` threads at once.
  void run(uint64_t first, uint64_t last, uint64_t grain, uint32_t limit,
           const std::function<void(uint64_t, uint64_t)>& body);
  /// Waits for runs in progress and destroys what oneTBB made; later runs use the calling thread.
  void close();

 private:
  uint32_t threads_;
  std::shared_mutex mutex_;                     // shared by runs, taken by close()
  std::optional<tbb::global_control> control_;  // more threads than the machine has, if asked for
  std::optional<tbb::task_arena> arena_;        // none once closed
};

/// The largest frame of a kernel: a large stack (support/big_stack.h) holds it.
inline constexpr uint64_t max_stack_bytes = 96 << 20;

/// What a launch is made of.
struct KernelCall {
  emit_llvm::KernelFunction entry = nullptr;
  uint64_t arena_bytes = 0;
  uint64_t stack_bytes = 0;
  uint32_t threads = 0;  // at most; 0: all
  /// What a workgroup took in the last launch, in nanoseconds; 0: not known.
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
