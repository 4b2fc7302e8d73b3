#include "runtime/cuda/fake_driver.h"

namespace vyre::fake_cuda {

Driver& driver() {
  // Never destroyed: programs end in any order.
  static Driver* const d = new Driver();
  return *d;
}

size_t parameter_bytes_of(const std::string& text, const std::string& entry) {
  const size_t at = text.find(".entry " + entry + "(");
  if (at == text.npos) return 0;
  const size_t open = text.find('[', at);
  return open == text.npos ? 0 : size_t(std::atoll(text.c_str() + open + 1));
}

int max_threads_of(const std::string& text) {
  const size_t at = text.find(".maxntid ");
  if (at == text.npos) return 1024;
  int n[3] = {1, 1, 1};
  std::sscanf(text.c_str() + at, ".maxntid %d, %d, %d", n, n + 1, n + 2);
  return n[0] * n[1] * n[2];
}

void Driver::loop_test(Context_* c, const LoopTest& t) {
  using emit_ptx::ControlBlock;
  const bool ok = is_valid(*c, t.state, sizeof(ControlBlock)) && is_valid(*c, t.stop, 4) &&
                  is_valid(*c, t.controls, t.control_count * sizeof(ControlBlock)) &&
                  (!t.word || is_valid(*c, t.word, t.word_bytes));
  if (!ok) {
    c->error = int(Status::IllegalAddress);
    return;
  }
  const auto* const blocks = reinterpret_cast<const ControlBlock*>(t.controls);
  bool bad = false;
  for (uint32_t i = 0; i < t.control_count; ++i)
    bad |= blocks[i].trapped != ~uint64_t{0} || blocks[i].stopped_at != 0;
  auto& state = *reinterpret_cast<ControlBlock*>(t.state);
  uint64_t begun = t.is_first ? 0 : rounds_begun(state);
  if (t.is_first) state.z = 0;
  const auto* const word = reinterpret_cast<const uint8_t*>(t.word);
  bool on = !bad && begun < t.rounds;
  if (word) on &= std::any_of(word, word + t.word_bytes, [](uint8_t b) { return b != 0; });
  const bool stop = reinterpret_cast<std::atomic<uint32_t>*>(t.stop)->load() != 0;
  if (on && stop) state.z = 1;
  on &= !stop;
  begun += on;
  state.x = uint32_t(begun);
  state.y = uint32_t(begun >> 32);
  const std::lock_guard lock(mutex);
  conditions[t.condition] = on;
}

void Driver::kernel(Context_* c, const Node_& n) {
  if (n.function->entry == loop_symbol) {
    LoopTest t;
    std::memcpy(&t, n.parameters.data(), sizeof t);
    return loop_test(c, t);
  }
  Executor run;
  {
    const std::lock_guard lock(mutex);
    run = executor;
  }
  Launch l{n.function->module->text,
           n.parameters.data(),
           n.parameters.size(),
           {},
           {},
           n.shared_bytes,
           n.cooperative,
           c->error};
  std::copy(n.grid, n.grid + 3, l.grid);
  std::copy(n.block, n.block + 3, l.block);
  if (!run || !run(l)) c->error = int(Status::IllegalAddress);
}

void Driver::run(Context_* c, const Graph_& g) {
  for (const auto& n : g.nodes) {
    if (c->error) return;
    switch (n->kind) {
      case Node_::Kind::Kernel: kernel(c, *n); break;
      case Node_::Kind::Memset: fill(c, n->memset); break;
      case Node_::Kind::Copy:
        copy(c, n->copy.to.device, n->copy.from.device, n->copy.width_bytes, true, true);
        break;
      case Node_::Kind::While: {
        const auto on = [&] {
          const std::lock_guard lock(mutex);
          return conditions.at(n->condition) != 0;
        };
        while (!c->error && on()) run(c, *n->body);
        break;
      }
    }
  }
}

Status Driver::check_launch(const Function_& f, const unsigned* grid, const unsigned* block,
                            unsigned shared, bool cooperative) {
  for (int d = 0; d < 3; ++d)
    if (grid[d] == 0 || block[d] == 0) return Status::InvalidValue;
  if (grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535) return Status::InvalidValue;
  const int threads = int(block[0] * block[1] * block[2]);
  if (threads > f.max_threads) return Status::LaunchOutOfResources;
  if (shared > unsigned(f.dynamic_shared_limit)) return Status::InvalidValue;
  if (!cooperative) return Status::Success;
  const uint64_t fits = uint64_t(occupancy(f, threads, shared)) *
                        uint64_t(config.devices[size_t(current()->ordinal)].multiprocessors);
  return uint64_t{grid[0]} * grid[1] * grid[2] > fits ? Status::CooperativeLaunchTooLarge
                                                      : Status::Success;
}

std::shared_ptr<Function_> function_of(FunctionHandle f) {
  const std::lock_guard lock(driver().mutex);
  const auto& all = driver().current()->functions;
  const auto it = all.find(f);
  return it == all.end() ? nullptr : it->second;
}

Status launch_on(FunctionHandle handle, const unsigned* grid, const unsigned* block,
                 unsigned shared, StreamHandle stream, void** parameters, bool cooperative) {
  const auto f = function_of(handle);
  if (!f || !parameters) return Status::InvalidValue;
  const Status s = driver().check_launch(*f, grid, block, shared, cooperative);
  if (s != Status::Success) return s;
  auto n = std::make_shared<Node_>();
  n->kind = Node_::Kind::Kernel;
  n->function = f;
  std::copy(grid, grid + 3, n->grid);
  std::copy(block, block + 3, n->block);
  n->shared_bytes = shared;
  n->cooperative = cooperative;
  const auto* bytes = static_cast<const std::byte*>(parameters[0]);
  n->parameters.assign(bytes, bytes + f->parameter_bytes);
  Context_* const c = driver().current();
  driver().enqueue(stream, [c, n] { driver().kernel(c, *n); });
  return Status::Success;
}

Status set_kernel(Node_& n, const KernelNode& what) {
  const auto f = function_of(what.function);
  if (!f || !what.parameters) return Status::InvalidValue;
  const Status s = driver().check_launch(*f, what.grid, what.block, what.shared_bytes, false);
  if (s != Status::Success) return s;
  n.kind = Node_::Kind::Kernel;
  n.function = f;
  std::copy(what.grid, what.grid + 3, n.grid);
  std::copy(what.block, what.block + 3, n.block);
  n.shared_bytes = what.shared_bytes;
  const auto* bytes = static_cast<const std::byte*>(what.parameters[0]);
  n.parameters.assign(bytes, bytes + f->parameter_bytes);
  return Status::Success;
}

Status add_node(GraphNodeHandle* out, GraphHandle graph, const GraphNodeHandle* after, size_t count,
                std::unique_ptr<Node_> node) {
  auto* const g = reinterpret_cast<Graph_*>(graph);
  Node_* const last = g->nodes.empty() ? nullptr : g->nodes.back().get();
  if (count != (last ? 1u : 0u) || (last && reinterpret_cast<Node_*>(after[0]) != last))
    return Status::InvalidValue;
  *out = reinterpret_cast<GraphNodeHandle>(node.get());
  g->nodes.push_back(std::move(node));
  return Status::Success;
}

std::unique_ptr<Graph_> copy_graph(const Graph_& g, std::map<Node_*, Node_*>& mine) {
  auto made = std::make_unique<Graph_>();
  for (const auto& n : g.nodes) {
    made->nodes.push_back(std::make_unique<Node_>(*n));
    mine[n.get()] = made->nodes.back().get();
    if (n->kind != Node_::Kind::While) continue;
    made->bodies.push_back(copy_graph(*n->body, mine));
    made->nodes.back()->body = made->bodies.back().get();
  }
  return made;
}

}  // namespace vyre::fake_cuda
