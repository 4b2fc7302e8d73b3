#include "ir/graph_walk.h"

#include <algorithm>

namespace vyre {

GraphSteps flatten(const Graph& graph) {
  using Kind = GraphStep::Kind;
  struct Open {
    const GraphBody* body;
    GraphBody::const_iterator at;
    uint32_t begin;
  };
  GraphSteps steps;
  uint32_t stage = 0;
  std::vector<Open> open = {{&graph.nodes, graph.nodes.begin(), none}};
  while (true) {
    Open& top = open.back();
    if (top.at == top.body->end()) {
      const uint32_t begin = top.begin;
      open.pop_back();
      if (open.empty()) return steps;
      steps[begin].partner = uint32_t(steps.size());
      steps.push_back({Kind::End, steps[begin].node, begin, steps[begin].depth, stage});
      continue;
    }
    const GraphNode& node = *top.at++;
    const auto depth = uint32_t(open.size() - 1);
    if (!node.has_body()) {
      steps.push_back({Kind::Call, &node, none, depth, ++stage});
      continue;
    }
    open.push_back({&node.body, node.body.begin(), uint32_t(steps.size())});
    steps.push_back({Kind::Begin, &node, none, depth, stage});
  }
}

GraphNode& GraphAppender::add(GraphNode node) {
  GraphBody& body = open_.empty() ? graph_.nodes : open_.back()->body;
  body.push_back(std::move(node));
  if (body.back().has_body()) open_.push_back(&body.back());
  return body.back();
}

GraphNode* GraphAppender::close() {
  if (open_.empty()) return nullptr;
  GraphNode* const closed = open_.back();
  open_.pop_back();
  return closed;
}

std::vector<CallArgument> arguments(const Program& kernel, const GraphNode& call) {
  std::vector<CallArgument> list;
  for (const BufferId i : kernel.buffers.ids())
    if (takes_argument(kernel.buffers[i]) && list.size() < call.args.size())
      list.push_back({i, &kernel.buffers[i], &call.args[list.size()]});
  return list;
}

size_t num_arguments(const Program& kernel) {
  return size_t(std::count_if(kernel.buffers.begin(), kernel.buffers.end(), takes_argument));
}

}  // namespace vyre
