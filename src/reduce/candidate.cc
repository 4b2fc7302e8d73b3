#include "reduce/candidate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "opt/analysis/analysis_cache.h"
#include "opt/passes/remove_dead_code.h"
#include "text/print.h"

namespace vyre::reduce {
namespace {

/// Assumed sizes of a grid, or a length, whose formula is not constant.
constexpr uint64_t unknown_invocations = uint64_t{1} << 40;
constexpr uint64_t unknown_elements = uint64_t{1} << 32;

/// Saturates: lengths may be anything.
uint64_t add(uint64_t a, uint64_t b) { return a + b < a ? ~uint64_t{0} : a + b; }

bool is_constant(const Program& p, ValueId v, uint64_t* bits = nullptr) {
  const OpId def = p.values[v].def;
  if (def == none || p.op(def).code != Opcode::Const) return false;
  if (bits) *bits = p.op(def).attr;
  return true;
}

/// Loops weigh more than their replacements, constants less than the ops that they replace.
uint64_t weight_of(const Program& p, OpId id) {
  const Op& o = p.op(id);
  switch (o.code) {
    case Opcode::Const: return 1;
    case Opcode::While: return 60 + 2 * o.results.count;
    case Opcode::For: {
      uint64_t lo = 1, hi = 0, step = 0;
      const bool fixed = is_constant(p, p.operand(id, 0), &lo) &&
                         is_constant(p, p.operand(id, 1), &hi) &&
                         is_constant(p, p.operand(id, 2), &step) && lo == 0 && step == 1;
      return (fixed ? 14 : 32) + 2 * o.results.count;
    }
    case Opcode::If: return 10 + 2 * o.results.count;
    case Opcode::Region: return 6 + 2 * o.results.count;
    case Opcode::Yield:
    case Opcode::Test: return 1;
    case Opcode::Return: return o.parent == body_block ? 1 : 40;
    case Opcode::Trap:
    case Opcode::Break:
    case Opcode::Continue: return 40;
    default: return 2 + 2 * o.results.count;
  }
}

uint64_t elements_of(const FormulaPool& pool, Role role, FormulaId count) {
  uint64_t n = 0;
  if (role == Role::Scalar || count == no_formula) return 0;  // determined by data, see the inputs
  return pool.is_constant(count, &n) ? n : unknown_elements;
}

/// Nodes of a formula, with one for a constant and none for a length specified by the host.
uint64_t nodes_of(const FormulaPool& pool, FormulaId id) {
  if (id == no_formula) return 0;
  if (pool.is_constant(id, nullptr)) return 1;
  return 2 + std::min<uint64_t>(id, 100);
}

uint64_t bits_of(Type element, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(element));
  return bits;
}

uint64_t complexity_of(Type element, const std::vector<std::byte>& bytes) {
  uint64_t sum = 0;
  const uint32_t width = size_of(element);
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    sum += complexity(element, bits_of(element, bytes.data() + i));
  return sum;
}

void add_kernel(Size& size, const Program& p) {
  walk(p, [&](OpId id) {
    const Op& o = p.op(id);
    size.weight += weight_of(p, id);
    const OpInfo& i = info(o.code);
    if (o.code == Opcode::Const) size.detail += complexity(o.type, o.attr);
    if (i.attribute == AttrKind::Memory && i.effect != Effect::Sync) {
      const MemoryRef m = p.memory(id);
      size.detail += m.acq_rel + (m.scope != Scope::Grid) + m.in_bounds + m.read_only;
    }
    if (o.code == Opcode::LoadN || o.code == Opcode::StoreN) size.detail += 4;
    if (i.attribute == AttrKind::Dim) size.detail += o.attr;
  });
  size.buffers += p.buffers.size();
  uint64_t invocations = 1;
  for (int d = 0; d < 3; ++d) {
    size.detail += uint64_t(std::bit_width(p.workgroup[d] - 1u));
    invocations *= std::max<uint64_t>(p.workgroup[d], 1);
  }
  for (uint32_t d = 0; d < std::max<uint32_t>(p.grid_dims, 1); ++d) {
    uint64_t n = 0;
    if (d < p.grid_dims && p.formulas.is_constant(p.grid[d], &n))
      invocations = add(invocations, std::min(n, unknown_invocations / 4));
    else
      invocations = add(invocations, unknown_invocations);
    if (d < p.grid_dims) size.detail += 1 + nodes_of(p.formulas, p.grid[d]);
  }
  size.invocations = add(size.invocations, invocations);
  size.detail += (p.subgroup != 0) + p.requires_forward_progress + !p.op_id.empty();
  for (const Buffer& b : p.buffers) {
    size.elements = add(size.elements, elements_of(p.formulas, b.role, b.count));
    size.detail += nodes_of(p.formulas, b.count) + (b.role == Role::InOut);
  }
  size.detail += p.table_bytes.size();
}

}  // namespace

