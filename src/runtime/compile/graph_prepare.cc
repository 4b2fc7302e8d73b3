// Prepares a graph for repeated launches with given lengths: the plan, the kernels, the memory.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "check/check.h"
#include "interp/launch_kernel.h"
#include "runtime/graph_state.h"
#include "runtime/submit/memory_need.h"

namespace vyre::driver {
namespace {

using Steady = std::chrono::steady_clock;

/// Returns true if the first use of a buffer always zeroes it: a call outside of all loops that
/// takes it as `out`.
bool is_cleared_by_first_use(const Module& m, const GraphSteps& steps, GraphBufferId buffer) {
  for (const GraphStep& step : steps) {
    bool is_read = false;
    for_each_element(*step.node, [&](const GraphElement& e) { is_read |= e.buffer == buffer; });
    if (is_read) return false;
    if (!step.is_call()) continue;
    for (const CallArgument& a : arguments(m.kernels[step.node->kernel], *step.node))
      if (a.given->buffer == buffer && !a.is_scalar())
        return step.depth == 0 && a.parameter->role == Role::Out;
  }
  return false;
}

class Preparation {
 public:
  Preparation(Device& device, DeviceState& state, const GraphOptions& options, bool counts_working)
      : device_(device),
        state_(state),
        options_(options),
        counts_working_(counts_working),
        s_(std::make_shared<GraphState>()) {
    compile_ = options.compile;
    compile_.checked = true;  // measure() checks the program
    s_->device = state.id;
    s_->retired = state.retired;
  }

  /// Prepares everything but the memory.
  Result<MemoryNeed> measure(const Module& module, const Graph& graph, const GraphShape& shape) {
    s_->given = called_module(module, graph);
    if (!options_.compile.checked)
      if (Diagnostics found = check(s_->given); has_errors(found)) return found;
    const size_t n = graph.buffers.size();
    if (shape.counts.size() != n || shape.scalars.size() != n)
      return diagnose(Code::WrongArgument, {},
                      fmt::format("the shape has {} lengths and {} scalars; graph `{}` has {} "
                                  "buffers",
                                  shape.counts.size(), shape.scalars.size(), graph.name, n))
          .with_fix("pass what resolve_graph() returned for this graph");
    s_->memory_limit = options_.memory_limit;
    if (auto planned = plan(shape); !planned) return planned.errors();
    if (auto bound = bind_calls(); !bound) return bound.errors();
    place_buffers();
    sum_up(shape);
    const Graph& given = s_->given.graphs[0];
    if (auto beyond = beyond_memory_limit(s_->need, s_->memory_limit,
                                          fmt::format("graph `{}`", given.name), given.place))
      return *beyond;
    return s_->need;
  }

  Result<std::shared_ptr<const GraphState>> run(const Module& module, const Graph& graph,
                                                const GraphShape& shape) {
    if (auto fits = measure(module, graph, shape); !fits) return fits.errors();
    if (auto there = allocate(); !there) return there.errors();
    return std::shared_ptr<const GraphState>(std::move(s_));
  }

 private:
  Result<> plan(const GraphShape& shape) {
    const auto begin = Steady::now();
    plan::PlanOptions how;
    how.fuse = options_.fuse;
    how.reuse = options_.reuse;
    how.fusion = fusion_options(device_.info());
    how.fusion.proves_full_writes = state_.runs_passes(options_.compile);
    const Graph& graph = s_->given.graphs[0];
    Result<plan::PlannedGraph> planned =
        options_.plan ? plan::apply_plan(s_->given, graph, shape, *options_.plan, how)
                      : plan::plan_graph(s_->given, graph, shape, how);
    if (!planned) return planned.errors();
    s_->planned = std::move(*planned);
    s_->steps = flatten(s_->graph());
    s_->plan_ns = uint64_t(std::chrono::nanoseconds(Steady::now() - begin).count());
    return Ok{};
  }

  /// Binds the calls. Calls that cannot be launched keep their errors; a passed deadline ends the
  /// preparation.
  Result<> bind_calls() {
    kernels_.resize(s_->planned.fused.module.kernels.size());
    s_->calls.resize(s_->steps.size());
    for (uint32_t i = 0; i < s_->steps.size(); ++i) {
      if (!s_->steps[i].is_call()) continue;
      s_->calls[i].emplace();
      if (auto bound = bind(i, *s_->calls[i]); !bound) {
        if (options_.compile.limits.is_over()) return bound.errors();
        s_->calls[i]->errors = s_->blame(std::move(bound.errors()), i, false);
      }
    }
    return Ok{};
  }

