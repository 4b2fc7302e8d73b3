#pragma once

// A graph as a flat list of steps, and the buffers that its nodes name. No walk uses stack for
// nesting.

#include <utility>

#include "ir/module.h"

namespace vyre {

/// A call, or the begin or the end of a node with a body. A step's index in the list is the number
/// of its node in plans, reports and measurements.
struct GraphStep {
  enum class Kind : uint8_t { Call, Begin, End } kind = Kind::Call;
  const GraphNode* node = nullptr;
  uint32_t partner = none;  // Begin: its End; End: its Begin
  uint32_t depth = 0;       // bodies around the node
  uint32_t stage = 0;       // calls up to here, this one included

  bool is_call() const { return kind == Kind::Call; }
  /// The source location of the node.
  const Place& place() const { return kind == Kind::End ? node->end : node->place; }
};
using GraphSteps = std::vector<GraphStep>;

/// Steps in program order. They are valid as long as the nodes.
GraphSteps flatten(const Graph& graph);

/// Appends nodes to a graph in program order: a node with a body takes those added after it, until
/// it is closed.
class GraphAppender {
 public:
  explicit GraphAppender(Graph& graph) : graph_(graph) {}
  GraphNode& add(GraphNode node);
  /// Returns the node that was closed, or null if none is open.
  GraphNode* close();
  size_t num_open() const { return open_.size(); }

 private:
  Graph& graph_;
  std::vector<GraphNode*> open_;
};

/// Calls `visit` with each node in `body`, however deep: with the body that it stands in and its
/// position there. Outer nodes come before inner ones, in program order.
template <class Body, class Visit>
void for_each_position(Body& body, Visit&& visit) {
  struct Open {
    Body* in;
    decltype(std::declval<Body&>().begin()) at;
  };
  std::vector<Open> open = {{&body, body.begin()}};
  while (!open.empty()) {
    const auto [in, at] = open.back();
    if (at == in->end()) {
      open.pop_back();
      continue;
    }
    ++open.back().at;
    visit(*in, at);
    if (!at->body.empty()) open.push_back({&at->body, at->body.begin()});
  }
}

/// The same with the nodes alone.
template <class Body, class Visit>
void for_each_node(Body& body, Visit&& visit) {
  for_each_position(body, [&](auto&, auto at) { visit(*at); });
}

template <class Body, class Visit>
void for_each_call(Body& body, Visit&& visit) {
  for_each_node(body, [&](auto& node) {
    if (node.kind == GraphNodeKind::Call) visit(node);
  });
}

/// Calls `visit` with each element that the graph itself reads for a node.
template <class Node, class Visit>
void for_each_element(Node& node, Visit&& visit) {
  for (auto& e : node.grid) visit(e);
  if (info(node.kind).has_flag) visit(node.flag);
}

/// Calls `visit` with the id of each buffer or scalar of the graph that a node names.
template <class Node, class Visit>
void for_each_buffer(Node& node, Visit&& visit) {
  for (auto& a : node.args)
    if (a.buffer != none) visit(a.buffer);
  for_each_element(node, [&](auto& e) {
    if (e.buffer != none) visit(e.buffer);
  });
}

/// True if calls pass an argument for the parameter.
inline bool takes_argument(const Buffer& parameter) {
  return is_parameter(parameter.role) && parameter.role != Role::Scratch;
}

/// An argument of a call with the parameter of the kernel that it is for.
struct CallArgument {
  BufferId index{0};
  const Buffer* parameter = nullptr;
  const GraphArg* given = nullptr;

  bool is_scalar() const { return parameter->role == Role::Scalar; }
};

/// Arguments in order. As many as there are both parameters and arguments: calls that the checker
/// has not seen may have too few or too many.
std::vector<CallArgument> arguments(const Program& kernel, const GraphNode& call);

/// Number of arguments that a call of the kernel takes.
size_t num_arguments(const Program& kernel);

}  // namespace vyre