uint64_t complexity(Type type, uint64_t bits) {
  if (bits == 0) return 0;
  const auto of_number = [](double v) -> uint64_t {
    if (v == 1) return 1;
    const double magnitude = v < 0 ? -v : v;
    if (!(magnitude < 0x1p52) || magnitude != std::floor(magnitude)) return 80;
    return uint64_t(std::bit_width(uint64_t(magnitude))) + 1 + (v < 0);
  };
  if (type == Type::F32) return of_number(std::bit_cast<float>(uint32_t(bits)));
  if (type == Type::F64) return of_number(std::bit_cast<double>(bits));
  if (is_signed(type)) {
    const uint32_t unused = 64 - width_of(type);
    const auto v = static_cast<int64_t>(bits << unused) >> unused;
    if (v < 0) return uint64_t(std::bit_width(-static_cast<uint64_t>(v))) + 1;
  }
  return uint64_t(std::bit_width(bits));
}

uint64_t count_ops(const Candidate& c) {
  uint64_t n = 0;
  for (const Program& p : c.module.kernels) walk(p, [&](OpId) { ++n; });
  return n;
}

Size measure(const Candidate& c) {
  Size size;
  size.declarations = c.module.kernels.size();
  for (const Graph& g : c.module.graphs) {
    size.declarations += 1 + flatten(g).size();
    size.buffers += g.buffers.size();
    for (const GraphBuffer& b : g.buffers) {
      size.elements = add(size.elements, elements_of(g.formulas, b.role, b.count));
      size.detail += nodes_of(g.formulas, b.count);
    }
    for_each_node(g.nodes, [&](const GraphNode& n) {
      // A `while` costs more than the `repeat` that replaces it.
      size.detail += n.grid.size() + (n.kind == GraphNodeKind::While ? 8 : 0);
      uint64_t times = 0;
      if (n.kind == GraphNodeKind::Repeat && g.formulas.is_constant(n.count, &times))
        size.detail += uint64_t(std::bit_width(times));
      else
        size.detail += 2 * nodes_of(g.formulas, n.count);
      for (const GraphArg& a : n.args)
        size.detail += a.buffer == none ? complexity(Type::U64, a.bits) : 0;
    });
  }
  for (const Program& p : c.module.kernels) add_kernel(size, p);
  if (!c.inputs) return size;
  for (size_t i = 0; i < c.inputs->data.size(); ++i) {
    const Type element = c.is_graph() ? c.module.graphs[0].buffers[i].element
                                      : c.module.kernels[0].buffers[i].element;
    if (c.inputs->data[i]) {
      size.elements = add(size.elements, c.inputs->data[i]->size() / size_of(element));
      size.detail += complexity_of(element, *c.inputs->data[i]);
    }
  }
  for (const auto& n : c.inputs->lengths)
    if (n) size.elements = add(size.elements, *n), size.detail += 2;
  size.detail += c.inputs->grid.has_value();
  return size;
}

