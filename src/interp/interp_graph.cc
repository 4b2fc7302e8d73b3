// Graphs: calls in order over buffers that are all in memory.

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "interp/interp.h"
#include "interp/interp_limits.h"
#include "interp/launch_kernel.h"
#include "interp/observer.h"
#include "ir/graph_launch.h"

namespace vyre::interp {
namespace {

class GraphRun : public GraphDevice {
 public:
  GraphRun(const Module& module, const Graph& graph, const GraphInputs& inputs,
           const Options& options)
      : module_(module),
        g_(graph),
        inputs_(inputs),
        options_(options),
        clock_(options),
        memory_(options) {}

  Result<GraphOutcome> run() {
    if (auto valid = check_time_limit(options_.time_limit); !valid) return valid.errors();
    Result<GraphShape> shape =
        resolve_graph(g_, inputs_.data, inputs_.lengths, options_.output_limit);
    if (!shape) return shape.errors();
    if (auto ready = prepare(*shape); !ready) return ready.errors();
    const Result<uint64_t> calls = walk_graph(module_, g_, *shape, *this);
    if (!calls) return calls.errors();
    GraphOutcome outcome;
    outcome.buffers.resize(g_.buffers.size());
    for (const GraphBufferId i : g_.buffers.ids())
      if (is_host_output(g_.buffers[i].role) && g_.buffers[i].parameter)
        outcome.buffers[i] = std::move(storage_[i]);
    outcome.counts = std::move(shape->counts);
    outcome.calls = *calls;
    outcome.lane_ops = lane_ops_;
    if (options_.progress) options_.progress(1.0);
    return outcome;
  }

  Result<> begin_call(const GraphNode& node) override {
    if (!clock_.expired(lane_ops_)) return Ok{};
    return diagnose(Code::TimeLimitExceeded, node.place,
                    fmt::format("the time of {} seconds was over when it began", clock_.limit()))
        .with_fix("raise the time limit");
  }

  Result<uint64_t> read(const GraphElement& e) override {
    const uint32_t size = size_of(g_.buffers[e.buffer].element);
    uint64_t bits = 0;
    std::memcpy(&bits, views_[e.buffer].base + e.index * size, size);
    return bits;
  }

  Result<> call(const GraphCall& call) override {
    const Program& k = call.kernel;
    uint64_t scratch_bytes = 0;
    for (const BufferId i : k.buffers.ids())
      if (k.buffers[i].role == Role::Scratch)
        scratch_bytes += call.shape.counts[i] * size_of(k.buffers[i].element);
    if (auto taken =
            memory_.take(scratch_bytes, fmt::format("the scratch buffers of `{}`", k.name));
        !taken)
      return taken.errors();

    IdMap<BufferId, std::vector<std::byte>> scratch(k.buffers.size());
    IdMap<BufferId, View> views(k.buffers.size());
    for (const BufferId i : k.buffers.ids()) {
      if (call.bound[i] != none) views[i] = views_[call.bound[i]];
      if (k.buffers[i].role == Role::Out && views[i].bytes != 0)
        std::memset(views[i].base, 0, views[i].bytes);
      if (k.buffers[i].role != Role::Scratch) continue;
      scratch[i].resize(call.shape.counts[i] * size_of(k.buffers[i].element));
      views[i] = {scratch[i].data(), call.shape.counts[i], scratch[i].size(), 0};
    }
    if (options_.observer) options_.observer->begin_call(g_, call.node, k, call.bound);
    const Result<uint64_t> ops =
        launch_kernel(k, call.shape, std::move(views), call.scalars, options_, clock_, memory_);
    memory_.give(scratch_bytes);
    if (!ops) return ops.errors();
    lane_ops_ += *ops;
    return Ok{};
  }

 private:
  Result<> prepare(const GraphShape& shape) {
    uint64_t bytes = 0;  // no overflow: all buffers together have at most 2^48
    for (const GraphBufferId i : g_.buffers.ids()) bytes += shape.bytes(g_, i);
    if (auto taken = memory_.take(bytes, fmt::format("the buffers of graph `{}`", g_.name)); !taken)
      return taken;

    storage_.resize(g_.buffers.size());
    views_.resize(g_.buffers.size());
    for (const GraphBufferId i : g_.buffers.ids()) {
      const GraphBuffer& b = g_.buffers[i];
      std::byte* base = nullptr;
      if (b.role == Role::In || b.role == Role::Uniform) {
        base = const_cast<std::byte*>(inputs_.data[i]->data());  // no kernel may write it
      } else if (b.role != Role::Scalar) {
        if (b.role == Role::InOut)
          storage_[i] = *inputs_.data[i];
        else
          storage_[i].resize(shape.bytes(g_, i));
        base = storage_[i].data();
      }
      views_[i] = {base, shape.counts[i], shape.bytes(g_, i), 0};
    }
    return Ok{};
  }

  const Module& module_;
  const Graph& g_;
  const GraphInputs& inputs_;
  const Options& options_;
  Clock clock_;
  Memory memory_;
  IdMap<GraphBufferId, std::vector<std::byte>> storage_;  // of all but in and uniform buffers
  IdMap<GraphBufferId, View> views_;
  uint64_t lane_ops_ = 0;
};

}  // namespace

Result<GraphOutcome> run(const Module& module, const Graph& graph, const GraphInputs& inputs,
                         const Options& options) {
  try {
    return GraphRun(module, graph, inputs, options).run();
  } catch (const std::bad_alloc&) {
    return out_of_memory(fmt::format("the buffers of graph `{}`", graph.name));
  }
}

}  // namespace vyre::interp
