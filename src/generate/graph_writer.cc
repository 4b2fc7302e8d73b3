#include "generate/graph_writer.h"

#include <algorithm>

#include "generate/interesting.h"
#include "ir/graph_walk.h"

namespace vyre::lab {

GraphBufferId GraphWriter::add_slot(Role role, Type element, uint64_t count) {
  Slot s{role, element, count, {}};
  if (role == Role::Scalar)
    for (uint32_t k = 0; k < size_of(element); ++k)
      s.data.push_back(static_cast<std::byte>(count >> (8 * k)));
  else if (is_host_input(role))
    s.data = interesting_bytes(r_, element, count);
  slots_.push_back(std::move(s));
  return GraphBufferId(slots_.size() - 1);
}

// ---- Calls.

GraphArg GraphWriter::scalar_argument(Type type, uint64_t bits) {
  if (r_.chance(40)) return {none, bits};
  for (const GraphBufferId i : slots_.ids())
    if (slots_[i].role == Role::Scalar && slots_[i].element == type && slots_[i].count == bits)
      return {i, 0};
  return {add_slot(Role::Scalar, type, bits), 0};
}

/// An existing buffer that fits and is not in `taken`, or a new one.
GraphBufferId GraphWriter::buffer_argument(const Buffer& parameter, uint64_t count,
                                           std::vector<GraphBufferId>& taken) {
  const bool writes = is_writable(parameter.role);
  std::vector<GraphBufferId> fitting;
  for (const GraphBufferId i : slots_.ids()) {
    const Slot& s = slots_[i];
    const bool role = s.role != Role::Scalar && (!writes || is_writable(s.role));
    if (role && s.element == parameter.element && s.count == count &&
        std::find(taken.begin(), taken.end(), i) == taken.end())
      fitting.push_back(i);
  }
  if (!fitting.empty() && r_.chance(80)) return r_.pick(fitting);
  Role role = Role::In;
  switch (parameter.role) {
    case Role::Uniform: role = r_.pick({Role::Uniform, Role::In}); break;
    case Role::InOut: role = r_.pick({Role::InOut, Role::InOut, Role::Out, Role::Scratch}); break;
    case Role::Out: role = r_.pick({Role::Out, Role::Out, Role::Scratch, Role::InOut}); break;
    default: role = r_.pick({Role::In, Role::In, Role::In, Role::InOut, Role::Scratch}); break;
  }
  return add_slot(role, parameter.element, count);
}

GraphNode GraphWriter::call(uint32_t kernel) {
  const WrittenKernel& k = kernels_[kernel];
  GraphNode node;
  node.kernel = kernel;
  std::vector<GraphBufferId> taken;
  for (const BufferId i : k.program.buffers.ids()) {
    const Buffer& b = k.program.buffers[i];
    if (!takes_argument(b)) continue;
    if (b.role == Role::Scalar) {
      node.args.push_back(scalar_argument(b.element, k.counts[i]));
      continue;
    }
    taken.push_back(buffer_argument(b, k.counts[i], taken));
    node.args.push_back({taken.back(), 0});
  }
  const GraphBufferId counts = r_.chance(12) ? integer_slot(false) : none;
  if (counts != none)
    for (uint32_t d = 0; d < k.program.grid_dims; ++d)
      node.grid.push_back({counts, r_.below(slots_[counts].count + 2)});
  return node;
}

/// A buffer of which an element can be a grid or a flag, or none.
GraphBufferId GraphWriter::integer_slot(bool or_bool) {
  for (int tries = 0; tries < 8 && !slots_.empty(); ++tries) {
    const GraphBufferId i(r_.below(slots_.size()));
    const Slot& s = slots_[i];
    if (s.role != Role::Scalar && (is_integer(s.element) || (or_bool && s.element == Type::Bool)))
      return i;
  }
  return none;
}

/// The call, or a loop around it.
void GraphWriter::add_nodes(GraphNode call) {
  const GraphBufferId flag = r_.chance(15) ? integer_slot(true) : none;
  const bool repeat = flag == none && r_.chance(20);
  if (!repeat && flag == none) return graph_.nodes.push_back(std::move(call));
  GraphNode& loop = graph_.nodes.emplace_back();
  loop.kind = repeat ? GraphNodeKind::Repeat : GraphNodeKind::While;
  loop.count = graph_.formulas.constant(r_.chance(10) ? 0 : r_.between(1, 3));
  if (!repeat) {
    const Type t = slots_[flag].element;
    loop.flag = {flag, r_.below(slots_[flag].count + 1)};
    loop.compare = t == Type::Bool ? r_.pick({Opcode::Eq, Opcode::Ne})
                                   : r_.pick({Opcode::Eq, Opcode::Ne, Opcode::Ne, Opcode::Lt,
                                              Opcode::Le, Opcode::Gt, Opcode::Ge});
    loop.bits = interesting_bits(r_, t);
  }
  loop.body.push_back(std::move(call));
}

// ---- The whole.

/// Parameters first, then the graph's own buffers; lengths as formulas.
void GraphWriter::declare() {
  IdMap<GraphBufferId, GraphBufferId> order = identity(slots_);
  std::stable_partition(order.begin(), order.end(),
                        [&](GraphBufferId i) { return slots_[i].role != Role::Scratch; });
  IdMap<GraphBufferId, GraphBufferId> place(slots_.size());
  for (const GraphBufferId i : order.ids()) place[order[i]] = i;

  constexpr std::string_view prefix[] = {"in", "io", "out", "buf", "", "", "uni", "s", ""};
  for (const GraphBufferId i : order.ids()) {
    const Slot& s = slots_[order[i]];
    GraphBuffer b;
    b.name = std::string(prefix[static_cast<int>(s.role)]) + std::to_string(i.value());
    b.role = s.role;
    b.element = s.element;
    b.parameter = s.role != Role::Scratch;
    auto& data = g_.inputs.data.emplace_back();
    auto& length = g_.inputs.lengths.emplace_back();
    if (is_host_input(s.role)) data = s.data;
    if (s.role == Role::Scalar) {
      b.count = graph_.formulas.constant(1);
    } else if (s.role == Role::Scratch || r_.chance(50)) {
      b.count = graph_.formulas.constant(s.count);
      for (GraphBufferId k(0); k < i && r_.chance(70);
           ++k)  // an earlier parameter as long as this one
        if (graph_.buffers[k].parameter && graph_.buffers[k].role != Role::Scalar &&
            slots_[order[k]].count == s.count) {
          b.count = graph_.formulas.len(k.value());
          break;
        }
    } else if (s.role == Role::Out) {
      length = s.count;
    }
    graph_.buffers.push_back(std::move(b));
  }
  for_each_node(graph_.nodes, [&](GraphNode& n) {
    for_each_buffer(n, [&](GraphBufferId& buffer) { buffer = place[buffer]; });
  });
}

Generated GraphWriter::write() {
  graph_.name = "g";
  for (uint64_t n = r_.between(2, 4); n-- > 0;) {
    std::vector<Wish> wishes;
    for (const Slot& s : slots_)
      if (s.role != Role::Scalar) wishes.push_back({s.element, s.count});
    const auto index = static_cast<uint32_t>(kernels_.size());
    kernels_.push_back(
        KernelWriter(r_, options_, "k" + std::to_string(index), wishes, true).write());
    add_nodes(call(index));
    if (r_.chance(25)) add_nodes(call(static_cast<uint32_t>(r_.below(kernels_.size()))));
  }
  declare();
  for (WrittenKernel& k : kernels_) g_.module.kernels.push_back(std::move(k.program));
  g_.module.graphs.push_back(std::move(graph_));
  return std::move(g_);
}

}  // namespace vyre::lab
