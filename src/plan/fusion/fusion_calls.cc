#include "plan/fusion/fusion_calls.h"

#include <algorithm>
#include <utility>

namespace vyre::plan {
namespace {

FusionCall resolve(const Module& module, const GraphNode& node, const GraphShape& shape,
                   uint32_t at) {
  const Program& k = module.kernels[node.kernel];
  FusionCall call;
  call.node = at;
  call.kernel = &k;
  call.memory.assign(k.buffers.size(), none);
  call.args.resize(k.buffers.size());
  call.scalars.assign(k.buffers.size(), 0);
  IdMap<BufferId, std::optional<uint64_t>> counts(k.buffers.size()), scalars(k.buffers.size());
  for (const CallArgument& a : arguments(k, node)) {
    const BufferId i = a.index;
    call.args[i] = *a.given;
    call.memory[i] = a.given->buffer;
    if (a.is_scalar()) {
      call.scalars[i] = a.given->buffer == none ? a.given->bits : shape.scalars[a.given->buffer];
      scalars[i] = call.scalars[i];
    } else if (a.given->buffer != none) {
      counts[i] = shape.counts[a.given->buffer];
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
    : steps(flatten(graph)), reserved(graph.buffers.size(), false) {
  for (const GraphBufferId i : graph.buffers.ids()) reserved[i] = graph.buffers[i].parameter;
  bool open = false;  // the last step was a call
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const GraphStep& step = steps[i];
    for_each_element(*step.node, [&](const GraphElement& e) { reserved[e.buffer] = true; });
    const bool follows = std::exchange(open, step.is_call());
    if (!step.is_call()) continue;
    const auto at = static_cast<uint32_t>(calls.size());
    calls.push_back(resolve(module, *step.node, shape, i));
    if (follows)
      stretches.back().last = at;
    else
      stretches.push_back({at, at, step.depth > 0});
  }
  find_live(graph);
}

void FusionCalls::find_live(const Graph& graph) {
  first_use_.assign(graph.buffers.size(), none);
  last_use_.assign(graph.buffers.size(), 0);
  for (uint32_t c = 0; c < calls.size(); ++c)
    for (const GraphBufferId m : calls[c].memory) {
      if (m == none) continue;
      first_use_[m] = std::min(first_use_[m], c);
      last_use_[m] = c;
    }
  words_ = (graph.buffers.size() + 63) / 64;
  all_live_ = words_ * steps.size() > most_words;
  if (all_live_) return;
  after_.assign(words_ * calls.size(), 0);

  using Set = std::vector<uint64_t>;
  const auto bit = [](GraphBufferId b) { return uint64_t{1} << (b.value() % 64); };
  const auto add = [&](Set& set, GraphBufferId b) { set[b.value() / 64] |= bit(b); };
  const auto has = [&](const Set& set, GraphBufferId b) {
    return (set[b.value() / 64] & bit(b)) != 0;
  };
  const auto remove = [&](Set& set, GraphBufferId b) { set[b.value() / 64] &= ~bit(b); };
  const auto roles = [&](const FusionCall& call, auto&& fn) {
    for (const BufferId b : call.memory.ids())
      if (call.memory[b] != none) fn(call.memory[b], call.kernel->buffers[b].role);
  };

  // Contents that a body needs from before it: read before it is written as a whole. A loop needs
  // the same as its body and promises no write, for it may not run.
  struct Body {
    Set needs, written;
  };
  std::vector<Body> open = {{Set(words_, 0), Set(words_, 0)}};
  std::vector<Set> needs(steps.size());  // of loops, by their End
  for (uint32_t i = 0, c = 0; i < steps.size(); ++i) {
    const GraphNode& node = *steps[i].node;
    const auto need = [&](GraphBufferId b) {
      if (!has(open.back().written, b)) add(open.back().needs, b);
    };
    switch (steps[i].kind) {
      case GraphStep::Kind::Call:
        for_each_element(node, [&](const GraphElement& e) { need(e.buffer); });
        roles(calls[c], [&](GraphBufferId b, Role role) {
          if (role != Role::Out) need(b);
        });
        roles(calls[c], [&](GraphBufferId b, Role role) {
          if (role == Role::Out) add(open.back().written, b);
        });
        ++c;
        break;
      case GraphStep::Kind::Begin: open.push_back({Set(words_, 0), Set(words_, 0)}); break;
      case GraphStep::Kind::End: {
        Body body = std::move(open.back());
        open.pop_back();
        for_each_element(node, [&](const GraphElement& e) { add(body.needs, e.buffer); });
        for (uint32_t w = 0; w < words_; ++w)
          open.back().needs[w] |= body.needs[w] & ~open.back().written[w];
        needs[i] = std::move(body.needs);
        break;
      }
    }
  }

  Set live(words_, 0);
  for (const GraphBufferId b : graph.buffers.ids())
    if (graph.buffers[b].parameter) add(live, b);
  std::vector<Set> live_after;  // at the ends of the loops around
  for (size_t i = steps.size(), c = calls.size(); i-- > 0;) {
    switch (steps[i].kind) {
      case GraphStep::Kind::Call:
        --c;
        std::copy(live.begin(), live.end(), after_.begin() + std::ptrdiff_t(c * words_));
        roles(calls[c], [&](GraphBufferId b, Role role) {
          if (role == Role::Out) remove(live, b);
        });
        roles(calls[c], [&](GraphBufferId b, Role role) {
          if (role != Role::Out) add(live, b);
        });
        for_each_element(*steps[i].node, [&](const GraphElement& e) { add(live, e.buffer); });
        break;
      case GraphStep::Kind::End:
        for (uint32_t w = 0; w < words_; ++w) live[w] |= needs[i][w];
        live_after.push_back(live);
        break;
      case GraphStep::Kind::Begin:
        live = std::move(live_after.back());
        live_after.pop_back();
        break;
    }
  }
}

}  // namespace vyre::plan
