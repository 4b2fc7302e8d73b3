#include "ir/formula.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre {
namespace {

using Wide = __int128;
constexpr Wide wide_limit = (Wide{1} << 126);  // beyond it a result counts as overflow

std::string show(Wide v) {
  if (v == 0) return "0";
  std::string s;
  for (Wide m = v < 0 ? -v : v; m > 0; m /= 10) s.insert(s.begin(), char('0' + int(m % 10)));
  return v < 0 ? "-" + s : s;
}

constexpr bool is_leaf(FormulaOp op) {
  return op == FormulaOp::Const || op == FormulaOp::Len || op == FormulaOp::Scalar;
}

Wide floor_to_ceil(Wide a, Wide b) {  // mathematical ceiling; b != 0
  const Wide q = a / b;
  return q + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
}

struct Step {
  bool ok = true;
  const char* why = "";
  Wide value = 0;
};

Step apply(FormulaOp op, Wide a, Wide b) {
  Wide r = 0;
  switch (op) {
    case FormulaOp::Add: r = a + b; break;
    case FormulaOp::Sub: r = a - b; break;
    case FormulaOp::Mul:
      if (__builtin_mul_overflow(a, b, &r)) return {false, "overflows"};
      break;
    case FormulaOp::Div:
    case FormulaOp::Rem:
    case FormulaOp::CeilDiv:
      if (b == 0) return {false, "divides by zero"};
      r = op == FormulaOp::Div ? a / b : op == FormulaOp::Rem ? a % b : floor_to_ceil(a, b);
      break;
    case FormulaOp::Min: r = a < b ? a : b; break;
    case FormulaOp::Max: r = a > b ? a : b; break;
    default: break;
  }
  if (r > wide_limit || r < -wide_limit) return {false, "overflows"};
  return {true, "", r};
}

constexpr std::string_view symbol(FormulaOp op) {
  switch (op) {
    case FormulaOp::Add: return "+";
    case FormulaOp::Sub: return "-";
    case FormulaOp::Mul: return "*";
    case FormulaOp::Div: return "/";
    case FormulaOp::Rem: return "%";
    case FormulaOp::CeilDiv: return "ceil_div";
    case FormulaOp::Min: return "min";
    case FormulaOp::Max: return "max";
    default: return "?";
  }
}

/// The nodes of a formula, operands before users, and the index of each in that order. Other nodes
/// of the pool cost nothing: a graph has many formulas.
class Closure {
 public:
  Closure(const FormulaPool& pool, FormulaId id) {
    // Operands have smaller ids than users: the largest id of the heap comes next.
    std::vector<FormulaId> heap = {id};
    while (!heap.empty()) {
      const FormulaId next = heap.front();
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
      if (!order_.empty() && order_.back() == next) continue;
      order_.push_back(next);
      if (is_leaf(pool[next].op)) continue;
      for (const FormulaId operand : {pool[next].a, pool[next].b}) {
        heap.push_back(operand);
        std::push_heap(heap.begin(), heap.end());
      }
    }
    std::reverse(order_.begin(), order_.end());
  }

  const std::vector<FormulaId>& order() const { return order_; }
  size_t position(FormulaId id) const {
    return size_t(std::lower_bound(order_.begin(), order_.end(), id) - order_.begin());
  }

 private:
  std::vector<FormulaId> order_;
};

Wide leaf_value(const FormulaNode& n, const FormulaEnv& env) {
  if (n.op == FormulaOp::Len) return env.len(n.a);
  if (n.op == FormulaOp::Scalar) return env.scalar(n.a);
  return n.negative ? -Wide(n.value) : Wide(n.value);
}

constexpr bool is_size(Wide v) { return v >= 0 && v <= Wide(~0ull); }

}  // namespace

