#include "tests/plan/memory/reuse_replay_util.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "interp/interp_machine.h"
#include "interp/observer.h"
#include "ir/graph_walk.h"

namespace vyre::plan {
namespace {

class Replayer final : public interp::Observer {
 public:
  Replayer(const Graph& graph, const ReuseInput& input, const ReusePlan& plan)
      : g_(graph), in_(input), plan_(plan), used_(input.buffers.size(), false) {
    for (const uint64_t bytes : plan.slot_bytes) owner_.emplace_back(bytes, none);
    const GraphSteps steps = flatten(graph);
    for (uint32_t i = 0; i < input.arms.size(); ++i)
      if (input.arms[i].id < steps.size()) arm_of_call_[steps[input.arms[i].id].node] = i;
  }

  ReuseReplay done;

  void begin_call(const Graph&, const GraphNode& node, const Program& kernel,
                  const IdMap<BufferId, GraphBufferId>& bound) override {
    ++done.calls;
    kernel_ = &kernel;
    bound_ = bound;
    const auto arm = arm_of_call_.find(&node);
    if (arm == arm_of_call_.end()) return fail("the plan's input has no arm for this call");
    arm_ = arm->second;
    // Arms that are cleared before stand outside of loops, so passing them once is passing them.
    for (; next_clear_ < plan_.clears.size() && plan_.clears[next_clear_].first <= arm_;
         ++next_clear_)
      clear(plan_.clears[next_clear_].second);
    for (const BufferId p : bound.ids())
      if (bound[p] != none && kernel.buffers[p].role == Role::Out) {
        take(bound[p], 0, in_.buffers[bound[p]].bytes);
        used_[bound[p]] = true;
      }
  }
  void begin_launch(const interp::Launched&) override {}
  void end_launch() override {}
  void begin_frame(interp::Frame&) override {}
  void arrive(const interp::Frame&, const interp::Instr&, Scope, const uint8_t*,
              const uint8_t*) override {}
  void pass_grid_barrier(const interp::Instr*) override {}
  const Diagnostic* failure() const override { return failure_ ? &*failure_ : nullptr; }

  interp::Next touch(const interp::Frame& frame, const interp::Instr& instr,
                     const interp::Touched& t) override {
    if (failure_) return interp::Next::Stop;
    const GraphBufferId buffer = bound_[instr.buffer];
    if (buffer == none) return interp::Next::GoOn;
    const Op& op = kernel_->op(instr.op);
    const bool atomic = instr.what == interp::Do::Atomic;
    const bool reads = instr.what != interp::Do::Store && op.code != Opcode::AtomicStore;
    const bool writes =
        instr.what == interp::Do::Store || (atomic && op.code != Opcode::AtomicLoad);
    used_[buffer] = true;
    check_declared(buffer, reads, writes, atomic);
    if (plan_.placement[buffer].slot == Placement::own) return next();

    const interp::View& view = frame.views[instr.buffer];
    const uint64_t element = size_of(kernel_->buffers[instr.buffer].element);
    const bool by_byte = op.code == Opcode::LoadAs;
    const uint64_t size = by_byte ? size_of(op.type) : element;
    const uint64_t places = by_byte ? (view.bytes >= size ? view.bytes - size + 1 : 0) : view.count;
    for (uint32_t lane = 0; lane < t.lanes && !failure_; ++lane) {
      if (!t.all && !t.active[lane]) continue;
      const auto at = place(instr, t, lane, atomic);
      if (at < 0 || at >= static_cast<__int128>(places)) continue;  // nothing happens
      const uint64_t first = static_cast<uint64_t>(at) * (by_byte ? 1 : element);
      if (reads) check_owner(buffer, first, size);
      if (writes) take(buffer, first, size);
      done.bytes_read += reads ? size : 0;
      done.bytes_written += writes ? size : 0;
    }
    return next();
  }

 private:
  interp::Next next() const { return failure_ ? interp::Next::Stop : interp::Next::GoOn; }

