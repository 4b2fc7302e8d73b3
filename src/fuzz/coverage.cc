#include "fuzz/coverage.h"

#include <algorithm>
#include <set>

#include "ir/graph_walk.h"

namespace vyre::lab {
namespace {

using Features = std::set<std::string_view>;

constexpr std::string_view names[] = {"loop",
                                      "nested loop",
                                      "while",
                                      "if",
                                      "break",
                                      "continue",
                                      "early return",
                                      "region",
                                      "barrier",
                                      "barrier in loop",
                                      "grid barrier",
                                      "shared",
                                      "private",
                                      "table",
                                      "scratch",
                                      "uniform buffer",
                                      "scalar",
                                      "8/16-bit element",
                                      "f16/bf16",
                                      "atomic",
                                      "shared atomic",
                                      "old value",
                                      "acq_rel",
                                      "subgroup op",
                                      "fixed subgroup",
                                      "uniform_load",
                                      "load_n",
                                      "store_n",
                                      "load_as",
                                      "trap or assert",
                                      "trapped",
                                      "graph",
                                      "graph loop",
                                      "graph grid",
                                      "2D/3D",
                                      "odd grid",
                                      "empty grid",
                                      "grid at launch",
                                      "length at launch",
                                      "formula",
                                      "all zero"};

void add_op(const Program& p, OpId id, const IdMap<ValueId, uint32_t>& uses, uint32_t loops,
            Features& f) {
  const Op& op = p.op(id);
  const OpInfo& row = info(op.code);
  if (is_loop(op.code)) f.insert("loop");
  if (is_loop(op.code) && loops > 0) f.insert("nested loop");
  if (op.code == Opcode::While) f.insert("while");
  if (op.code == Opcode::If) f.insert("if");
  if (op.code == Opcode::Break) f.insert("break");
  if (op.code == Opcode::Continue) f.insert("continue");
  if (op.code == Opcode::Return && p.blocks[op.parent].parent != none) f.insert("early return");
  if (op.code == Opcode::Region) f.insert("region");
  if (op.code == Opcode::Barrier) f.insert("barrier");
  if (op.code == Opcode::Barrier && loops > 0) f.insert("barrier in loop");
  if (op.code == Opcode::Barrier && op.attr == static_cast<uint64_t>(Scope::Grid))
    f.insert("grid barrier");
  if (op.code == Opcode::LoadN) f.insert("load_n");
  if (op.code == Opcode::StoreN) f.insert("store_n");
  if (op.code == Opcode::LoadAs) f.insert("load_as");
  if (op.code == Opcode::UniformLoad) f.insert("uniform_load");
  if (op.code == Opcode::Trap || op.code == Opcode::Assert) f.insert("trap or assert");
  if (row.effect == Effect::Convergent) f.insert("subgroup op");
  if (row.effect != Effect::Atomic) return;
  f.insert("atomic");
  if (p.buffer_of(id).role == Role::Shared) f.insert("shared atomic");
  if (p.memory(id).acq_rel) f.insert("acq_rel");
  if (op.results.count != 0 && uses[p.result(id)] != 0) f.insert("old value");
}

void add_buffers(const Program& p, Features& f) {
  for (const Buffer& b : p.buffers) {
    if (b.role == Role::Shared) f.insert("shared");
    if (b.role == Role::Private) f.insert("private");
    if (b.role == Role::Table) f.insert("table");
    if (b.role == Role::Scratch) f.insert("scratch");
    if (b.role == Role::Uniform) f.insert("uniform buffer");
    if (b.role == Role::Scalar) f.insert("scalar");
    if (is_storage_only(b.element)) f.insert("f16/bf16");
    if (size_of(b.element) < 4) f.insert("8/16-bit element");
    uint64_t n = 0;
    if (is_parameter(b.role) && b.count != no_formula && !p.formulas.is_constant(b.count, &n))
      f.insert("formula");
  }
  if (p.subgroup != 0) f.insert("fixed subgroup");
  if (p.workgroup[1] != 1 || p.workgroup[2] != 1) f.insert("2D/3D");
}

void add_launch(const Generated& g, Features& f) {
  if (std::any_of(g.inputs.lengths.begin(), g.inputs.lengths.end(),
                  [](const auto& n) { return n.has_value(); }))
    f.insert("length at launch");
  if (g.inputs.grid) f.insert("grid at launch");
  if (g.is_graph()) {
    f.insert("graph");
    for_each_node(g.module.graphs[0].nodes, [&](const GraphNode& n) {
      if (n.has_body()) f.insert("graph loop");
      if (!n.grid.empty()) f.insert("graph grid");
    });
    return;
  }
  const Program& p = g.module.kernels[0];
  const auto shape = resolve_launch(p, g.inputs);
  if (!shape) return;
  for (int d = 0; d < 3; ++d) {
    if (shape->invocations_wanted[d] % p.workgroup[d] != 0) f.insert("odd grid");
    if (shape->invocations_wanted[d] == 0) f.insert("empty grid");
  }
}

void add_results(const Outputs& o, Features& f) {
  if (!o.trap.empty()) {
    f.insert("trapped");
    return;
  }
  const auto zero = [](const std::vector<std::byte>& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  if (std::all_of(o.buffers.begin(), o.buffers.end(), zero)) f.insert("all zero");
}

}  // namespace

std::vector<std::string_view> Coverage::feature_names() {
  return {std::begin(names), std::end(names)};
}

void Coverage::add(const Generated& g, const Outputs* expected) {
  ++programs_;
  Features f;
  for (const Program& p : g.module.kernels) {
    add_buffers(p, f);
    const auto uses = count_uses(p);
    uint32_t loops = 0;
    walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId) {
      if (what == Visit::Op) {
        ++pairs_[static_cast<size_t>(p.op(op).code)][static_cast<size_t>(p.op(op).type)];
        return add_op(p, op, uses, loops, f);
      }
      if (op == none || !is_loop(p.op(op).code)) return;
      loops += what == Visit::EnterBlock ? 1 : -1;
    });
  }
  add_launch(g, f);
  if (expected) add_results(*expected, f);
  for (const std::string_view name : f) ++features_[name];
}

}  // namespace vyre::lab
