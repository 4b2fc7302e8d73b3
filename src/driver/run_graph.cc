#include "driver/run_graph.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "driver/buffer_owner.h"
#include "driver/run_trace.h"
#include "ir/graph_launch.h"

namespace vyre::driver {
namespace {

class GraphRun : public GraphDevice {
 public:
  GraphRun(Device& device, const Module& module, const Graph& graph,
           const interp::GraphInputs& inputs, const RunOptions& options)
      : device_(device),
        module_(module),
        g_(graph),
        inputs_(inputs),
        options_(options),
        owner_(device),
        executables_(module.kernels.size()) {}

  Result<GraphRunOutcome> run() {
    Result<GraphShape> shape =
        resolve_graph(g_, inputs_.data, inputs_.lengths, options_.output_limit);
    if (!shape) return shape.errors();
    if (auto ready = allocate(*shape); !ready) return ready.errors();
    const uint32_t repeats = std::max(1u, options_.repeat);
    for (uint32_t i = 0; i < repeats; ++i) {
      // How many calls there will be is known only for graphs without `while`: with several repeats
      // these are what is counted, else the work of each call is.
      if (options_.progress)
        progress_ = [this, i, repeats](double f) {
          options_.progress(repeats > 1 ? double(i) / repeats : f);
        };
      if (auto done = run_once(*shape, i == 0); !done) return done.errors();
    }
    progress_ = nullptr;
    if (auto down = read_back(*shape); !down) return down.errors();
    out_.counts = std::move(shape->counts);
    out_.events = trace_.take();
    return std::move(out_);
  }

  Result<> begin_call(const GraphNode& node) override {
    if (options_.time_limit <= 0 || left() > 0) return Ok{};
    return diagnose(
               Code::TimeLimitExceeded, node.place,
               fmt::format("the time of {} seconds was over when it began", options_.time_limit))
        .with_fix("raise the time limit");
  }

  Result<uint64_t> read(const GraphElement& e) override {
    const uint32_t size = size_of(g_.buffers[e.buffer].element);
    uint64_t bits = 0;
    const auto bytes = std::as_writable_bytes(std::span(&bits, 1)).first(size);
    const auto done = submit("read element", &SubmitReport::readback_ns,
                             {Readback{buffers_[e.buffer], bytes, e.index * size}}, 0);
    if (!done) return done.errors();
    return bits;
  }

  Result<> call(const GraphCall& call) override {
    const Result<Executable> executable = compiled(call.node.kernel);
    if (!executable) return executable.errors();
    Launch launch;
    launch.executable = *executable;
    const Program& k = call.kernel;
    for (size_t i = 0; i < k.buffers.size(); ++i) {
      if (!is_parameter(k.buffers[i].role) || k.buffers[i].role == Role::Scratch) continue;
      if (call.bound[i] == none)
        launch.arguments.emplace_back(call.scalars[i]);
      else
        launch.arguments.emplace_back(buffers_[call.bound[i]]);
    }
    if (!call.node.grid.empty()) launch.grid = call.shape.invocations_wanted;
    // A limit of zero would be none.
    const double limit = options_.time_limit > 0 ? std::max(left(), 1e-6) : 0;
    const Result<SubmitReport> ran =
        submit(k.name, &SubmitReport::run_ns, {std::move(launch)}, limit);
    if (!ran) return ran.errors();
    if (out_.device_ns.empty()) out_.segments += executable->segments();
    call_ns_.push_back(ran->run_ns);
    return Ok{};
  }

 private:
  /// ns so far, from programs to code.
  uint64_t compiling() const { return out_.times.optimize + out_.times.emit + out_.times.compile; }
  /// Seconds of the time limit that are left.
  double left() const {
    return options_.time_limit -
           double(steady_ns() - begin_ - (compiling() - compiled_before_)) / 1e9;
  }

  Result<> allocate(const GraphShape& shape) {
    uint64_t bytes = 0;  // no overflow: all buffers together have at most 2^48
    for (size_t i = 0; i < g_.buffers.size(); ++i) bytes += shape.bytes(g_, i);
    if (options_.memory_limit && bytes > options_.memory_limit)
      return diagnose(Code::MemoryLimitExceeded, g_.place,
                      fmt::format(
                          "memory limit: the buffers of graph `{}` need {} bytes; the limit is {}",
                          g_.name, bytes, options_.memory_limit))
          .with_fix("raise the memory limit, or give smaller lengths");
    buffers_.resize(g_.buffers.size());
    out_.buffers.resize(g_.buffers.size());
    for (size_t i = 0; i < g_.buffers.size(); ++i) {
      if (g_.buffers[i].role == Role::Scalar) continue;
      Result<Buffer> made = owner_.allocate(shape.bytes(g_, i));
      if (!made) {
        for (Diagnostic& d : made.errors())
          d.message = fmt::format("`{}` of graph `{}`: {}", g_.buffers[i].name, g_.name, d.message);
        return made.errors();
      }
      buffers_[i] = *made;
      out_.device_bytes += made->bytes;
    }
    return Ok{};
  }