IdMap<GraphBufferId, std::optional<uint64_t>> counts_of_graph(const Candidate& c) {
  const Graph& g = c.module.graphs[0];
  IdMap<GraphBufferId, std::optional<uint64_t>> counts(g.buffers.size());
  if (c.inputs)
    if (const auto shape = resolve_graph(g, c.inputs->data, c.inputs->lengths, 0))
      for (const GraphBufferId i : counts.ids()) counts[i] = shape->counts[i];
  return counts;
}

namespace {

/// The launch of a kernel: the target's, or that of its first call.
std::optional<LaunchShape> shape_of(const Candidate& c, uint32_t kernel) {
  if (!c.inputs) return std::nullopt;
  if (!c.is_graph()) {
    if (kernel != 0) return std::nullopt;
    auto shape = resolve_launch(c.module.kernels[0], *c.inputs);
    if (shape) return std::move(*shape);
    return std::nullopt;
  }
  const Graph& g = c.module.graphs[0];
  const auto shape = resolve_graph(g, c.inputs->data, c.inputs->lengths, 0);
  if (!shape) return std::nullopt;
  std::optional<LaunchShape> found;
  for_each_call(g.nodes, [&](const GraphNode& n) {
    if (found || n.kernel != kernel) return;
    if (auto call = bind_call(c.module, g, *shape, n)) found = std::move(call->shape);
  });
  return found;
}

}  // namespace

IdMap<BufferId, std::optional<uint64_t>> counts_of(const Candidate& c, uint32_t kernel) {
  const Program& p = c.module.kernels[kernel];
  IdMap<BufferId, std::optional<uint64_t>> counts(p.buffers.size());
  const auto shape = shape_of(c, kernel);
  for (const BufferId i : counts.ids()) {
    uint64_t n = 0;
    if (shape)
      counts[i] = shape->counts[i];
    else if (p.formulas.is_constant(p.buffers[i].count, &n))
      counts[i] = n;
  }
  return counts;
}

std::optional<std::array<uint64_t, 3>> grid_of(const Candidate& c, uint32_t kernel) {
  if (!c.inputs) return std::array<uint64_t, 3>{1, 1, 1};
  const auto shape = shape_of(c, kernel);
  if (!shape) return std::nullopt;
  return shape->invocations_wanted;
}

void tidy(Candidate& c, bool dead_code) {
  if (c.is_graph()) {
    std::vector<uint32_t> number(c.module.kernels.size(), none);
    std::vector<Program> kept;
    for (Graph& g : c.module.graphs)
      for_each_call(g.nodes, [&](GraphNode& n) {
        if (n.kernel >= number.size()) return;
        if (number[n.kernel] == none) {
          number[n.kernel] = uint32_t(kept.size());
          kept.push_back(std::move(c.module.kernels[n.kernel]));
        }
        n.kernel = number[n.kernel];
      });
    // For a file that is reduced by a command, every kernel counts.
    if (c.inputs) {
      c.module.kernels = std::move(kept);
    } else {
      for (uint32_t i = 0; i < number.size(); ++i)
        if (number[i] == none) kept.push_back(std::move(c.module.kernels[i]));
      c.module.kernels = std::move(kept);
    }
  }
  if (!dead_code) return;
  for (Program& p : c.module.kernels) {
    opt::Facts facts(p);
    const opt::Target target;
    opt::PassContext context{facts, target, {}, 0, false};
    (void)opt::remove_dead_code(p, context);
  }
}

std::string key_of(const Candidate& c) {
  std::string key = print(c.module);
  if (!c.inputs) return key;
  for (const auto& bytes : c.inputs->data) {
    key += '|';
    if (bytes) key.append(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  for (const auto& n : c.inputs->lengths) key += n ? std::to_string(*n) + "," : ",";
  if (c.inputs->grid)
    for (const uint64_t n : *c.inputs->grid) key += std::to_string(n) + ";";
  return key;
}

}  // namespace vyre::reduce
