#include "runtime/cuda/cuda_graph.h"

#include <algorithm>
#include <cstring>

namespace vyre::driver::cuda {

using Kind = WorkShape::Kind;

// ---- One graph.

Graph::~Graph() {
  if (parts_.context->is_lost()) return;
  const Current current(*parts_.context);
  const Api& api = parts_.context->api;
  if (exec_) api.graph_exec_destroy(exec_);
  if (graph_) api.graph_destroy(graph_);
  if (controls_.count) parts_.controls.give_back(controls_, !is_broken);
  if (flag_.host) parts_.flags.give_back(flag_);
}

DevicePointer Graph::control_of(const Work& w) const {
  return controls_.device + uint64_t{w.control} * sizeof(emit_ptx::ControlBlock);
}

Result<std::unique_ptr<Graph>> Graph::build(const GraphParts& parts, WorkList list,
                                            std::vector<std::shared_ptr<CompiledKernel>> kernels,
                                            FunctionHandle loop_test) {
  Context& context = *parts.context;
  const Api& api = context.api;
  std::unique_ptr<Graph> made(new Graph(parts));
  made->list_ = std::move(list);
  made->kernels_ = std::move(kernels);
  made->loop_test_ = loop_test;
  if (made->list_.controls) {
    Result<ControlRange> range = parts.controls.take(made->list_.controls);
    if (!range) return range.errors();
    made->controls_ = *range;
  }
  if (made->list_.uses_stop) {
    const Result<StopFlag> flag = parts.flags.take();
    if (!flag) return flag.errors();
    made->flag_ = *flag;
  }
  Status s = api.graph_create(&made->graph_, 0);
  made->nodes_.resize(made->list_.works.size());
  GraphNodeHandle last = nullptr;
  const std::vector<Work>& works = made->list_.works;
  for (size_t i = 0; s == Status::Success && i < works.size(); i += 1 + works[i].shape.body)
    s = works[i].shape.kind == Kind::Loop ? made->add_loop(i, made->graph_, last)
                                          : made->add(i, made->graph_, last);
  if (s == Status::Success) s = api.graph_instantiate(&made->exec_, made->graph_, 0);
  if (s != Status::Success) return context.failed(s, "a graph was built");
  return made;
}

Status Graph::add_kernel(const KernelNode& node, bool cooperative, GraphHandle graph,
                         GraphNodeHandle& last) {
  const Api& api = parts_.context->api;
  const GraphNodeHandle after = last;
  Status s = api.graph_add_kernel(&last, graph, &after, after ? 1 : 0, &node);
  if (s != Status::Success || !cooperative) return s;
  KernelNodeAttribute attribute;
  attribute.cooperative = 1;
  return api.graph_set_node_attribute(last, kernel_node_cooperative, &attribute);
}

Status Graph::add(size_t index, GraphHandle graph, GraphNodeHandle& last) {
  const Api& api = parts_.context->api;
  const ContextHandle context = parts_.context->handle;
  const Work& w = list_.works[index];
  const GraphNodeHandle after = last;
  Status s = Status::Success;
  if (w.shape.kind == Kind::Launch) {
    std::vector<std::byte> block(list_.parameters.begin() + w.parameters,
                                 list_.parameters.begin() + w.parameters + w.shape.parameter_bytes);
    set_addresses(block.data(), control_of(w), flag_.device);
    void* parameters[] = {block.data()};
    s = add_kernel(kernel_node(w, parameters), w.shape.cooperative, graph, last);
  } else if (w.shape.kind == Kind::Fill) {
    const MemsetNode node = memset_node(w);
    s = api.graph_add_memset(&last, graph, &after, after ? 1 : 0, &node, context);
  } else {
    const CopyNode node = copy_node(w);
    s = api.graph_add_copy(&last, graph, &after, after ? 1 : 0, &node, context);
  }
  nodes_[index] = last;
  return s;
}

/// Adds a test, then a conditional node. Its body is the loop's body followed by another test.
Status Graph::add_loop(size_t index, GraphHandle graph, GraphNodeHandle& last) {
  const Api& api = parts_.context->api;
  const Work& w = list_.works[index];
  ConditionalNode conditional;
  conditional.context = parts_.context->handle;
  Status s = api.graph_create_condition(&conditional.handle, graph, conditional.context, 0, 0);
  if (s != Status::Success) return s;

  LoopTest test;
  test.condition = conditional.handle;
  test.word = w.data.to;
  test.word_bytes = static_cast<uint32_t>(w.data.bytes);
  test.rounds = w.data.rounds;
  test.state = control_of(w);
  test.stop = flag_.device;
  test.controls = controls_.device;
  test.control_count = controls_.count;
  test.is_first = 1;
  void* parameters[] = {&test};
  KernelNode node;
  node.function = loop_test_;
  node.block[0] = loop_threads;
  node.parameters = parameters;
  if (s = add_kernel(node, false, graph, last); s != Status::Success) return s;
  const GraphNodeHandle first_test = last;
  s = api.graph_add_node(&last, graph, &first_test, nullptr, 1, &conditional);
  if (s != Status::Success) return s;

  const GraphHandle body = conditional.bodies[0];
  GraphNodeHandle inner = nullptr;
  for (uint32_t i = 1; s == Status::Success && i <= w.shape.body; ++i)
    s = add(index + i, body, inner);
  if (s != Status::Success) return s;
  test.is_first = 0;
  return add_kernel(node, false, body, inner);
}

bool Graph::update(const WorkList& list) {
  const Api& api = parts_.context->api;
  const ContextHandle context = parts_.context->handle;
  is_broken = true;  // a partial update leaves it inconsistent
  std::vector<std::byte> block;
  for (size_t i = 0; i < list.works.size(); ++i) {
    const Work &now = list.works[i], &before = list_.works[i];
    const std::byte* const bytes = list.parameters.data() + now.parameters;
    Status s = Status::Success;
    if (now.shape.kind == Kind::Launch) {
      if (std::memcmp(bytes, list_.parameters.data() + before.parameters,
                      now.shape.parameter_bytes) == 0)
        continue;
      block.assign(bytes, bytes + now.shape.parameter_bytes);
      set_addresses(block.data(), control_of(before), flag_.device);
      void* parameters[] = {block.data()};
      const KernelNode node = kernel_node(now, parameters);
      s = api.graph_update_kernel(exec_, nodes_[i], &node);
    } else if (now.data == before.data) {
      continue;
    } else if (now.shape.kind == Kind::Fill) {
      const MemsetNode node = memset_node(now);
      s = api.graph_update_memset(exec_, nodes_[i], &node, context);
    } else {
      const CopyNode node = copy_node(now);
      s = api.graph_update_copy(exec_, nodes_[i], &node, context);
    }
    if (s != Status::Success) return false;
  }
  list_.works = list.works;
  list_.parameters = list.parameters;
  is_broken = false;
  return true;
}

// ---- The cache.

bool GraphCache::was_seen(uint64_t hash) {
  const auto it = std::find(seen_.begin(), seen_.end(), hash);
  if (it != seen_.end()) {
    seen_.erase(it);
    return true;
  }
  if (seen_.size() == most_seen) seen_.erase(seen_.begin());
  seen_.push_back(hash);
  return false;
}

Result<Graph*> GraphCache::find(const WorkList& list, std::span<const DeviceCommand> commands) {
  const uint64_t hash = list.shape_hash();
  Graph *chosen = nullptr, *oldest = nullptr;  // free graphs: an equal one, and one to update
  size_t of_shape = 0;
  for (const auto& g : graphs_) {
    if (g->hash != hash || g->body || g->is_broken || !g->list().same_shape(list)) continue;
    ++of_shape;
    if (!g->is_free()) continue;
    if (!chosen && g->list().same_data(list)) chosen = g.get();
    if (!oldest || g->last_use < oldest->last_use) oldest = g.get();
  }
  // Two alternating sets of buffers get a graph each; more of them share.
  if (!chosen && oldest && !list.has_loop && of_shape >= 2 && oldest->update(list)) chosen = oldest;
  if (chosen) {
    chosen->last_use = ++clock_;
    return chosen;
  }
  if (!list.has_loop) {
    if (of_shape >= most_of_a_kind) return nullptr;  // all in use
    if (of_shape == 0 && !was_seen(hash)) return nullptr;
  }
  Result<Graph*> made = build(list, commands);
  if (made && *made) (*made)->hash = hash;
  return made;
}

Graph* GraphCache::find(const CommandBody& body) {
  for (const auto& g : graphs_) {
    if (g->body != body || g->is_broken || !g->is_free()) continue;
    g->last_use = ++clock_;
    return g.get();
  }
  return nullptr;
}

Result<Graph*> GraphCache::build(const WorkList& list, const CommandBody& body) {
  const auto of_body =
      std::count_if(graphs_.begin(), graphs_.end(), [&](const auto& g) { return g->body == body; });
  if (size_t(of_body) >= most_of_a_kind) return nullptr;
  Result<Graph*> made = build(list, *body);
  if (made && *made) (*made)->body = body;
  return made;
}

Result<> GraphCache::load_loop_kernel() {
  if (loop_test_) return Ok{};
  Result<std::shared_ptr<Module>> module = load_loop_test(parts_.context);
  if (!module) return module.errors();
  loop_test_ = std::move(*module);
  return Ok{};
}

/// Removes the least recently used graph. Returns false if all are in use.
bool GraphCache::make_room() {
  if (graphs_.size() < most_graphs) return true;
  auto oldest = graphs_.end();
  for (auto it = graphs_.begin(); it != graphs_.end(); ++it) {
    if ((*it)->users) continue;
    if (oldest == graphs_.end() || (*it)->last_use < (*oldest)->last_use) oldest = it;
  }
  if (oldest == graphs_.end()) return false;
  graphs_.erase(oldest);
  return true;
}

Result<Graph*> GraphCache::build(const WorkList& list, std::span<const DeviceCommand> commands) {
  if (!make_room() && !list.has_loop) return nullptr;
  if (list.has_loop)
    if (Result<> loaded = load_loop_kernel(); !loaded) {
      loops_are_broken_ = true;
      return loaded.errors();
    }
  std::vector<std::shared_ptr<CompiledKernel>> kernels;
  const auto add = [&](const DeviceCommand& c) {
    if (const auto* launch = c.as<DeviceLaunch>()) kernels.push_back(launch->kernel);
  };
  for (const DeviceCommand& c : commands) {
    add(c);
    if (c.body()) std::for_each(c.body()->begin(), c.body()->end(), add);
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  Result<std::unique_ptr<Graph>> made =
      Graph::build(parts_, list, std::move(kernels), loop_test_ ? loop_test_->function : nullptr);
  if (!made) {
    loops_are_broken_ |= list.has_loop && made.errors()[0].code != Code::DeviceMemoryExceeded;
    return made.errors();
  }
  (*made)->last_use = ++clock_;
  graphs_.push_back(std::move(*made));
  return graphs_.back().get();
}

}  // namespace vyre::driver::cuda
