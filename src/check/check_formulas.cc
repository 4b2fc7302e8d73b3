#include "check/check_formulas.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/check_limits.h"

namespace vyre {
namespace {

bool is_leaf(FormulaOp op) { return op <= FormulaOp::Scalar; }

}  // namespace

std::string fault_of_pool(const FormulaPool& pool, size_t buffers) {
  for (size_t i = 0; i < pool.nodes.size(); ++i) {
    const FormulaNode& n = pool.nodes[i];
    if (n.op > FormulaOp::Max) return fmt::format("formula {} is of no kind that exists", i);
    if (n.op == FormulaOp::Const) continue;
    if (is_leaf(n.op) ? n.a >= buffers : n.a >= i || n.b >= i)
      return fmt::format("formula {} refers to something that does not come before it", i);
  }
  return "";
}

FormulaFacts::FormulaFacts(const FormulaPool& pool, std::vector<SizeName> names)
    : pool_(pool), names_(std::move(names)), facts_(pool.nodes.size()) {
  constexpr uint64_t most = 1ull << 40;
  for (FormulaId id = 0; id < facts_.size(); ++id) {
    const FormulaNode& n = pool_[id];
    if (is_leaf(n.op)) {
      facts_[id] = of_leaf(id);
      continue;
    }
    const Facts &a = facts_[n.a], &b = facts_[n.b];
    facts_[id] = {std::min(1 + a.size + b.size, most), 1 + std::max(a.depth, b.depth),
                  std::max(a.names, b.names), a.bad != no_formula ? a.bad : b.bad};
  }
}

FormulaFacts::Facts FormulaFacts::of_leaf(FormulaId id) const {
  Facts f;
  const FormulaNode& n = pool_[id];
  if (n.op == FormulaOp::Const) return f;
  f.names = n.a + 1;
  const SizeName& name = names_[n.a];
  const bool scalar = name.role == Role::Scalar;
  const bool fits = n.op == FormulaOp::Len ? !scalar : scalar && is_integer(name.element);
  if (!fits || !name.parameter) f.bad = id;
  return f;
}

std::string FormulaFacts::text(FormulaId id) const {
  return print(pool_, id, [&](uint32_t i) { return std::string(names_[i].name); });
}

Fault FormulaFacts::explain_bad(FormulaId leaf, const std::string& what) const {
  const FormulaNode& n = pool_[leaf];
  const SizeName& name = names_[n.a];
  std::string why;
  if (!name.parameter)
    why = "which is not a parameter";
  else if (n.op == FormulaOp::Len)
    why = "which is a scalar and has no length";
  else
    why = name.role == Role::Scalar ? "which is not an integer" : "which is not a scalar";
  return {Code::FormulaName, fmt::format("the {} uses {}, {}", what, quoted(name.name), why),
          "use constants, integer scalars and `len` of parameters"};
}

std::optional<Fault> FormulaFacts::fault(FormulaId id, uint32_t end,
                                         const std::string& what) const {
  const Facts& f = facts_[id];
  if (f.size > limits::formula_nodes || f.depth > limits::nesting)
    return Fault{Code::FormulaTooLarge,
                 fmt::format("the {} is a formula of more than {} parts, or nested deeper than {}",
                             what, limits::formula_nodes, limits::nesting),
                 "make it shorter, or pass the size as a scalar"};
  if (f.bad != no_formula) return explain_bad(f.bad, what);
  if (f.names > end)
    return Fault{Code::FormulaLaterName,
                 fmt::format("the {} uses {}, which is declared later", what,
                             quoted(names_[f.names - 1].name)),
                 "declare it before"};
  if (f.names > 0) return std::nullopt;
  const Result<uint64_t> value = evaluate(pool_, id, {{}, {}, {}}, what);
  if (value) return std::nullopt;
  return Fault{Code::FormulaFails, value.errors()[0].message, "write a size from 0 to 2^64-1"};
}

std::optional<uint64_t> FormulaFacts::constant(FormulaId id) const {
  uint64_t value = 0;
  if (id == no_formula) return std::nullopt;
  if (pool_.is_constant(id, &value)) return value;
  // Constants that the pool did not fold: intermediate values above 64 bits.
  const Facts& f = facts_[id];
  if (f.names > 0 || f.size > limits::formula_nodes) return std::nullopt;
  const Result<uint64_t> computed = evaluate(pool_, id, {{}, {}, {}}, "");
  return computed ? std::optional(*computed) : std::nullopt;
}

}  // namespace vyre
