#include "runtime/cpu/cpu_launch.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <tuple>

#include "ir/eval/eval.h"
#include "runtime/host_memory.h"
#include "support/big_stack.h"

// GCC reports ThreadSanitizer instrumentation by a macro, Clang by a feature.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VYRE_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define VYRE_TSAN 1
#endif

#ifdef VYRE_TSAN
#include <sanitizer/tsan_interface.h>
#define VYRE_UNSEEN_BY_TSAN __attribute__((no_sanitize("thread")))
#else
#define VYRE_UNSEEN_BY_TSAN
#endif

namespace vyre::driver {

namespace {

/// Tells ThreadSanitizer about a guarantee of oneTBB: the thread that takes a task sees all writes
/// before the task was submitted; the same holds in reverse at the end. ThreadSanitizer cannot
/// detect this, because libtbb is not instrumented. It must not check the copies that oneTBB makes
/// (lambdas with their captures).
struct Handover {
#ifdef VYRE_TSAN
  void given() { __tsan_release(this); }
  void taken() { __tsan_acquire(this); }
#else
  void given() {}
  void taken() {}
#endif
};

using Clock = Watchdog::Clock;

/// The minimum time of a part that is given to another thread.
constexpr uint64_t part_ns = 20'000;
/// A launch below this time stays on the calling thread: waking another one takes as long.
constexpr uint64_t alone_ns = 40'000;
/// The maximum time between two polls of the stop flag on a thread that runs a launch alone.
constexpr uint64_t longest_part_ns = 1'000'000;

/// Kernels with larger frames run on a large stack: callers may be threads with small stacks.
constexpr uint64_t own_stack_bytes = 64 << 10;

uint64_t since(Clock::time_point begin) {
  return uint64_t(std::chrono::nanoseconds(Clock::now() - begin).count());
}

/// VYRE_CPU_DIRTY_ARENA=1, for tests: code that assumes a zeroed arena then fails at once, and not
/// only after another kernel has used the arena.
bool arenas_are_dirtied() {
  static const bool wanted = [] {
    const char* const text = std::getenv("VYRE_CPU_DIRTY_ARENA");
    return text && std::string_view(text) == "1";
  }();
  return wanted;
}

/// Returns this thread's memory for shared and private arrays and values that live across barriers.
/// It is kept, because the next launch usually needs as much.
std::byte* arena_of_this_thread(uint64_t bytes) {
  thread_local HostMemory memory;
  const uint64_t wanted = std::max<uint64_t>(bytes, HostMemory::alignment);
  if (memory.size() < wanted && !memory.allocate(wanted)) return nullptr;
  if (arenas_are_dirtied()) std::memset(memory.data(), 0xa5, memory.size());
  return memory.data();
}

class Launch {
 public:
  Launch(const KernelCall& call, std::span<std::byte* const> buffers,
         std::span<const uint64_t> scalars, const LaunchShape& shape,
         const std::function<void(double)>& progress)
      : call_(call), groups_(saturated_groups(shape)), progress_(progress) {
    static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof stop == sizeof(uint32_t));
    args_.buffers = buffers.data();
    args_.counts = shape.counts.data();
    args_.scalars = scalars.data();
    std::copy_n(shape.num_workgroups.begin(), 3, args_.num_workgroups);
    args_.stop = reinterpret_cast<const uint32_t*>(&stop);
    args_.trap = &Launch::trap;
    args_.context = this;
  }

  std::atomic<uint32_t> stop{0};

  void run(Workers& workers) {
    const uint32_t threads =
        call_.threads ? std::min(call_.threads, workers.threads()) : workers.threads();
    const uint64_t known = call_.group_ns->load(std::memory_order_relaxed);
    uint64_t first = 0;
    uint64_t each = known;
    const auto begin = Clock::now();
    // A launch that is known to be long is distributed at once; the first workgroups measure any
    // other.
    const bool alone = threads == 1 || groups_ == 1;
    if (alone || known == 0 || known < 2 * alone_ns / groups_) first = run_alone(alone, each);
    if (first < groups_ && !is_stopped()) {
      const uint64_t grain =
          std::clamp<uint64_t>(part_ns / std::max<uint64_t>(each, 1), 1,
                               std::max<uint64_t>(1, (groups_ - first) / threads));
      const uint64_t slice =
          std::max<uint64_t>(grain, longest_part_ns / std::max<uint64_t>(each, 1));
      workers.run(first, groups_, grain, threads, [this, slice](uint64_t from, uint64_t to) {
        for (uint64_t at = from; at < to && !is_stopped(); at += std::min(slice, to - at))
          part(at, at + std::min(slice, to - at));
      });
      each = since(begin) * std::min<uint64_t>(threads, groups_) / groups_;
    }
    call_.group_ns->store(std::max<uint64_t>(each, 1), std::memory_order_relaxed);
  }

  LaunchEnd end() {
    LaunchEnd e;
    if (out_of_memory_.load()) {
      e.kind = LaunchEnd::Kind::OutOfMemory;
    } else if (done_.load() < groups_) {
      e.kind = LaunchEnd::Kind::Stopped;
      if (const uint32_t at = stopped_at_.load()) e.stopped_at = OpId{at - 1};
    } else if (trap_) {
      e.kind = LaunchEnd::Kind::Trapped;
      e.trap = *trap_;
    }
    return e;
  }

 private:
  /// Returns the number of workgroups, at most 2^64 - 1: larger grids end as late as that, which is
  /// never.
  static uint64_t saturated_groups(const LaunchShape& shape) {
    const auto& n = shape.num_workgroups;
    const unsigned __int128 plane = static_cast<unsigned __int128>(n[0]) * n[1];
    if (plane == 0 || n[2] == 0) return 0;
    return plane > ~0ull / n[2] ? ~0ull : static_cast<uint64_t>(plane) * n[2];
  }

