// Graphs and their calls.

#include <cstring>
#include <ranges>

#include "interp/interp.h"
#include "ir/graph_walk.h"
#include "reduce/rewrite.h"

namespace vyre::reduce {
namespace {

struct Position {
  GraphBody* body;
  GraphBody::iterator at;
};

/// The nodes of a graph, outer ones before inner ones.
std::vector<Position> positions(Graph& g) {
  std::vector<Position> list;
  for_each_position(g.nodes, [&](GraphBody& body, auto at) { list.push_back({&body, at}); });
  return list;
}

/// The nodes that run before a step in a first iteration of the loops around it.
GraphBody prefix_of(const Graph& g, uint32_t end) {
  const GraphSteps steps = flatten(g);
  Graph prefix;
  GraphAppender nodes(prefix);
  for (uint32_t i = 0; i < end; ++i) {
    const bool is_around = steps[i].kind == GraphStep::Kind::Begin && steps[i].partner >= end;
    if (steps[i].kind == GraphStep::Kind::End)
      nodes.close();
    else if (!is_around)
      nodes.add(head_of(*steps[i].node));
  }
  return std::move(prefix.nodes);
}

/// Limit of the work of a prefix of a graph, which is run to compute the data between two calls.
constexpr uint64_t prefix_lane_ops = uint64_t{1} << 26;

/// Contents of all buffers of the graph before a step, in a first iteration of the loops around it.
/// Nothing if the run fails.
std::optional<IdMap<GraphBufferId, std::vector<std::byte>>> contents_before(const Candidate& c,
                                                                            uint32_t step) {
  const Graph& g = c.module.graphs[0];
  const auto counts = counts_of_graph(c);
  Module m = c.module;
  Graph& prefix = m.graphs[0];
  prefix.nodes = prefix_of(g, step);
  interp::GraphInputs inputs{c.inputs->data, c.inputs->lengths};
  for (const GraphBufferId i : prefix.buffers.ids()) {
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
  for (const GraphBufferId i : g.buffers.ids())
    if (!is_host_output(prefix.buffers[i].role) && inputs.data[i])
      outcome->buffers[i] = *inputs.data[i];
  return std::move(outcome->buffers);
}

/// The kernel of a call as the target, with the input data of the call.
std::optional<Candidate> kernel_of_call(const Candidate& c, uint32_t step, const GraphNode& call) {
  auto contents = contents_before(c, step);
  if (!contents) return std::nullopt;
  const auto counts = counts_of_graph(c);
  Candidate out;
  out.module.kernels.push_back(c.module.kernels[call.kernel]);
  Program& p = out.module.kernels[0];
  LaunchInputs& inputs = out.inputs.emplace();
  inputs.data.resize(p.buffers.size());
  inputs.lengths.resize(p.buffers.size());
  for (const CallArgument& a : arguments(p, call)) {
    const Buffer& b = *a.parameter;
    if (a.given->buffer == none) {
      std::vector<std::byte>& bytes = inputs.data[a.index].emplace(size_of(b.element));
      std::memcpy(bytes.data(), &a.given->bits, bytes.size());
    } else if (is_host_input(b.role)) {
      inputs.data[a.index] = (*contents)[a.given->buffer];
    } else if (b.count == no_formula) {
      inputs.lengths[a.index] = counts[a.given->buffer];
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
  if (c.inputs) return;  // uncalled kernels are removed already
  for (uint32_t k = uint32_t(c.module.kernels.size()); k-- > 0;) {
    bool called = false;
    for (const Graph& g : c.module.graphs)
      for_each_call(g.nodes, [&](const GraphNode& n) { called = called || n.kernel == k; });
    if (called || !choice.take()) continue;
    c.module.kernels.erase(c.module.kernels.begin() + std::ptrdiff_t(k));
    for (Graph& g : c.module.graphs)
      for_each_call(g.nodes, [&](GraphNode& n) { n.kernel -= n.kernel > k; });
  }
}

void call_to_kernel(Candidate& c, Choice& choice) {
  if (!c.is_graph() || !c.inputs) return;
  std::optional<uint32_t> taken;  // the first one
  const GraphSteps steps = flatten(c.module.graphs[0]);
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (steps[i].is_call() && choice.take() && !taken) taken = i;
  if (!taken) return;
  if (auto kernel = kernel_of_call(c, *taken, *steps[*taken].node)) c = std::move(*kernel);
}

void skip_first_calls(Candidate& c, Choice& choice) {
  if (!c.is_graph() || !c.inputs) return;
  std::optional<uint32_t> taken;  // the last one: it skips most
  const GraphSteps steps = flatten(c.module.graphs[0]);
  for (uint32_t i = 1; i < steps.size(); ++i)
    if (steps[i].depth == 0 && steps[i].kind != GraphStep::Kind::End && choice.take()) taken = i;
  if (!taken) return;
  auto contents = contents_before(c, *taken);
  if (!contents) return;
  Graph& g = c.module.graphs[0];
  while (&g.nodes.front() != steps[*taken].node) g.nodes.pop_front();
  for (const GraphBufferId i : g.buffers.ids()) {
    GraphBuffer& b = g.buffers[i];
    if (b.role == Role::Scalar || b.role == Role::In || b.role == Role::Uniform) continue;
    b.parameter = true;
    b.role = Role::InOut;
    b.count = no_formula;
    c.inputs->data[i.value()] = std::move((*contents)[i]);
    c.inputs->lengths[i.value()].reset();
  }
}

void remove_nodes(Candidate& c, Choice& choice) {
  for (Graph& g : c.module.graphs)
    for (const Position& p : std::views::reverse(positions(g)))
      if (choice.take()) p.body->erase(p.at);
}

void unwrap_graph_loops(Candidate& c, Choice& choice) {
  for (Graph& g : c.module.graphs)
    for (const Position& p : std::views::reverse(positions(g)))
      if (p.at->has_body() && choice.take()) {
        p.body->splice(p.at, p.at->body);
        p.body->erase(p.at);
      }
}

void shorten_graph_loops(Candidate& c, Choice& choice) {
  for (const uint64_t times : {1, 2})
    for (Graph& g : c.module.graphs)
      for_each_node(g.nodes, [&](GraphNode& n) {
        uint64_t now = 0;
        const bool short_already = n.kind == GraphNodeKind::Repeat &&
                                   g.formulas.is_constant(n.count, &now) && now <= times;
        if (!n.has_body() || short_already || !choice.take()) return;
        n.kind = GraphNodeKind::Repeat;
        n.flag = {};
        n.bits = 0;
        n.compare = Opcode::Ne;
        n.count = g.formulas.constant(times);
      });
}

void drop_call_grids(Candidate& c, Choice& choice) {
  for (Graph& g : c.module.graphs)
    for_each_call(g.nodes, [&](GraphNode& n) {
      if (!n.grid.empty() && choice.take()) n.grid.clear();
    });
}

}  // namespace vyre::reduce