  Result<> bind(uint32_t node, GraphState::Call& call) {
    const Module& m = s_->planned.fused.module;
    const GraphShape& shape = s_->planned.fused.shape;
    const GraphNode& n = *s_->steps[node].node;
    // A grid from the device is at most the kernel's own; without one the limit is unknown.
    std::array<uint64_t, 3> grid;
    grid.fill(m.kernels[n.kernel].grid_dims == 0 ? 0 : ~0ull);
    Result<GraphCall> bound = bind_call(m, s_->graph(), shape, n, grid);
    if (!bound) return bound.errors();
    call.bound = bound->bound;
    call.scalars = bound->scalars;
    for (const GraphBufferId b : call.bound)
      if (b != none) call.bytes += shape.bytes(s_->graph(), b);
    auto& kernel = kernels_[n.kernel];
    if (!kernel) kernel = device_.compile(m.kernels[n.kernel], compile_);
    if (!*kernel) return kernel->errors();
    call.executable = **kernel;
    const Result<LaunchShape> launch = shape_of_launch(call.executable.optimized(), *bound, shape);
    if (!launch) return launch.errors();
    call.shape = *launch;
    Result<Executable> fits = state_.fitting(call.executable, call.shape);
    if (!fits) return fits.errors();
    call.executable = std::move(*fits);
    const Result<LaunchScratch> scratch = scratch_of(call.executable, call.shape);
    if (!scratch) return scratch.errors();
    scratch_bytes_ = std::max(scratch_bytes_, scratch->bytes);
    if (counts_working_)  // on the interpreter this needs a compilation
      s_->need.working =
          std::max(s_->need.working,
                   working_bytes(*state_.backend, *call.executable.state(), scratch->shape));
    return Ok{};
  }

  void place_buffers() {
    const plan::ReusePlan& reuse = s_->planned.plan.reuse;
    const Graph& g = s_->graph();
    sizes_ = reuse.slot_bytes;
    s_->homes.resize(g.buffers.size());
    for (const GraphBufferId i : g.buffers.ids()) {
      const bool first = is_cleared_by_first_use(s_->planned.fused.module, s_->steps, i);
      if (g.buffers[i].parameter) {
        if (g.buffers[i].role == Role::Out && !first) s_->clear_first.push_back(i);
        continue;
      }
      const plan::Placement at = reuse.placement[i];
      if (at.slot != plan::Placement::own) {
        s_->homes[i] = {at.slot, at.offset};
        continue;
      }
      s_->homes[i] = {uint32_t(sizes_.size()), 0};
      sizes_.push_back(plan::allocated_bytes(s_->planned.fused.shape.bytes(g, i)));
      if (!first) s_->clear_first.push_back(i);
    }
    if (scratch_bytes_ > 0) {
      s_->scratch = uint32_t(sizes_.size());
      sizes_.push_back(scratch_bytes_);
    }
    find_clears();
  }

  /// Finds where buffers are cleared: when the run first reaches a call, or the outermost loop that
  /// begins with it.
  void find_clears() {
    using Kind = GraphStep::Kind;
    std::vector<uint32_t> by_arm;  // by call: the step that clears its buffers
    std::vector<uint32_t> opened;  // loops that no call has followed yet
    for (uint32_t i = 0; i < s_->steps.size(); ++i) {
      const Kind kind = s_->steps[i].kind;
      if (kind == Kind::Begin) opened.push_back(i);
      if (kind == Kind::End && !opened.empty()) opened.pop_back();
      if (kind != Kind::Call) continue;
      by_arm.push_back(opened.empty() ? i : opened.front());
      opened.clear();
    }
    for (const auto& [arm, buffer] : s_->planned.plan.reuse.clears)
      s_->clears.push_back({by_arm[arm], buffer});
  }

  void sum_up(const GraphShape& shape) {
    const Graph& given = s_->given.graphs[0];
    const plan::IntermediateMemory memory = plan::intermediate_memory(s_->planned, given);
    for (const GraphBufferId i : given.buffers.ids())
      if (given.buffers[i].parameter && given.buffers[i].role != Role::Scalar)
        s_->need.parameters += shape.bytes(given, i);
    s_->need.scratch = scratch_bytes_;
    s_->unplanned = s_->need;
    s_->need.intermediates = memory.planned;
    s_->unplanned.intermediates = memory.unplanned;
  }

  Result<> allocate() {
    s_->memory.reserve(sizes_.size());
    for (const uint64_t bytes : sizes_) {
      Result<Buffer> made = state_.allocate(bytes, true);
      if (!made) {
        for (Diagnostic& d : made.errors())
          d.message = fmt::format("intermediates of graph `{}`: {}", s_->graph().name, d.message);
        return made.errors();
      }
      s_->memory.push_back(*made);
    }
    return Ok{};
  }

