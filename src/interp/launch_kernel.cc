#include "interp/launch_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <new>
#include <numeric>

#include "interp/compile.h"
#include "interp/interp_machine.h"
#include "interp/wording.h"
#include "ir/eval/eval.h"

namespace vyre::interp {
namespace {

using Wide = unsigned __int128;

constexpr uint64_t quantum = 256;  // back-edges before another workgroup takes its turn

/// The order in which frames begin: a bijection on 0 … n-1 that needs no memory.
class Order {
 public:
  Order(Schedule schedule, uint64_t n, Random& random) : schedule_(schedule), n_(n) {
    if (schedule != Schedule::Random || n < 2) return;
    offset_ = random.next() % n;
    do factor_ = random.next() % n;
    while (std::gcd(factor_, n) != 1);
  }
  uint64_t operator[](uint64_t i) const {
    if (schedule_ == Schedule::Reverse) return n_ - 1 - i;
    if (schedule_ == Schedule::Random && n_ > 1)
      return static_cast<uint64_t>((static_cast<Wide>(factor_) * i + offset_) % n_);
    return i;
  }

 private:
  Schedule schedule_;
  uint64_t n_;
  uint64_t offset_ = 0, factor_ = 1;
};

class Launch {
 public:
  Launch(const Program& program, const LaunchShape& shape, const FlatCode& code, Machine& machine,
         const Options& options, Clock& clock, Memory& memory, TimedOut* stopped)
      : p_(program),
        code_(code),
        machine_(machine),
        clock_(clock),
        memory_(memory),
        observer_(options.observer),
        stopped_(stopped),
        groups_(Wide{shape.num_workgroups[0]} * shape.num_workgroups[1] * shape.num_workgroups[2]),
        frames_(saturating((groups_ + code.groups - 1) / code.groups)),
        order_(options.schedule, frames_, machine.random()) {}

  Result<> run() {
    const bool waits = code_.grid_sync || p_.requires_forward_progress;
    return waits ? run_waiting() : run_one_by_one();
  }

 private:
  /// Returns an error if the time limit has passed or the observer refuses.
  Result<> start(Frame& frame, uint64_t number) {
    const Wide first = Wide{order_[number]} * code_.groups;
    const Wide left = groups_ - first;
    const uint32_t count = left < code_.groups ? static_cast<uint32_t>(left) : code_.groups;
    if (!machine_.start(frame, first, count)) return timed_out(none);
    if (observer_) observer_->begin_frame(frame);
    if (observer_ && observer_->failure()) return *observer_->failure();
    return Ok{};
  }

  Result<> take_frames(uint64_t n) {
    const std::string what = n == 1 ? fmt::format("the values of a workgroup of `{}`", p_.name)
                                    : fmt::format(
                                          "the values of all {} workgroups of `{}`, which wait for "
                                          "each other at grid barriers,",
                                          static_cast<uint64_t>(groups_), p_.name);
    const uint64_t bytes = saturating(Wide{machine_.frame_bytes()} * n);
    Result<> taken = memory_.take(bytes, what);
    if (taken) taken_ += bytes;
    return taken;
  }

  Result<> run_one_by_one() {
    if (auto taken = take_frames(1); !taken) return taken;
    Frame frame = machine_.make_frame();
    for (uint64_t n = 0; n < frames_; ++n) {
      if (auto started = start(frame, n); !started) return started;
      const Stop stop = machine_.run(frame, 0);
      if (stop == Stop::TimedOut) return timed_out(machine_.stopped_at());
      if (stop == Stop::Refused) return *observer_->failure();
      if ((n & 63) == 63) {
        clock_.set_progress(static_cast<double>(n) / static_cast<double>(frames_));
        if (clock_.expired()) return timed_out(none);
      }
    }
    return finish();
  }

  /// Runs workgroups that wait for each other: at grid barriers all must be started; those that
  /// spin take turns. A segment ends when every frame is at the barrier or done.
  Result<> run_waiting() {
    if (code_.grid_sync) {
      if (auto taken = take_frames(frames_); !taken) return taken;
    }
    std::deque<Frame> spinning, at_barrier;
    std::vector<Frame> spare;
    uint64_t begun = 0;
    for (;;) {
      const size_t turns = spinning.size();
      for (size_t k = 0; k < turns || begun < frames_; ++k) {
        const bool fresh = k >= turns;  // all spinning frames first, then one more
        Frame frame;
        if (!fresh) {
          frame = std::move(spinning.front());
          spinning.pop_front();
        } else {
          if (spare.empty()) {
            if (!code_.grid_sync)
              if (auto taken = take_frames(1); !taken) return taken;
            spare.push_back(machine_.make_frame());
          }
          frame = std::move(spare.back());
          spare.pop_back();
          if (auto started = start(frame, begun++); !started) return started;
        }
        const Stop stop = machine_.run(frame, p_.requires_forward_progress ? quantum : 0);
        if (stop == Stop::TimedOut) return timed_out(machine_.stopped_at());
        if (stop == Stop::Refused) return *observer_->failure();
        if (stop == Stop::Done)
          spare.push_back(std::move(frame));
        else
          (stop == Stop::Quantum ? spinning : at_barrier).push_back(std::move(frame));
        if (fresh) {
          clock_.set_progress(static_cast<double>(begun) / static_cast<double>(frames_));
          if (clock_.expired()) return timed_out(none);
          if (!spinning.empty()) break;
        }
      }
      if (!spinning.empty() || begun < frames_) continue;
      if (machine_.trap() || at_barrier.empty()) return finish();
      if (observer_) observer_->pass_grid_barrier(stray(at_barrier));
      spinning = std::move(at_barrier);
      at_barrier.clear();
    }
  }

