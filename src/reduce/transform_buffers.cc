// Parameters, arrays, tables, lengths and input data.

#include <algorithm>
#include <cstring>

#include "reduce/rewrite.h"

namespace vyre::reduce {
namespace {

using Bytes = std::vector<std::byte>;

bool is_target(const Candidate& c, uint32_t kernel) { return !c.is_graph() && kernel == 0; }

/// The data that the target's launch passes to a buffer of the kernel or graph, or null.
Bytes* data_of(Candidate& c, uint32_t buffer) {
  if (!c.inputs || buffer >= c.inputs->data.size() || !c.inputs->data[buffer]) return nullptr;
  return &*c.inputs->data[buffer];
}

uint64_t bits_at(Type element, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(element));
  return bits;
}

/// Replaces each use of a length or scalar in formulas by a number.
void fix_name(FormulaPool& pool, FormulaOp op, uint32_t index, Type type, uint64_t bits) {
  uint64_t value = bits;
  bool negative = false;
  if (op == FormulaOp::Scalar && is_signed(type)) {
    const uint32_t unused = 64 - width_of(type);
    const auto v = static_cast<int64_t>(bits << unused) >> unused;
    negative = v < 0;
    value = negative ? -static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  }
  for (FormulaNode& n : pool.nodes)
    if (n.op == op && n.a == index) n = {FormulaOp::Const, 0, 0, value, negative};
}

void drop_name(FormulaPool& pool, uint32_t index) {
  for (FormulaNode& n : pool.nodes)
    if ((n.op == FormulaOp::Len || n.op == FormulaOp::Scalar) && n.a > index) --n.a;
}

template <class T>
void erase_at(std::vector<T>& list, size_t i) {
  if (i < list.size()) list.erase(list.begin() + std::ptrdiff_t(i));
}

/// The index of the argument that a call passes to a parameter.
size_t argument_of(const Program& p, BufferId buffer) {
  return size_t(
      std::count_if(p.buffers.begin(), p.buffers.begin() + buffer.value(), takes_argument));
}

void remove_table_bytes(Program& p, BufferId buffer) {
  uint64_t count = 0;
  p.formulas.is_constant(p.buffers[buffer].count, &count);
  const uint64_t begin = p.buffers[buffer].table_offset,
                 bytes = count * size_of(p.buffers[buffer].element);
  p.table_bytes.erase(p.table_bytes.begin() + std::ptrdiff_t(begin),
                      p.table_bytes.begin() + std::ptrdiff_t(begin + bytes));
  for (Buffer& b : p.buffers)
    if (b.role == Role::Table && b.table_offset > begin) b.table_offset -= bytes;
}

/// Removes a buffer with all accesses to it; loads become 0, lengths and scalars their current
/// values.
void remove_buffer(Candidate& c, uint32_t kernel, BufferId buffer, uint64_t count) {
  Program& p = c.module.kernels[kernel];
  const Buffer removed = p.buffers[buffer];
  const Bytes* data = is_target(c, kernel) ? data_of(c, buffer.value()) : nullptr;
  const uint64_t bits =
      removed.role == Role::Scalar && data ? bits_at(removed.element, data->data()) : 0;
  {
    opt::Rewriter r(p);
    const std::vector<OpId> order = r.ops();
    for (const OpId op : order) {
      const Op o = p.op(op);
      if (!names_buffer(o)) continue;
      if (o.buffer() == buffer) {
        if (o.code == Opcode::Len || o.code == Opcode::Len64)
          r.replace(p.result(op),
                    r.insert_constant(op, p.type(p.result(op)),
                                      o.code == Opcode::Len ? uint32_t(count) : count));
        else if (o.code == Opcode::Scalar)
          r.replace(p.result(op), r.insert_constant(op, o.type, bits));
        else
          replace_results(p, r, op);
        r.remove(op);
      } else if (o.buffer() > buffer) {
        --p.op(op).attr;  // the low half: no carry
        r.mark_changed();
      }
    }
    r.finish();
  }
  fix_name(p.formulas, FormulaOp::Len, buffer.value(), Type::U64, count);
  fix_name(p.formulas, FormulaOp::Scalar, buffer.value(), removed.element, bits);
  drop_name(p.formulas, buffer.value());
  if (removed.role == Role::Table) remove_table_bytes(p, buffer);
  if (takes_argument(removed)) {
    const size_t argument = argument_of(p, buffer);
    for (Graph& g : c.module.graphs)
      for_each_call(g.nodes, [&](GraphNode& n) {
        if (n.kernel == kernel) erase_at(n.args, argument);
      });
  }
  erase_at(p.buffers, buffer.value());
  if (is_target(c, kernel) && c.inputs) {
    erase_at(c.inputs->data, buffer.value());
    erase_at(c.inputs->lengths, buffer.value());
  }
}

/// The constant that all calls of a kernel pass to a scalar parameter.
std::optional<uint64_t> constant_argument(const Candidate& c, uint32_t kernel, BufferId buffer) {
  std::optional<uint64_t> bits;
  bool is_constant = true;
  const size_t argument = argument_of(c.module.kernels[kernel], buffer);
  for (const Graph& g : c.module.graphs)
    for_each_call(g.nodes, [&](const GraphNode& n) {
      if (n.kernel != kernel) return;
      const GraphArg& a = n.args[argument];
      is_constant = is_constant && a.buffer == none && a.bits == bits.value_or(a.bits);
      bits = a.bits;
    });
  return is_constant ? bits : std::nullopt;
}

/// The value of a scalar parameter, if it is known.
std::optional<uint64_t> value_of(Candidate& c, uint32_t kernel, BufferId buffer) {
  if (!is_target(c, kernel)) return constant_argument(c, kernel, buffer);
  const Bytes* data = data_of(c, buffer.value());
  if (!data) return std::nullopt;
  return bits_at(c.module.kernels[kernel].buffers[buffer].element, data->data());
}

void inline_scalar(Candidate& c, uint32_t kernel, BufferId buffer, uint64_t bits) {
  Program& p = c.module.kernels[kernel];
  const Type type = p.buffers[buffer].element;
  opt::Rewriter r(p);
  const std::vector<OpId> order = r.ops();
  for (const OpId op : order) {
    if (p.op(op).code != Opcode::Scalar || p.op(op).buffer() != buffer) continue;
    r.replace(p.result(op), r.insert_constant(op, type, bits));
    r.remove(op);
  }
  r.finish();
  fix_name(p.formulas, FormulaOp::Scalar, buffer.value(), type, bits);
  remove_buffer(c, kernel, buffer, 1);
}

/// Scalars of the graph become constants of its calls.
void inline_graph_scalar(Candidate& c, GraphBufferId buffer) {
  Graph& g = c.module.graphs[0];
  const Bytes* data = data_of(c, buffer.value());
  const uint64_t bits = bits_at(g.buffers[buffer].element, data->data());
  for_each_call(g.nodes, [&](GraphNode& n) {
    for (GraphArg& a : n.args)
      if (a.buffer == buffer) a = {none, bits};
  });
  fix_name(g.formulas, FormulaOp::Scalar, buffer.value(), g.buffers[buffer].element, bits);
}

bool names(const Graph& g, GraphBufferId buffer) {
  bool found = false;
  for_each_node(g.nodes, [&](const GraphNode& n) {
    for_each_buffer(n, [&](GraphBufferId b) { found |= b == buffer; });
  });
  return found;
}

void remove_graph_buffer(Candidate& c, uint32_t graph, GraphBufferId buffer, uint64_t count) {
  Graph& g = c.module.graphs[graph];
  const Bytes* data = graph == 0 ? data_of(c, buffer.value()) : nullptr;
  fix_name(g.formulas, FormulaOp::Len, buffer.value(), Type::U64, count);
  fix_name(g.formulas, FormulaOp::Scalar, buffer.value(), g.buffers[buffer].element,
           data && g.buffers[buffer].role == Role::Scalar
               ? bits_at(g.buffers[buffer].element, data->data())
               : 0);
  drop_name(g.formulas, buffer.value());
  for_each_node(g.nodes, [&](GraphNode& n) {
    for_each_buffer(n, [&](GraphBufferId& id) {
      if (id > buffer) --id;
    });
  });
  erase_at(g.buffers, buffer.value());
  if (graph == 0 && c.inputs) {
    erase_at(c.inputs->data, buffer.value());
    erase_at(c.inputs->lengths, buffer.value());
  }
}

/// Sets the length of a buffer of the target: `count` elements of data, or of a formula.
template <class B>
void set_length(Candidate& c, FormulaPool& pool, B& b, uint32_t buffer, bool of_target,
                uint64_t count) {
  if (is_host_input(b.role) && of_target) {
    b.count = no_formula;
    if (Bytes* data = data_of(c, buffer))
      data->resize(std::min<size_t>(data->size(), count * size_of(b.element)));
    return;
  }
  b.count = pool.constant(count);
  if (of_target && c.inputs && buffer < c.inputs->lengths.size()) c.inputs->lengths[buffer].reset();
}

/// The value of a formula without inputs, with 1 for each length and scalar.
std::optional<uint64_t> guess(const FormulaPool& pool, FormulaId id) {
  const auto one_for_all = [](uint32_t) -> __int128 { return 1; };
  const FormulaEnv env{one_for_all, one_for_all, [](uint32_t) { return std::string(); }};
  const auto value = evaluate(pool, id, env, "");
  if (!value) return std::nullopt;
  return *value;
}

/// Changes each element of the inputs for which `to` returns a simpler value.
template <class To>
void change_data(Candidate& c, Choice& choice, To to) {
  if (!c.inputs) return;
  for (uint32_t i = 0; i < c.inputs->data.size(); ++i) {
    Bytes* data = data_of(c, i);
    if (!data) continue;
    const Type element = c.is_graph() ? c.module.graphs[0].buffers[i].element
                                      : c.module.kernels[0].buffers[i].element;
    const uint32_t width = size_of(element);
    for (size_t at = 0; at + width <= data->size(); at += width) {
      const uint64_t bits = bits_at(element, data->data() + at);
      const uint64_t simpler = to(element, bits);
      if (complexity(element, simpler) < complexity(element, bits) && choice.take())
        std::memcpy(data->data() + at, &simpler, width);
    }
  }
}

}  // namespace