  /// The interpreter widens indices: to 32 bits at least, to 64 for atomics.
  __int128 place(const interp::Instr& instr, const interp::Touched& t, uint32_t lane,
                 bool atomic) const {
    const Type type = kernel_->type(kernel_->operand(instr.op, 0));
    const bool wide = atomic || size_of(type) == 8;
    const auto* from = static_cast<const std::byte*>(t.index) + uint64_t{lane} * (wide ? 8 : 4);
    uint64_t bits = 0;
    std::memcpy(&bits, from, wide ? 8 : 4);
    if (!is_signed(type)) return static_cast<__int128>(bits) + instr.plus;
    const int64_t index = wide ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
    return static_cast<__int128>(index) + instr.plus;
  }

  void check_declared(GraphBufferId buffer, bool reads, bool writes, bool atomic) {
    for (const ArmUse& use : in_.arms[arm_].uses)
      if (use.buffer == buffer && (use.reads || !reads) && (use.writes || !writes) &&
          (use.atomics || !atomic))
        return;
    fail(fmt::format("`{}` is {}, which the plan's input does not say", g_.buffers[buffer].name,
                     atomic  ? "used by an atomic"
                     : reads ? "read"
                             : "written"));
  }

  void check_owner(GraphBufferId buffer, uint64_t first, uint64_t bytes) {
    const Placement& p = plan_.placement[buffer];
    for (uint64_t k = first; k < first + bytes; ++k) {
      const uint64_t at = p.offset + k;
      if (at >= owner_[p.slot].size())
        return fail(
            fmt::format("byte {} of `{}` is outside of its slot", k, g_.buffers[buffer].name));
      const GraphBufferId owner = owner_[p.slot][at];
      if (owner == buffer) continue;
      return fail(fmt::format("byte {} of `{}` is read, but {}", k, g_.buffers[buffer].name,
                              owner == none
                                  ? std::string("nobody has written or cleared it")
                                  : fmt::format("`{}` was written there", g_.buffers[owner].name)));
    }
  }

  void take(GraphBufferId buffer, uint64_t first, uint64_t bytes) {
    const Placement& p = plan_.placement[buffer];
    if (p.slot == Placement::own || bytes == 0) return;
    auto& owner = owner_[p.slot];
    if (p.offset + first + bytes > owner.size())
      return fail(fmt::format("bytes {} to {} of `{}` are outside of its slot", first,
                              first + bytes - 1, g_.buffers[buffer].name));
    std::fill_n(owner.begin() + static_cast<int64_t>(p.offset + first), bytes, buffer);
  }

  void clear(GraphBufferId buffer) {
    ++done.clears;
    if (used_[buffer])
      return fail(fmt::format("`{}` is cleared after it has been used", g_.buffers[buffer].name));
    take(buffer, 0, in_.buffers[buffer].bytes);
  }

  void fail(std::string what) {
    if (failure_) return;
    failure_ = diagnose(Code::ReuseReplayFailed, {},
                        fmt::format("call {} (`{}`): {}", arm_, kernel_->name, what))
                   .with_fix("do not use the plan, and report this with the program");
  }

  const Graph& g_;
  const ReuseInput& in_;
  const ReusePlan& plan_;
  std::unordered_map<const GraphNode*, uint32_t> arm_of_call_;
  std::vector<std::vector<GraphBufferId>> owner_;  // by slot, by byte: the buffer, or none
  IdMap<GraphBufferId, bool> used_;
  size_t next_clear_ = 0;
  uint32_t arm_ = 0;
  const Program* kernel_ = nullptr;
  IdMap<BufferId, GraphBufferId> bound_;
  std::optional<Diagnostic> failure_;
};

}  // namespace

Result<ReuseReplay> replay_reuse(const Module& module, const Graph& graph,
                                 const interp::GraphInputs& inputs, const ReuseInput& input,
                                 const ReusePlan& plan, interp::Options options) {
  Replayer replayer(graph, input, plan);
  options.observer = &replayer;
  const Result<interp::GraphOutcome> outcome = interp::run(module, graph, inputs, options);
  if (const Diagnostic* failure = replayer.failure()) return *failure;
  if (!outcome) return outcome.errors();
  return replayer.done;
}

}  // namespace vyre::plan