  /// A grid barrier at which some frames are while others are at another one or done; null if all
  /// are at the same one. A frame's pc is after its barrier.
  const Instr* stray(const std::deque<Frame>& at_barrier) const {
    const uint32_t pc = at_barrier.front().pc;
    const bool together =
        at_barrier.size() == frames_ && std::all_of(at_barrier.begin(), at_barrier.end(),
                                                    [&](const Frame& f) { return f.pc == pc; });
    return together ? nullptr : &code_.instrs[pc - 1];
  }

  Result<> finish() {
    memory_.give(taken_);
    if (!machine_.trap()) return Ok{};
    const TrapReport& t = *machine_.trap();
    return trapped(p_, t.code, t.invocation, t.op);
  }

  Diagnostic timed_out(OpId op) {
    if (stopped_) *stopped_ = {true, op};
    return interp::timed_out(p_, op, clock_.limit());
  }

  const Program& p_;
  const FlatCode& code_;
  Machine& machine_;
  Clock& clock_;
  Memory& memory_;
  Observer* const observer_;
  TimedOut* const stopped_;
  const Wide groups_;
  const uint64_t frames_;
  const Order order_;
  uint64_t taken_ = 0;
};

}  // namespace

Diagnostic out_of_memory(const std::string& what) {
  return diagnose(Code::OutOfMemory, {}, "out of memory: " + what)
      .with_fix("use smaller buffers, or free memory");
}

Result<uint32_t> subgroup_size(const Program& program, const Options& options) {
  const uint32_t size = program.subgroup ? program.subgroup : options.subgroup_size;
  if (size >= 1 && size <= 64 && std::has_single_bit(size)) return size;
  return diagnose(Code::BadSubgroupSize, {},
                  fmt::format("a subgroup size of {} is not possible", size))
      .with_fix("use 1, 2, 4, 8, 16, 32 or 64");
}

uint64_t working_bytes(const Program& program, const LaunchShape& shape) {
  const auto& n = shape.num_workgroups;
  const Wide groups = Wide{n[0]} * n[1] * n[2];
  if (groups == 0) return 0;
  const FlatCode code = compile(program, saturating(groups), false);
  const Wide frames = code.grid_sync ? (groups + code.groups - 1) / code.groups : 1;
  const Wide frame = frame_bytes(code, shape);
  return frame > ~0ull / frames ? ~0ull : static_cast<uint64_t>(frame * frames);
}

Result<uint64_t> launch_kernel(const Program& program, const LaunchShape& shape,
                               IdMap<BufferId, View> views, IdMap<BufferId, uint64_t> scalars,
                               const Options& options, Clock& clock, Memory& memory,
                               TimedOut* stopped) {
  const auto size = subgroup_size(program, options);
  if (!size) return size.errors();
  const auto& n = shape.num_workgroups;
  if (n[0] == 0 || n[1] == 0 || n[2] == 0) return uint64_t{0};
  const Wide groups = Wide{n[0]} * n[1] * n[2];
  try {
    const ExactFloats exact;
    const FlatCode code = compile(program, saturating(groups), options.observer != nullptr);
    for (const BufferId i : program.buffers.ids()) {
      const Buffer& b = program.buffers[i];
      if (b.role != Role::Table) continue;
      const uint64_t bytes = shape.counts[i] * size_of(b.element);
      // Views are of writable bytes, but no op writes a table.
      views[i] = {const_cast<std::byte*>(program.table_bytes.data()) + b.table_offset,
                  shape.counts[i], bytes, 0};
    }
    Machine machine(code, shape, std::move(views), std::move(scalars), *size, options, clock);
    if (options.observer) {
      options.observer->begin_launch({program, shape, code, *size, memory});
      if (options.observer->failure()) return *options.observer->failure();
    }
    const Result<> done =
        Launch(program, shape, code, machine, options, clock, memory, stopped).run();
    if (options.observer) options.observer->end_launch();
    if (!done) return done.errors();
    return machine.lane_ops();
  } catch (const std::bad_alloc&) {
    return out_of_memory(fmt::format("the values of kernel `{}`", program.name));
  }
}

}  // namespace vyre::interp