FormulaId FormulaPool::constant(uint64_t value, bool negative) {
  nodes.push_back({FormulaOp::Const, 0, 0, value, negative && value != 0});
  return FormulaId(nodes.size() - 1);
}
FormulaId FormulaPool::len(uint32_t parameter) {
  nodes.push_back({FormulaOp::Len, parameter, 0, 0, false});
  return FormulaId(nodes.size() - 1);
}
FormulaId FormulaPool::scalar(uint32_t parameter) {
  nodes.push_back({FormulaOp::Scalar, parameter, 0, 0, false});
  return FormulaId(nodes.size() - 1);
}
FormulaId FormulaPool::binary(FormulaOp op, FormulaId a, FormulaId b) {
  const FormulaNode &x = nodes[a], &y = nodes[b];
  if (x.op == FormulaOp::Const &&
      y.op == FormulaOp::Const) {  // so that sizes of arrays are constants
    const Step s = apply(op, x.negative ? -Wide(x.value) : Wide(x.value),
                         y.negative ? -Wide(y.value) : Wide(y.value));
    if (s.ok && s.value <= Wide(~0ull) && s.value >= -Wide(~0ull))
      return constant(uint64_t(s.value < 0 ? -s.value : s.value), s.value < 0);
  }
  nodes.push_back({op, a, b, 0, false});
  return FormulaId(nodes.size() - 1);
}

bool FormulaPool::is_constant(FormulaId id, uint64_t* value) const {
  if (id >= nodes.size() || nodes[id].op != FormulaOp::Const || nodes[id].negative) return false;
  if (value) *value = nodes[id].value;
  return true;
}

std::string print(const FormulaPool& pool, FormulaId id,
                  const std::function<std::string(uint32_t)>& name) {
  struct Text {
    std::string text;
    int level;  // 0 atom, 1 product, 2 sum
  };
  const Closure nodes(pool, id);
  std::vector<Text> texts;
  const auto text = [&](FormulaId i) -> const Text& { return texts[nodes.position(i)]; };
  for (FormulaId i : nodes.order()) {
    const FormulaNode& n = pool[i];
    switch (n.op) {
      case FormulaOp::Const:
        texts.push_back({fmt::format("{}{}", n.negative ? "-" : "", n.value), n.negative});
        break;
      case FormulaOp::Len: texts.push_back({fmt::format("len({})", name(n.a)), 0}); break;
      case FormulaOp::Scalar: texts.push_back({name(n.a), 0}); break;
      case FormulaOp::CeilDiv:
      case FormulaOp::Min:
      case FormulaOp::Max:
        texts.push_back(
            {fmt::format("{}({}, {})", symbol(n.op), text(n.a).text, text(n.b).text), 0});
        break;
      default: {
        const int level = n.op == FormulaOp::Add || n.op == FormulaOp::Sub ? 2 : 1;
        const auto wrap = [&](const Text& t, int most) {
          return t.level > most ? "(" + t.text + ")" : t.text;
        };
        texts.push_back({fmt::format("{} {} {}", wrap(text(n.a), level), symbol(n.op),
                                     wrap(text(n.b), level - 1)),
                         level});
      }
    }
  }
  return texts.back().text;
}

Result<uint64_t> evaluate(const FormulaPool& pool, FormulaId id, const FormulaEnv& env,
                          const std::string& what) {
  if (is_leaf(pool[id].op))  // most are, and every launch calls this
    if (const Wide value = leaf_value(pool[id], env); is_size(value)) return uint64_t(value);
  const Closure nodes(pool, id);
  std::vector<Wide> values;
  const auto fail = [&](std::string why) {
    Diagnostic d = diagnose(Code::FormulaFails, {},
                            fmt::format("the {} {}: `{}`", what, why, print(pool, id, env.name)));
    for (FormulaId i : nodes.order()) {
      const FormulaNode& n = pool[i];
      if (n.op == FormulaOp::Len)
        d.note(fmt::format("len({}) = {}", env.name(n.a), show(env.len(n.a))));
      if (n.op == FormulaOp::Scalar)
        d.note(fmt::format("{} = {}", env.name(n.a), show(env.scalar(n.a))));
    }
    d.with_fix("give lengths and scalars for which the formula is a size from 0 to 2^64-1");
    return d;
  };
  for (FormulaId i : nodes.order()) {
    const FormulaNode& n = pool[i];
    if (is_leaf(n.op)) {
      values.push_back(leaf_value(n, env));
      continue;
    }
    const Step s = apply(n.op, values[nodes.position(n.a)], values[nodes.position(n.b)]);
    if (!s.ok) return fail(s.why);
    values.push_back(s.value);
  }
  const Wide value = values.back();
  if (value < 0) return fail(fmt::format("is negative ({})", show(value)));
  if (value > Wide(~0ull)) return fail(fmt::format("is too large ({})", show(value)));
  return uint64_t(value);
}

}  // namespace vyre