void inline_scalars(Candidate& c, Choice& choice) {
  if (c.is_graph() && c.inputs)
    for (const GraphBufferId i : c.module.graphs[0].buffers.ids())
      if (c.module.graphs[0].buffers[i].role == Role::Scalar && data_of(c, i.value()) &&
          names(c.module.graphs[0], i) && choice.take())
        inline_graph_scalar(c, i);
  for (uint32_t k = 0; k < c.module.kernels.size(); ++k)
    for (BufferId i = c.module.kernels[k].buffers.next_id(); i-- > BufferId(0);) {
      if (c.module.kernels[k].buffers[i].role != Role::Scalar) continue;
      const auto bits = value_of(c, k, i);
      if (bits && choice.take()) inline_scalar(c, k, i, *bits);
    }
}

void remove_buffers(Candidate& c, Choice& choice) {
  for (uint32_t k = 0; k < c.module.kernels.size(); ++k) {
    const auto counts = counts_of(c, k);
    for (BufferId i = c.module.kernels[k].buffers.next_id(); i-- > BufferId(0);)
      if (choice.take()) remove_buffer(c, k, i, counts[i].value_or(1));
  }
}

void remove_graph_buffers(Candidate& c, Choice& choice) {
  for (uint32_t k = 0; k < c.module.graphs.size(); ++k) {
    const auto counts =
        k == 0 ? counts_of_graph(c)
               : IdMap<GraphBufferId, std::optional<uint64_t>>(c.module.graphs[k].buffers.size());
    for (GraphBufferId i = c.module.graphs[k].buffers.next_id(); i-- > GraphBufferId(0);)
      if (!names(c.module.graphs[k], i) && choice.take())
        remove_graph_buffer(c, k, i, counts[i].value_or(1));
  }
}