  bool is_stopped() const { return stop.load(std::memory_order_relaxed) != 0; }

  /// Runs parts on this thread: all of them, or until other threads are worth using. Returns the
  /// first remaining workgroup; sets `each` to the time of one.
  uint64_t run_alone(bool all, uint64_t& each) {
    const auto begin = Clock::now();
    uint64_t first = 0, size = each ? std::max<uint64_t>(1, part_ns / each) : 1;
    while (first < groups_ && !is_stopped()) {
      size = std::min(size, groups_ - first);
      part(first, first + size);
      first += size;
      const uint64_t ns = since(begin);
      each = std::max<uint64_t>(1, ns / first);
      const uint64_t left = groups_ - first;
      if (all) {
        size = std::max<uint64_t>(1, longest_part_ns / each);
      } else if (left > alone_ns / each) {
        if (ns > part_ns / 2) break;
        size = std::max<uint64_t>(1, part_ns / 2 / each);
      } else {
        size = left;
      }
      size = std::min(size, 16 * first);  // the first workgroups may have been the short ones
    }
    return first;
  }

  /// Calls the kernel, on a large stack if this thread's own may be too small. Throws
  /// std::bad_alloc if a stack cannot be allocated.
  uint32_t enter(uint64_t first, uint64_t last, std::byte* arena) {
    uint32_t at = 0;
    const auto call = [&] {
      const ExactFloats exact;
      at = call_.entry(&args_, first, last, arena);
    };
    if (call_.stack_bytes <= own_stack_bytes)
      call();
    else
      run_on_big_stack(call);
    return at;
  }

  void fail_for_memory() {
    out_of_memory_.store(true);
    stop.store(1, std::memory_order_relaxed);
  }

  void part(uint64_t first, uint64_t last) try {
    if (is_stopped()) return;
    std::byte* const arena = arena_of_this_thread(call_.arena_bytes);
    if (!arena) return fail_for_memory();
    if (const uint32_t at = enter(first, last, arena)) {
      uint32_t nobody = 0;
      stopped_at_.compare_exchange_strong(nobody, at);
      return;
    }
    const uint64_t done = done_.fetch_add(last - first) + (last - first);
    if (progress_ && done < groups_)
      progress_(static_cast<double>(done) / static_cast<double>(groups_));
  } catch (const std::bad_alloc&) {
    fail_for_memory();
  }

  /// Keeps the trap with the lowest invocation, as if invocations ran in order.
  static void trap(const emit_llvm::LaunchArgs* args, uint32_t x, uint32_t y, uint32_t z,
                   uint32_t code, uint32_t op) {
    Launch& launch = *static_cast<Launch*>(args->context);
    const auto key = [](const std::array<uint32_t, 3>& i) { return std::tuple(i[2], i[1], i[0]); };
    const Trap told{code, {x, y, z}, OpId{op}};
    const std::lock_guard lock(launch.mutex_);
    if (!launch.trap_ || key(told.invocation) < key(launch.trap_->invocation)) launch.trap_ = told;
  }

  const KernelCall& call_;
  const uint64_t groups_;
  const std::function<void(double)>& progress_;
  emit_llvm::LaunchArgs args_{};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint32_t> stopped_at_{0};
  std::atomic<bool> out_of_memory_{false};
  std::mutex mutex_;
  std::optional<Trap> trap_;  // guarded
};

}  // namespace

Workers::Workers(uint32_t threads)
    : threads_(threads),
      control_(std::in_place, tbb::global_control::max_allowed_parallelism,
               std::max<size_t>({threads, std::thread::hardware_concurrency(),
                                 tbb::global_control::active_value(
                                     tbb::global_control::max_allowed_parallelism)})),
      arena_(std::in_place, static_cast<int>(threads)) {}

void Workers::close() {
  const std::lock_guard lock(mutex_);
  arena_.reset();
  control_.reset();
}

void Workers::run(uint64_t first, uint64_t last, uint64_t grain, uint32_t limit,
                  const std::function<void(uint64_t, uint64_t)>& body) {
  const std::shared_lock lock(mutex_);
  if (!arena_) return body(first, last);
  Handover handover;
  const auto share_out = [&]() VYRE_UNSEEN_BY_TSAN {
    handover.taken();
    tbb::parallel_for(
        tbb::blocked_range<uint64_t>(first, last, grain),
        [&](const tbb::blocked_range<uint64_t>& part) VYRE_UNSEEN_BY_TSAN {
          handover.taken();
          body(part.begin(), part.end());
          handover.given();
        },
        tbb::auto_partitioner());
    handover.given();
  };
  handover.given();
  if (limit == threads_) {
    arena_->execute(share_out);
  } else {
    tbb::task_arena fewer(static_cast<int>(limit));
    fewer.execute(share_out);
  }
  handover.taken();
}

LaunchEnd run_workgroups(const KernelCall& call, std::span<std::byte* const> buffers,
                         std::span<const uint64_t> scalars, const LaunchShape& shape,
                         Workers& workers, Watchdog& watchdog,
                         std::optional<Clock::time_point> deadline,
                         const std::function<void(double)>& progress) {
  if (shape.num_workgroups[0] == 0 || shape.num_workgroups[1] == 0 || shape.num_workgroups[2] == 0)
    return {};
  Launch launch(call, buffers, scalars, shape, progress);
  {
    const Watchdog::Watch watch(watchdog, launch.stop, deadline);
    launch.run(workers);
  }
  return launch.end();
}

}  // namespace vyre::driver
