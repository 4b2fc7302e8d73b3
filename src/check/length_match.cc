#include "check/length_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace vyre {
namespace {

constexpr size_t max_nodes = 64;     // of a pool
constexpr size_t max_name = 200;     // of an unknown
constexpr uint32_t max_steps = 256;  // lengths that a length depends on
constexpr __int128 max_factor = __int128{1} << 62;

/// unknown · factor + … + constant.
struct Sum {
  std::map<std::string, __int128> factors;
  __int128 constant = 0;

  bool is_constant() const { return factors.empty(); }
  std::string text() const {
    std::string r;
    for (const auto& [name, factor] : factors) r += fmt::format("{}*{}+", int64_t(factor), name);
    return r + fmt::format("{}", int64_t(constant));
  }
};
using MaybeSum = std::optional<Sum>;

MaybeSum add(Sum a, const Sum& b, __int128 times) {
  a.constant += b.constant * times;
  for (const auto& [name, factor] : b.factors)
    if ((a.factors[name] += factor * times) == 0) a.factors.erase(name);
  const auto large = [](__int128 v) { return v > max_factor || v < -max_factor; };
  if (large(a.constant)) return {};
  for (const auto& [name, factor] : a.factors)
    if (large(factor)) return {};
  return a;
}

Sum unknown(std::string name) {
  Sum s;
  s.factors.emplace(std::move(name), 1);
  return s;
}

using Leaf = std::function<MaybeSum(FormulaOp, uint32_t)>;

MaybeSum sum_of_binary(const FormulaNode& n, const Sum& a, const Sum& b) {
  if (n.op == FormulaOp::Add) return add(a, b, 1);
  if (n.op == FormulaOp::Sub) return add(a, b, -1);
  if (n.op == FormulaOp::Mul && (a.is_constant() || b.is_constant()))
    return add({}, a.is_constant() ? b : a, a.is_constant() ? a.constant : b.constant);
  if (a.is_constant() && b.is_constant() && a.constant >= 0 && b.constant > 0) {
    const __int128 x = a.constant, y = b.constant;
    return Sum{{},
               n.op == FormulaOp::Div       ? x / y
               : n.op == FormulaOp::Rem     ? x % y
               : n.op == FormulaOp::CeilDiv ? (x + y - 1) / y
               : n.op == FormulaOp::Min     ? std::min(x, y)
                                            : std::max(x, y)};
  }
  std::string name = fmt::format("{}({},{})", int(n.op), a.text(), b.text());
  if (name.size() > max_name) return {};
  return unknown(std::move(name));
}

MaybeSum sum_of(const FormulaPool& pool, FormulaId id, const Leaf& leaf) {
  if (id >= pool.nodes.size() || pool.nodes.size() > max_nodes) return {};
  std::vector<MaybeSum> sums;  // nodes refer to earlier ones
  for (FormulaId i = 0; i <= id; ++i) {
    const FormulaNode& n = pool[i];
    uint64_t constant = 0;
    if (pool.is_constant(i, &constant))
      sums.push_back(add({}, Sum{{}, __int128{constant}}, 1));
    else if (n.op == FormulaOp::Const)
      sums.push_back(add({}, Sum{{}, __int128{n.value}}, n.negative ? -1 : 1));
    else if (n.op == FormulaOp::Len || n.op == FormulaOp::Scalar)
      sums.push_back(leaf(n.op, n.a));
    else
      sums.push_back(sums[n.a] && sums[n.b] ? sum_of_binary(n, *sums[n.a], *sums[n.b])
                                            : MaybeSum());
  }
  return sums[id];
}

/// `steps`: lengths visited so far; lengths may depend on lengths.
MaybeSum length_in_graph(const Graph& g, GraphBufferId buffer, uint32_t& steps) {
  if (++steps > max_steps) return {};
  const FormulaId count = g.buffers[buffer].count;
  if (count == no_formula) return unknown(fmt::format("len {}", buffer.value()));
  return sum_of(g.formulas, count, [&](FormulaOp op, uint32_t i) -> MaybeSum {
    if (op == FormulaOp::Scalar) return unknown(fmt::format("scalar {}", i));
    return length_in_graph(g, GraphBufferId(i), steps);
  });
}

__int128 constant_value(Type t, uint64_t bits) {
  const uint32_t w = width_of(t);
  const bool negative = is_signed(t) && (bits >> (w - 1) & 1);
  return __int128{bits} - (negative ? __int128{1} << w : 0);
}

}  // namespace

LengthMatch::LengthMatch(const Program& kernel, const Graph& graph, const GraphNode& call)
    : kernel_(kernel), graph_(graph), args_(kernel.buffers.size()) {
  size_t next = 0;
  for (const BufferId i : kernel.buffers.ids())
    if (next < call.args.size() && takes_argument(kernel.buffers[i])) args_[i] = &call.args[next++];
}

std::optional<__int128> LengthMatch::excess(const Buffer& parameter, GraphBufferId given) const {
  uint32_t steps = 0;
  const MaybeSum wanted =
      sum_of(kernel_.formulas, parameter.count, [&](FormulaOp op, uint32_t i) -> MaybeSum {
        const BufferId of(i);
        const GraphArg* arg = args_.contains(of) ? args_[of] : nullptr;
        if (!arg) return {};
        if (op == FormulaOp::Len)
          return graph_.buffers.contains(arg->buffer) ? length_in_graph(graph_, arg->buffer, steps)
                                                      : MaybeSum();
        if (arg->buffer != none) return unknown(fmt::format("scalar {}", arg->buffer.value()));
        return add({}, Sum{{}, constant_value(kernel_.buffers[of].element, arg->bits)}, 1);
      });
  const MaybeSum has = length_in_graph(graph_, given, steps);
  const MaybeSum difference = wanted && has ? add(*wanted, *has, -1) : MaybeSum();
  if (!difference || !difference->is_constant()) return {};
  return difference->constant;
}

}  // namespace vyre
