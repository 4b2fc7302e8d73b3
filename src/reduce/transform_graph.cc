// Graphs and their calls.

#include <cstring>

#include "interp/interp.h"
#include "reduce/rewrite.h"

namespace vyre::reduce {
namespace {

/// The node after a call, or after the End of a loop.
size_t end_of(const Graph& g, size_t node) {
  size_t depth = 0;
  for (size_t i = node; i < g.nodes.size(); ++i) {
    const GraphNodeKind kind = g.nodes[i].kind;
    if (kind == GraphNodeKind::Repeat || kind == GraphNodeKind::While) ++depth;
    if (kind == GraphNodeKind::End) --depth;
    if (depth == 0) return i + 1;
  }
  return g.nodes.size();
}

void erase_nodes(Graph& g, size_t begin, size_t end) {
  g.nodes.erase(g.nodes.begin() + std::ptrdiff_t(begin), g.nodes.begin() + std::ptrdiff_t(end));
}

bool is_graph_loop(const GraphNode& n) {
  return n.kind == GraphNodeKind::Repeat || n.kind == GraphNodeKind::While;
}

/// What a prefix of a graph may cost: it is run to get at data between two calls.
constexpr uint64_t prefix_lane_ops = uint64_t{1} << 26;

/// Contents of all buffers of the graph before `node`; of loops around it the headers are left out,
/// as in a first iteration. Nothing if the run fails.
std::optional<std::vector<std::vector<std::byte>>> contents_before(const Candidate& c,
                                                                   size_t node) {
  const Graph& g = c.module.graphs[0];
  const auto counts = counts_of_graph(c);
  Module m = c.module;
  Graph& prefix = m.graphs[0];
  prefix.nodes.resize(node);
  std::vector<size_t> open;
  for (size_t i = 0; i < node; ++i) {
    if (is_graph_loop(prefix.nodes[i])) open.push_back(i);
    if (prefix.nodes[i].kind == GraphNodeKind::End) open.pop_back();
  }
  while (!open.empty()) {
    erase_nodes(prefix, open.back(), open.back() + 1);
    open.pop_back();
  }
  interp::GraphInputs inputs{c.inputs->data, c.inputs->lengths};
  for (size_t i = 0; i < prefix.buffers.size(); ++i) {
    GraphBuffer& b = prefix.buffers[i];
    if (b.parameter) continue;
    if (!counts[i]) return std::nullopt;
    b.parameter = true;
    b.role = Role::Out;
    b.count = prefix.formulas.constant(*counts[i]);
  }
  inputs.data.resize(g.buffers.size());
  inputs.lengths.resize(g.buffers.size());
  interp::Options options;
  options.lane_op_limit = prefix_lane_ops;
  auto outcome = interp::run(m, prefix, inputs, options);
  if (!outcome) return std::nullopt;
  for (size_t i = 0; i < g.buffers.size(); ++i)
    if (!is_host_output(prefix.buffers[i].role) && inputs.data[i])
      outcome->buffers[i] = *inputs.data[i];
  return std::move(outcome->buffers);
}

/// The kernel of a call as the target, with the data that the call gets.
std::optional<Candidate> kernel_of_call(const Candidate& c, size_t node) {
  const Graph& g = c.module.graphs[0];
  const GraphNode& call = g.nodes[node];
  auto contents = contents_before(c, node);
  if (!contents) return std::nullopt;
  const auto counts = counts_of_graph(c);
  Candidate out;
  out.module.kernels.push_back(c.module.kernels[call.kernel]);
  Program& p = out.module.kernels[0];
  LaunchInputs& inputs = out.inputs.emplace();
  inputs.data.resize(p.buffers.size());
  inputs.lengths.resize(p.buffers.size());
  size_t argument = 0;
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer& b = p.buffers[i];
    if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
    const GraphArg& a = call.args[argument++];
    if (a.buffer == none) {
      std::vector<std::byte>& bytes = inputs.data[i].emplace(size_of(b.element));
      std::memcpy(bytes.data(), &a.bits, bytes.size());
    } else if (is_host_input(b.role)) {
      inputs.data[i] = (*contents)[a.buffer];
    } else if (b.count == no_formula) {
      inputs.lengths[i] = counts[a.buffer];
    }
  }
  return out;
}

}  // namespace

