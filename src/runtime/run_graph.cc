#include "runtime/run_graph.h"

#include <fmt/format.h>

#include <new>

#include "check/check.h"
#include "interp/launch_kernel.h"
#include "ir/graph_launch.h"
#include "plan/graph_plan.h"
#include "runtime/buffer_owner.h"
#include "runtime/graph_state.h"
#include "runtime/run_inputs.h"
#include "runtime/run_trace.h"

namespace vyre::driver {
namespace {

class GraphRun {
 public:
  GraphRun(Device& device, const Module& module, const Graph& graph,
           const interp::GraphInputs& inputs, const RunOptions& options)
      : device_(device),
        module_(module),
        g_(graph),
        inputs_(inputs),
        options_(options),
        owner_(device),
        written_(owner_, options) {}

  Result<GraphRunOutcome> run() {
    if (!options_.compile.checked)
      if (Diagnostics found = check(called_module(module_, g_)); has_errors(found)) return found;
    Result<GraphShape> shape =
        resolve_graph(g_, inputs_.data, inputs_.lengths, options_.output_limit);
    if (!shape) return shape.errors();
    if (auto ready = prepare(*shape); !ready) return ready.errors();
    if (auto there = allocate(*shape); !there) return there.errors();
    const uint32_t repeats = std::max(1u, options_.repeat);
    for (uint32_t i = 0; i < repeats; ++i) {
      // The number of launches is known only for graphs without `while`. With several repeats,
      // progress counts repeats; with one, it is the progress of the submission.
      if (options_.progress)
        progress_ = [this, i, repeats](double f) {
          options_.progress(repeats > 1 ? double(i) / repeats : f);
        };
      if (i == 1)
        if (auto warm = warm_up(device_, trace_, out_.device_ns[0],
                                [this](uint32_t count) { return keep_busy(count); });
            !warm)
          return warm.errors();
      const Result<SubmitReport> ran = run_once(i == 0);
      if (!ran) return ran.errors();
      out_.device_ns.push_back(ran->run_ns + ran->fill_ns);
    }
    progress_ = nullptr;
    if (auto down = read_back(*shape); !down) return down.errors();
    out_.counts = std::move(shape->counts);
    out_.events = trace_.take();
    return std::move(out_);
  }

 private:
  Result<> prepare(const GraphShape& shape) {
    GraphOptions how;
    how.compile = options_.compile;
    how.compile.limits = compile_limits(options_);
    how.compile.checked = true;
    how.fuse = options_.fuse;
    how.reuse = options_.reuse;
    how.plan = options_.plan;
    how.memory_limit = options_.memory_limit;
    const uint64_t begin = steady_ns();
    Result<GraphExecutable> made = device_.prepare(module_, g_, shape, how);
    if (!made) return made.errors();
    out_.graph = *made;
    out_.working_bytes = made->memory().working;
    if (options_.memory_limit > 0) spare_ = options_.memory_limit - made->memory().total();
    std::vector<bool> seen(made->planned().fused.module.kernels.size());
    const GraphSteps& steps = made->shared_state()->steps;
    for (uint32_t i = 0; i < steps.size(); ++i) {
      const Executable* e = made->executable(i);
      if (!e || seen[steps[i].node->kernel]) continue;
      seen[steps[i].node->kernel] = true;
      if (options_.compiled) options_.compiled(*e);
      if (e->program().subgroup == 0) out_.subgroup_size = e->subgroup_size();
      if (out_.origin != "compiled") out_.origin = e->origin();
      out_.times.optimize += e->optimize_ns();
      out_.times.emit += e->emit_ns();
    }
    trace_.host("prepare", begin);
    const uint64_t all = steady_ns() - begin;
    prepare_seconds_ = double(all) / 1e9;
    out_.times.compile = all - std::min(all, out_.times.optimize + out_.times.emit);
    return Ok{};
  }

  Result<> allocate(const GraphShape& shape) {
    arguments_.reserve(g_.buffers.size());
    out_.buffers.resize(g_.buffers.size());
    for (const GraphBufferId i : g_.buffers.ids()) {
      if (!g_.buffers[i].parameter) break;
      if (g_.buffers[i].role == Role::Scalar) {
        arguments_.emplace_back(Scalar{g_.buffers[i].element, shape.scalars[i]});
        continue;
      }
      Result<Buffer> made = owner_.allocate(shape.bytes(g_, i));
      if (!made) {
        for (Diagnostic& d : made.errors())
          d.message = fmt::format("`{}` of graph `{}`: {}", g_.buffers[i].name, g_.name, d.message);
        return made.errors();
      }
      arguments_.emplace_back(*made);
      written_.add(g_.buffers[i].role, *made, inputs_.data, i.value());
    }
    return Ok{};
  }