  Device& device_;
  DeviceState& state_;
  const GraphOptions& options_;
  const bool counts_working_;  // MemoryNeed::working is wanted
  CompileOptions compile_;     // of the kernels
  std::shared_ptr<GraphState> s_;
  std::vector<std::optional<Result<Executable>>> kernels_;
  std::vector<uint64_t> sizes_;  // of the memory to allocate
  uint64_t scratch_bytes_ = 0;
};

}  // namespace

Module called_module(const Module& module, const Graph& graph) {
  Module m;
  std::vector<uint32_t> number(module.kernels.size(), none);
  m.graphs.push_back(graph);
  for_each_call(m.graphs[0].nodes, [&](GraphNode& call) {
    if (call.kernel >= number.size()) {
      call.kernel = none;
      return;
    }
    uint32_t& k = number[call.kernel];
    if (k == none) {
      k = uint32_t(m.kernels.size());
      m.kernels.push_back(module.kernels[call.kernel]);
    }
    call.kernel = k;
  });
  return m;
}

plan::FusionOptions fusion_options(const DeviceInfo& device) {
  // More would not stay in the caches near the core that uses it.
  constexpr uint64_t max_shared = 64 * 1024;
  plan::FusionOptions options;
  options.shared_bytes = std::min(device.limits.shared_bytes, max_shared);
  if (const opt::DeviceCosts* costs = opt::find_costs(device.costs)) options.costs = *costs;
  options.proves_full_writes = device.optimizes;
  if (device.compute_units > 0) options.costs.units = device.compute_units;
  return options;
}

Result<LaunchShape> shape_of_launch(const Program& program, const GraphCall& call,
                                    const GraphShape& shape) {
  // Buffers of the host have the same numbers in the optimized program.
  const size_t n = program.buffers.size();
  IdMap<BufferId, std::optional<uint64_t>> counts(n), scalars(n);
  for (const BufferId i : program.buffers.ids()) {
    if (!call.bound.contains(i)) break;
    if (program.buffers[i].role == Role::Scalar) scalars[i] = call.scalars[i];
    if (call.bound[i] != none && is_parameter(program.buffers[i].role))
      counts[i] = shape.counts[call.bound[i]];
  }
  return resolve_launch(program, counts, scalars, call.shape.invocations_wanted);
}

Result<LaunchScratch> scratch_of(const Executable& executable, const LaunchShape& shape) {
  const ExecutableState& e = *executable.state();
  LaunchScratch scratch;
  Result<LaunchShape> extended = extended_shape(e, shape);
  if (!extended) return extended.errors();
  scratch.shape = std::move(*extended);
  scratch.offsets.resize(e.program->buffers.size() + (e.plan ? e.plan->hidden.size() : 0));
  for (const LaunchBuffer& b : launch_buffers(e, scratch.shape)) {
    scratch.offsets[b.index] = scratch.bytes;
    scratch.bytes = plan::allocated_bytes(scratch.bytes + b.bytes);
  }
  return scratch;
}

GraphState::~GraphState() {
  if (memory.empty()) return;
  // Not freed here: the destructor may run anywhere. Moving a list's node allocates nothing.
  const std::lock_guard lock(retired->mutex);
  retired->buffers.splice(retired->buffers.end(), memory_node);
}

Result<GraphExecutable> Device::prepare(const Module& module, const Graph& graph,
                                        const GraphShape& shape, const GraphOptions& options) try {
  if (Result<> open = require_open(); !open) return open.errors();
  const bool is_limited = options.memory_limit > 0 || state_->options.memory_limit > 0;
  Result<std::shared_ptr<const GraphState>> made =
      Preparation(*this, *state_, options, is_limited).run(module, graph, shape);
  if (!made) return made.errors();
  GraphExecutable e;
  e.state_ = std::move(*made);
  return e;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a prepared graph");
}

Result<MemoryNeed> Device::memory_need(const Module& module, const Graph& graph,
                                       const GraphShape& shape, const GraphOptions& options) try {
  if (Result<> open = require_open(); !open) return open.errors();
  return Preparation(*this, *state_, options, true).measure(module, graph, shape);
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("the plan of a graph");
}

const GraphState& GraphExecutable::get() const {
  static const std::shared_ptr<const GraphState> empty = [] {
    auto s = std::make_shared<GraphState>();
    s->planned.fused.module.graphs.emplace_back();
    return s;
  }();
  return state_ ? *state_ : *empty;
}
const plan::PlannedGraph& GraphExecutable::planned() const { return get().planned; }
const Executable* GraphExecutable::executable(uint32_t node) const {
  if (node >= get().calls.size() || !get().calls[node]) return nullptr;
  const Executable& e = get().calls[node]->executable;
  return e.state() ? &e : nullptr;
}
const MemoryNeed& GraphExecutable::memory() const { return get().need; }
const MemoryNeed& GraphExecutable::unplanned_memory() const { return get().unplanned; }
uint64_t GraphExecutable::plan_ns() const { return get().plan_ns; }

}  // namespace vyre::driver
