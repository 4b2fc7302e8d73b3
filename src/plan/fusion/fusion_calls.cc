#include "plan/fusion/fusion_calls.h"

#include <algorithm>

namespace vyre::plan {
namespace {

bool takes_argument(const Buffer& b) { return is_parameter(b.role) && b.role != Role::Scratch; }

FusionCall resolve(const Module& module, const Graph& graph, const GraphShape& shape, uint32_t at) {
  const GraphNode& node = graph.nodes[at];
  const Program& k = module.kernels[node.kernel];
  FusionCall call;
  call.node = at;
  call.kernel = &k;
  call.memory.assign(k.buffers.size(), none);
  call.args.resize(k.buffers.size());
  call.scalars.assign(k.buffers.size(), 0);
  std::vector<std::optional<uint64_t>> counts(k.buffers.size()), scalars(k.buffers.size());
  size_t next = 0;
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    if (!takes_argument(k.buffers[i]) || next >= node.args.size()) continue;
    const GraphArg& arg = node.args[next++];
    call.args[i] = arg;
    call.memory[i] = arg.buffer;
    if (k.buffers[i].role == Role::Scalar) {
      call.scalars[i] = arg.buffer == none ? arg.bits : shape.scalars[arg.buffer];
      scalars[i] = call.scalars[i];
    } else if (arg.buffer != none) {
      counts[i] = shape.counts[arg.buffer];
    }
  }
  if (!node.grid.empty()) {
    call.alone = "its grid is read on the device";
    return call;
  }
  Result<LaunchShape> launch = resolve_launch(k, counts, scalars, std::nullopt);
  if (!launch) {
    call.alone = "its launch fails: " + launch.errors()[0].message;
    return call;
  }
  call.shape = std::move(*launch);
  if (call.shape.workgroups() == 0) call.alone = "it has no workgroups";
  return call;
}

}  // namespace

FusionCalls::FusionCalls(const Module& module, const Graph& graph, const GraphShape& shape)
    : reserved(graph.buffers.size(), false) {
  for (size_t i = 0; i < graph.buffers.size(); ++i) reserved[i] = graph.buffers[i].parameter;
  uint32_t depth = 0;
  bool open = false;  // the last node was a call
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    for (const GraphElement& e : node.grid) reserved[e.buffer] = true;
    if (node.kind == GraphNodeKind::While) reserved[node.flag.buffer] = true;
    if (node.kind != GraphNodeKind::Call) {
      depth += node.kind == GraphNodeKind::End ? -1u : 1u;
      open = false;
      continue;
    }
    const auto at = static_cast<uint32_t>(calls.size());
    calls.push_back(resolve(module, graph, shape, i));
    if (open)
      stretches.back().last = at;
    else
      stretches.push_back({at, at, depth > 0});
    open = true;
  }
  find_live(graph);
}

void FusionCalls::find_live(const Graph& graph) {
  first_use_.assign(graph.buffers.size(), none);
  last_use_.assign(graph.buffers.size(), 0);
  for (uint32_t c = 0; c < calls.size(); ++c)
    for (const uint32_t m : calls[c].memory) {
      if (m == none) continue;
      first_use_[m] = std::min(first_use_[m], c);
      last_use_[m] = c;
    }
  words_ = (graph.buffers.size() + 63) / 64;
  all_live_ = words_ * graph.nodes.size() > most_words;
  if (all_live_) return;
  after_.assign(words_ * calls.size(), 0);

  using Set = std::vector<uint64_t>;
  const auto add = [](Set& set, uint32_t b) { set[b / 64] |= uint64_t{1} << (b % 64); };
  const auto has = [](const Set& set, uint32_t b) { return (set[b / 64] >> (b % 64) & 1) != 0; };
  const auto remove = [](Set& set, uint32_t b) { set[b / 64] &= ~(uint64_t{1} << (b % 64)); };
  const auto roles = [&](const FusionCall& call, auto&& fn) {
    for (size_t b = 0; b < call.memory.size(); ++b)
      if (call.memory[b] != none) fn(call.memory[b], call.kernel->buffers[b].role);
  };

  // What a body needs from before it: read before it is written as a whole. A loop needs what its
  // body needs and promises no write, for it may not run.
  struct Body {
    uint32_t begin;
    Set needs, written;
  };
  std::vector<Body> open = {{none, Set(words_, 0), Set(words_, 0)}};
  std::vector<Set> needs(graph.nodes.size());  // of loops, by both their nodes
  for (uint32_t i = 0, c = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const auto need = [&](uint32_t b) {
      if (!has(open.back().written, b)) add(open.back().needs, b);
    };
    if (node.kind == GraphNodeKind::Call) {
      for (const GraphElement& e : node.grid) need(e.buffer);
      roles(calls[c], [&](uint32_t b, Role role) {
        if (role != Role::Out) need(b);
      });
      roles(calls[c], [&](uint32_t b, Role role) {
        if (role == Role::Out) add(open.back().written, b);
      });
      ++c;
    } else if (node.kind == GraphNodeKind::End) {
      Body body = std::move(open.back());
      open.pop_back();
      const GraphNode& begin = graph.nodes[body.begin];
      if (begin.kind == GraphNodeKind::While) add(body.needs, begin.flag.buffer);
      for (uint32_t w = 0; w < words_; ++w)
        open.back().needs[w] |= body.needs[w] & ~open.back().written[w];
      needs[i] = needs[body.begin] = std::move(body.needs);
    } else {
      open.push_back({i, Set(words_, 0), Set(words_, 0)});
    }
  }

  Set live(words_, 0);
  for (uint32_t b = 0; b < graph.buffers.size(); ++b)
    if (graph.buffers[b].parameter) add(live, b);
  std::vector<Set> behind;  // live at the ends of the loops around
  for (size_t i = graph.nodes.size(), c = calls.size(); i-- > 0;) {
    if (graph.nodes[i].kind == GraphNodeKind::Call) {
      --c;
      std::copy(live.begin(), live.end(), after_.begin() + std::ptrdiff_t(c * words_));
      roles(calls[c], [&](uint32_t b, Role role) {
        if (role == Role::Out) remove(live, b);
      });
      roles(calls[c], [&](uint32_t b, Role role) {
        if (role != Role::Out) add(live, b);
      });
      for (const GraphElement& e : graph.nodes[i].grid) add(live, e.buffer);
    } else if (graph.nodes[i].kind == GraphNodeKind::End) {
      for (uint32_t w = 0; w < words_; ++w) live[w] |= needs[i][w];
      behind.push_back(live);
    } else {
      live = std::move(behind.back());
      behind.pop_back();
    }
  }
}

}  // namespace vyre::plan