void fix_lengths(Candidate& c, Choice& choice) {
  const auto is_fixed = [](const FormulaPool& pool, FormulaId count) {
    return count == no_formula || pool.is_constant(count, nullptr);
  };
  if (c.is_graph() && c.inputs) {
    Graph& g = c.module.graphs[0];
    const auto counts = counts_of_graph(c);
    for (const GraphBufferId i : g.buffers.ids())
      if (counts[i] && g.buffers[i].role != Role::Scalar &&
          !is_fixed(g.formulas, g.buffers[i].count) && choice.take())
        set_length(c, g.formulas, g.buffers[i], i.value(), true, *counts[i]);
  }
  if (!c.inputs) {
    const auto fix = [&](auto& b, FormulaPool& pool) {
      if (b.role == Role::Scalar || is_fixed(pool, b.count)) return;
      const auto value = guess(pool, b.count);
      if (value && choice.take()) b.count = pool.constant(*value);
    };
    for (Graph& g : c.module.graphs)
      for (GraphBuffer& b : g.buffers) fix(b, g.formulas);
    for (Program& p : c.module.kernels)
      for (Buffer& b : p.buffers) fix(b, p.formulas);
    return;
  }
  for (uint32_t k = 0; k < c.module.kernels.size(); ++k) {
    Program& p = c.module.kernels[k];
    const auto counts = counts_of(c, k);
    for (const BufferId i : p.buffers.ids()) {
      Buffer& b = p.buffers[i];
      if (b.role == Role::Scalar || !is_parameter(b.role)) continue;
      const bool is_open = is_target(c, k) && b.role == Role::Out && b.count == no_formula;
      if (is_fixed(p.formulas, b.count) && !is_open) continue;
      if (is_target(c, k)) {
        if (counts[i] && choice.take()) set_length(c, p.formulas, b, i.value(), true, *counts[i]);
      } else if (b.role != Role::Scratch || counts[i]) {
        if (!choice.take()) continue;
        b.count = b.role == Role::Scratch ? p.formulas.constant(*counts[i]) : no_formula;
      }
    }
  }
}