  Result<> run_once(const GraphShape& shape, bool first) {
    std::vector<Command> uploads;
    for (size_t i = 0; i < g_.buffers.size(); ++i) {
      const Role role = g_.buffers[i].role;
      if (role == Role::Scalar) continue;
      if (is_host_input(role))
        uploads.push_back(Upload{buffers_[i], *inputs_.data[i]});
      else if (!first)  // fresh memory is zero
        uploads.push_back(Fill{buffers_[i]});
    }
    const uint64_t upload_begin = steady_ns();
    const Result<SubmitReport> up =
        submit(first ? "upload" : "restore", &SubmitReport::upload_ns, std::move(uploads), 0);
    if (!up) return up.errors();
    begin_ = steady_ns();
    compiled_before_ = compiling();
    call_ns_.clear();
    const Result<uint64_t> calls = walk_graph(module_, g_, shape, *this);
    if (!calls) return calls.errors();
    out_.device_ns.push_back(std::accumulate(call_ns_.begin(), call_ns_.end(), uint64_t{0}));
    if (!first) return Ok{};
    out_.uploaded = up->uploaded;
    out_.times.upload = begin_ - upload_begin;
    out_.times.run = steady_ns() - begin_ - compiling();
    out_.calls = *calls;
    out_.call_ns = call_ns_;
    return Ok{};
  }

  Result<> read_back(const GraphShape& shape) {
    std::vector<Command> readbacks;
    for (size_t i = 0; i < g_.buffers.size(); ++i) {
      if (!is_host_output(g_.buffers[i].role) || !g_.buffers[i].parameter) continue;
      try {
        out_.buffers[i].resize(shape.bytes(g_, i));
      } catch (const std::exception&) {
        return diagnose(Code::OutOfMemory, {},
                        fmt::format("out of memory: the output `{}` needs {} bytes",
                                    g_.buffers[i].name, shape.bytes(g_, i)))
            .with_fix("give smaller lengths");
      }
      readbacks.push_back(Readback{buffers_[i], out_.buffers[i]});
    }
    const uint64_t begin = steady_ns();
    const Result<SubmitReport> down =
        submit("readback", &SubmitReport::readback_ns, std::move(readbacks), 0);
    if (!down) return down.errors();
    out_.times.readback = steady_ns() - begin;
    out_.read_back = down->read_back;
    return Ok{};
  }

  Result<Executable> compiled(uint32_t kernel) {
    if (executables_[kernel]) return *executables_[kernel];
    const uint64_t begin = steady_ns();
    Result<Executable> made = device_.compile(module_.kernels[kernel], options_.compile);
    if (!made) return made;
    trace_.compiled(*made, begin, out_.times);
    if (options_.compiled) options_.compiled(*made);
    executables_[kernel] = *made;
    if (module_.kernels[kernel].subgroup == 0) out_.subgroup_size = made->subgroup_size();
    if (out_.origin != "compiled") out_.origin = made->origin();
    return made;
  }

  /// `device_time` is the one that the trace shows under `name`.
  Result<SubmitReport> submit(const std::string& name, uint64_t SubmitReport::*device_time,
                              std::vector<Command> commands, double time_limit) {
    if (commands.empty()) return SubmitReport{};
    SubmitOptions o;
    o.time_limit = time_limit;
    const uint64_t begin = steady_ns();
    const Result<Ticket> t = device_.submit(std::move(commands), o);
    if (!t) return t.errors();
    Result<SubmitReport> done = wait_for(*t, progress_);
    if (!done) return done;
    trace_.host(device_time == &SubmitReport::run_ns ? "run" : name, begin, name == "readback");
    trace_.device(name, begin, (*done).*device_time);
    return done;
  }

  Device& device_;
  const Module& module_;
  const Graph& g_;
  const interp::GraphInputs& inputs_;
  const RunOptions& options_;
  BufferOwner owner_;
  std::vector<std::optional<Executable>> executables_;  // by kernel of the module
  std::vector<Buffer> buffers_;                         // by buffer of the graph; none for scalars
  GraphRunOutcome out_;
  std::vector<uint64_t> call_ns_;
  RunTrace trace_;
  std::function<void(double)> progress_;
  uint64_t begin_ = 0;
  uint64_t compiled_before_ = 0;  // ns of compiling, before this repeat
};

}  // namespace

Result<GraphRunOutcome> run_graph(Device& device, const Module& module, const Graph& graph,
                                  const interp::GraphInputs& inputs, const RunOptions& options) {
  return GraphRun(device, module, graph, inputs, options).run();
}

}  // namespace vyre::driver