  Buffer buffer(size_t parameter) const { return std::get<Buffer>(arguments_[parameter]); }

  Result<SubmitReport> keep_busy(uint32_t repeats) {
    return submit("warm-up",
                  written_.repeated(spare_, LaunchGraph{out_.graph, arguments_}, repeats),
                  options_.time_limit * repeats);
  }

  Result<SubmitReport> run_once(bool first) {
    const uint64_t upload_begin = steady_ns();
    Result<SubmitReport> up =
        submit(first ? "upload" : "restore", first ? written_.first() : written_.next(spare_), 0);
    if (!up) return up;
    trace_.copy(first ? "upload" : "restore", upload_begin, moved_ns(*up), up->uploaded);
    const uint64_t begin = steady_ns();
    Result<SubmitReport> ran =
        submit("run", {LaunchGraph{out_.graph, arguments_}}, options_.time_limit);
    if (!ran) return ran;
    trace_calls(*ran, begin);
    if (!first) return ran;
    out_.device_bytes = device_.memory_peak();
    out_.uploaded = up->uploaded;
    out_.times.upload = begin - upload_begin;
    out_.times.run = steady_ns() - begin;
    out_.calls = ran->call_count;
    out_.runs.resize(out_.graph.shared_state()->steps.size());
    for (const SubmitReport::GraphRuns& g : ran->graphs) out_.runs = g.runs;
    out_.call_ns = ran->calls;
    out_.segments = ran->launches;
    return ran;
  }

  /// Adds an event per call. Calls ran one after the other; gaps between them are unknown.
  void trace_calls(const SubmitReport& ran, uint64_t begin) {
    const plan::FusedGraph& fused = out_.graph.planned().fused;
    const GraphSteps& steps = out_.graph.shared_state()->steps;
    for (const CallTime& call : ran.calls) {
      trace_.launch_at(fused.module.kernels[steps[call.node].node->kernel].name, begin, call.ns,
                       call.node);
      begin += call.ns;
    }
  }

  Result<> read_back(const GraphShape& shape) {
    std::vector<Command> readbacks;
    for (const GraphBufferId i : g_.buffers.ids()) {
      if (!g_.buffers[i].parameter) break;
      if (!is_host_output(g_.buffers[i].role) || !is_requested(options_, i.value())) continue;
      if (Result<> r = reserve_output(out_.buffers[i], shape.bytes(g_, i), g_.buffers[i].name); !r)
        return r;
      readbacks.push_back(ReadbackAll{buffer(i.value()), &out_.buffers[i]});
    }
    const uint64_t begin = steady_ns();
    const Result<SubmitReport> down = submit("readback", std::move(readbacks), 0);
    if (!down) return down.errors();
    trace_.copy("readback", begin, down->readback_ns, down->read_back);
    out_.times.readback = steady_ns() - begin;
    out_.read_back = down->read_back;
    return Ok{};
  }

  Result<SubmitReport> submit(const std::string& name, std::vector<Command> commands,
                              double time_limit) {
    if (commands.empty()) return SubmitReport{};
    SubmitOptions o;
    o.time_limit = time_limit;
    o.time_used = prepare_seconds_;
    o.call_times = options_.call_times || device_.has_telemetry();
    const uint64_t begin = steady_ns();
    const Result<Ticket> t = device_.submit(std::move(commands), o);
    if (!t) return t.errors();
    Result<SubmitReport> done = wait_for(*t, progress_);
    if (done) trace_.host(name, begin, name == "readback");
    return done;
  }

  Device& device_;
  const Module& module_;
  const Graph& g_;
  const interp::GraphInputs& inputs_;
  const RunOptions& options_;
  BufferOwner owner_;
  std::vector<Argument> arguments_;  // by parameter of the graph
  RunInputs written_;
  uint64_t spare_ = ~uint64_t{0};  // unused part of the memory limit
  GraphRunOutcome out_;
  RunTrace trace_;
  double prepare_seconds_ = 0;
  std::function<void(double)> progress_;
};

}  // namespace

Result<GraphRunOutcome> run_graph(Device& device, const Module& module, const Graph& graph,
                                  const interp::GraphInputs& inputs,
                                  const RunOptions& options) try {
  return GraphRun(device, module, graph, inputs, options).run();
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a run of a graph");
}

}  // namespace vyre::driver