void drop_initial_data(Candidate& c, Choice& choice) {
  const auto drop = [&](auto& b, FormulaPool& pool, uint32_t i, std::optional<uint64_t> count) {
    if (b.role != Role::InOut || !count || !data_of(c, i) || !choice.take()) return;
    b.role = Role::Out;
    b.count = pool.constant(*count);
    c.inputs->data[i].reset();
  };
  if (!c.inputs) return;
  if (c.is_graph()) {
    const auto counts = counts_of_graph(c);
    Graph& g = c.module.graphs[0];
    for (const GraphBufferId i : g.buffers.ids())
      drop(g.buffers[i], g.formulas, i.value(), counts[i]);
    return;
  }
  const auto counts = counts_of(c, 0);
  Program& p = c.module.kernels[0];
  for (const BufferId i : p.buffers.ids()) drop(p.buffers[i], p.formulas, i.value(), counts[i]);
}

void shrink_buffers(Candidate& c, Choice& choice) {
  for (const bool to_one : {true, false}) {
    const auto shrink = [&](auto& b, FormulaPool& pool, uint32_t i, std::optional<uint64_t> count,
                            bool of_target) {
      const bool is_given = of_target && is_host_input(b.role) && data_of(c, i);
      if (b.role == Role::Scalar || !count || *count <= (to_one ? 1 : 2)) return;
      if (!is_given && !pool.is_constant(b.count, nullptr)) return;
      if (is_given && b.count != no_formula && !pool.is_constant(b.count, nullptr)) return;
      if (choice.take()) set_length(c, pool, b, i, of_target, to_one ? 1 : (*count + 1) / 2);
    };
    if (c.is_graph()) {
      const auto counts = counts_of_graph(c);
      Graph& g = c.module.graphs[0];
      for (const GraphBufferId i : g.buffers.ids())
        shrink(g.buffers[i], g.formulas, i.value(), counts[i], true);
    }
    for (uint32_t k = 0; k < c.module.kernels.size(); ++k) {
      const auto counts = counts_of(c, k);
      Program& p = c.module.kernels[k];
      for (const BufferId i : p.buffers.ids())
        shrink(p.buffers[i], p.formulas, i.value(), counts[i], is_target(c, k));
    }
  }
}

void data_to_zero(Candidate& c, Choice& choice) {
  change_data(c, choice, [](Type, uint64_t) -> uint64_t { return 0; });
}

void data_to_one(Candidate& c, Choice& choice) {
  change_data(c, choice, [](Type type, uint64_t bits) {
    return type == Type::F16 || type == Type::BF16 ? bits : one(type);
  });
}

void halve_data(Candidate& c, Choice& choice) { change_data(c, choice, half); }

}  // namespace vyre::reduce