void remove_graphs(Candidate& c, Choice& choice) {
  if (c.inputs) return;  // the only graph is the target
  for (size_t i = c.module.graphs.size(); i-- > 0;)
    if (choice.take()) c.module.graphs.erase(c.module.graphs.begin() + std::ptrdiff_t(i));
}

void remove_kernels(Candidate& c, Choice& choice) {
  if (c.inputs) return;  // those that are not called are gone
  for (uint32_t k = uint32_t(c.module.kernels.size()); k-- > 0;) {
    bool called = false;
    for (const Graph& g : c.module.graphs)
      for (const GraphNode& n : g.nodes)
        called = called || (n.kind == GraphNodeKind::Call && n.kernel == k);
    if (called || !choice.take()) continue;
    c.module.kernels.erase(c.module.kernels.begin() + std::ptrdiff_t(k));
    for (Graph& g : c.module.graphs)
      for (GraphNode& n : g.nodes)
        if (n.kind == GraphNodeKind::Call && n.kernel > k) --n.kernel;
  }
}

void call_to_kernel(Candidate& c, Choice& choice) {
  if (!c.is_graph() || !c.inputs) return;
  std::optional<size_t> taken;  // the first one
  for (size_t i = 0; i < c.module.graphs[0].nodes.size(); ++i)
    if (c.module.graphs[0].nodes[i].kind == GraphNodeKind::Call && choice.take() && !taken)
      taken = i;
  if (!taken) return;
  if (auto kernel = kernel_of_call(c, *taken)) c = std::move(*kernel);
}

void skip_first_calls(Candidate& c, Choice& choice) {
  if (!c.is_graph() || !c.inputs) return;
  std::optional<size_t> taken;  // the last one: most is skipped
  for (size_t i = end_of(c.module.graphs[0], 0); i < c.module.graphs[0].nodes.size();
       i = end_of(c.module.graphs[0], i))
    if (choice.take()) taken = i;
  if (!taken) return;
  auto contents = contents_before(c, *taken);
  if (!contents) return;
  Graph& g = c.module.graphs[0];
  erase_nodes(g, 0, *taken);
  for (size_t i = 0; i < g.buffers.size(); ++i) {
    GraphBuffer& b = g.buffers[i];
    if (b.role == Role::Scalar || b.role == Role::In || b.role == Role::Uniform) continue;
    b.parameter = true;
    b.role = Role::InOut;
    b.count = no_formula;
    c.inputs->data[i] = std::move((*contents)[i]);
    c.inputs->lengths[i].reset();
  }
}

void remove_nodes(Candidate& c, Choice& choice) {
  for (Graph& g : c.module.graphs)
    for (size_t i = g.nodes.size(); i-- > 0;)
      if (g.nodes[i].kind != GraphNodeKind::End && choice.take()) erase_nodes(g, i, end_of(g, i));
}

void unwrap_graph_loops(Candidate& c, Choice& choice) {
  for (Graph& g : c.module.graphs)
    for (size_t i = g.nodes.size(); i-- > 0;)
      if (is_graph_loop(g.nodes[i]) && choice.take()) {
        const size_t end = end_of(g, i) - 1;
        erase_nodes(g, end, end + 1);
        erase_nodes(g, i, i + 1);
      }
}

void shorten_graph_loops(Candidate& c, Choice& choice) {
  for (const uint64_t times : {1, 2})
    for (Graph& g : c.module.graphs)
      for (GraphNode& n : g.nodes) {
        uint64_t now = 0;
        const bool short_already = n.kind == GraphNodeKind::Repeat &&
                                   g.formulas.is_constant(n.count, &now) && now <= times;
        if (!is_graph_loop(n) || short_already || !choice.take()) continue;
        n.kind = GraphNodeKind::Repeat;
        n.flag = {};
        n.bits = 0;
        n.compare = Opcode::Ne;
        n.count = g.formulas.constant(times);
      }
}

void drop_call_grids(Candidate& c, Choice& choice) {
  for (Graph& g : c.module.graphs)
    for (GraphNode& n : g.nodes)
      if (!n.grid.empty() && choice.take()) n.grid.clear();
}

}  // namespace vyre::reduce
