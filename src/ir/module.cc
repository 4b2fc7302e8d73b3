#include "ir/module.h"

namespace vyre {

const GraphNodeInfo& info(GraphNodeKind kind) {
  static constexpr GraphNodeInfo infos[graph_node_kind_count] = {
      {.keyword = "call"},
      {.keyword = "repeat", .has_body = true, .has_count = true},
      {.keyword = "while", .has_body = true, .has_count = true, .has_flag = true, .has_test = true},
  };
  return infos[size_t(kind)];
}

GraphNode head_of(const GraphNode& n) {
  return {n.kind, n.kernel, n.args, n.grid, n.count, n.flag, n.compare, n.bits, n.place, {}, n.end};
}

GraphBody::GraphBody(const GraphBody& other) : list() {
  struct Pending {
    const GraphBody* from;
    GraphBody* to;
  };
  std::vector<Pending> pending = {{&other, this}};
  while (!pending.empty()) {
    const auto [from, to] = pending.back();
    pending.pop_back();
    for (const GraphNode& n : *from) {
      to->push_back(head_of(n));
      if (!n.body.empty()) pending.push_back({&n.body, &to->back().body});
    }
  }
}

GraphBody& GraphBody::operator=(GraphBody other) noexcept {
  swap(other);
  return *this;
}

GraphBody::~GraphBody() {
  while (!empty()) {
    splice(end(), front().body);
    pop_front();
  }
}

uint32_t find_kernel(const Module& m, std::string_view name) {
  for (uint32_t i = 0; i < m.kernels.size(); ++i)
    if (m.kernels[i].name == name) return i;
  return none;
}

uint32_t find_graph(const Module& m, std::string_view name) {
  for (uint32_t i = 0; i < m.graphs.size(); ++i)
    if (m.graphs[i].name == name) return i;
  return none;
}

}  // namespace vyre
