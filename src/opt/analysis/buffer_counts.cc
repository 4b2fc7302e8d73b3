#include "opt/analysis/buffer_counts.h"

#include <algorithm>

#include "ir/launch.h"  // max_buffer_bytes

namespace vyre::opt {
namespace {

// Formulas are computed in exact integers; bounds beyond this are clamped, which only makes them
// useless.
constexpr Wide limit = Wide{1} << 100;
constexpr uint64_t most_uniform_bytes = 64 * 1024;

BufferCounts::Bounds cut(Wide lo, Wide hi) { return {std::max(lo, -limit), std::min(hi, limit)}; }

Wide floor_div(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

BufferCounts::Bounds bounds_of(FormulaOp op, const BufferCounts::Bounds& a,
                               const BufferCounts::Bounds& b) {
  switch (op) {
    case FormulaOp::Add: return cut(a.lo + b.lo, a.hi + b.hi);
    case FormulaOp::Sub: return cut(a.lo - b.hi, a.hi - b.lo);
    case FormulaOp::Min: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case FormulaOp::Max: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case FormulaOp::Mul: {
      Wide lo = limit, hi = -limit;
      for (const Wide x : {a.lo, a.hi})
        for (const Wide y : {b.lo, b.hi}) {
          Wide product;
          if (__builtin_mul_overflow(x, y, &product)) return {-limit, limit};
          lo = std::min(lo, product);
          hi = std::max(hi, product);
        }
      return cut(lo, hi);
    }
    // Only for the numbers of formulas in practice, which are not negative. A division by zero is
    // an error before the launch.
    case FormulaOp::Div:
      if (a.lo >= 0 && b.hi >= 1 && b.lo >= 0) return {a.lo / b.hi, a.hi / std::max<Wide>(b.lo, 1)};
      break;
    case FormulaOp::CeilDiv:
      if (a.lo >= 0 && b.hi >= 1 && b.lo >= 0)
        return {-floor_div(-a.lo, b.hi), -floor_div(-a.hi, std::max<Wide>(b.lo, 1))};
      break;
    case FormulaOp::Rem:
      if (a.lo >= 0 && b.hi >= 1 && b.lo >= 0) return {0, std::min(a.hi, b.hi - 1)};
      break;
    default: break;
  }
  return {-limit, limit};
}

constexpr bool is_leaf(FormulaOp op) {
  return op == FormulaOp::Const || op == FormulaOp::Len || op == FormulaOp::Scalar;
}

Wide constant(const FormulaNode& n) { return n.negative ? -Wide(n.value) : Wide(n.value); }

}  // namespace

BufferCounts::BufferCounts(const Program& p)
    : p_(&p), counts_(p.buffers.size()), formulas_(p.formulas.nodes.size()) {
  // First the bounds of any buffer: formulas may refer to earlier and later buffers.
  for (const BufferId i : p.buffers.ids()) {
    const Buffer& b = p.buffers[i];
    const uint64_t size = std::max(1u, size_of(b.element));
    const uint64_t most = (b.role == Role::Uniform ? most_uniform_bytes : max_buffer_bytes) / size;
    counts_[i] = b.role == Role::Scalar ? Bounds{1, 1} : Bounds{0, Wide(most)};
  }
  const auto compute = [&] {
    for (FormulaId f = 0; f < formulas_.size(); ++f) {
      const FormulaNode& n = p.formulas[f];
      switch (n.op) {
        case FormulaOp::Const: formulas_[f] = {constant(n), constant(n)}; break;
        case FormulaOp::Len:
          formulas_[f] = n.a < counts_.size() ? counts_[BufferId(n.a)] : Bounds{0, limit};
          break;
        case FormulaOp::Scalar: {
          const Type t = n.a < p.buffers.size() ? p.buffers[n.a].element : Type::Void;
          formulas_[f] = is_integer(t) ? Bounds{least(t), greatest(t)} : Bounds{-limit, limit};
          break;
        }
        default: formulas_[f] = bounds_of(n.op, formulas_[n.a], formulas_[n.b]);
      }
    }
  };
  compute();
  for (const BufferId i : p.buffers.ids()) {
    const FormulaId f = p.buffers[i].count;
    if (f == no_formula || p.buffers[i].role == Role::Scalar) continue;
    const Bounds with = {std::max(counts_[i].lo, formulas_[f].lo),
                         std::min(counts_[i].hi, formulas_[f].hi)};
    if (with.lo <= with.hi) counts_[i] = with;  // else no launch ever succeeds
  }
  compute();  // again, with lengths that formulas bound
}

/// `len(p)` where p's length is a formula stands for that formula. Parameters speak of earlier
/// ones, so the chain ends; the count of steps is for programs that were never checked.
FormulaId BufferCounts::see_through(FormulaId id) const {
  for (int steps = 0; steps < 64; ++steps) {
    const FormulaNode& n = p_->formulas[id];
    if (n.op != FormulaOp::Len || n.a >= p_->buffers.size()) return id;
    const FormulaId inner = p_->buffers[n.a].count;
    if (inner == no_formula || p_->buffers[n.a].role == Role::Scalar) return id;
    id = inner;
  }
  return id;
}

FormulaId BufferCounts::formula(BufferId buffer) const {
  const FormulaId f = p_->buffers[buffer].count;
  return f == no_formula ? f : see_through(f);
}

bool BufferCounts::is_equal(FormulaId a, FormulaId b, int depth) const {
  a = see_through(a);
  b = see_through(b);
  if (a == b) return true;
  const FormulaNode &x = p_->formulas[a], &y = p_->formulas[b];
  if (x.op != y.op || depth == 0) return false;
  if (x.op == FormulaOp::Const) return constant(x) == constant(y);
  if (is_leaf(x.op)) return x.a == y.a;
  if (is_equal(x.a, y.a, depth - 1) && is_equal(x.b, y.b, depth - 1)) return true;
  const bool commutes = x.op == FormulaOp::Add || x.op == FormulaOp::Mul ||
                        x.op == FormulaOp::Min || x.op == FormulaOp::Max;
  return commutes && depth > most_depth - 3 && is_equal(x.a, y.b, depth - 1) &&
         is_equal(x.b, y.a, depth - 1);
}

bool BufferCounts::is_at_most(FormulaId a, Wide slack, FormulaId b, int depth) const {
  a = see_through(a);
  b = see_through(b);
  if (formulas_[a].hi + slack <= formulas_[b].lo) return true;
  if (slack <= 0 && is_equal(a, b)) return true;
  if (depth <= most_depth - 4) return false;  // at most two tries per level
  const FormulaNode &x = p_->formulas[a], &y = p_->formulas[b];
  const auto a_is = [&](FormulaId other, Wide s) { return is_at_most(other, s, b, depth - 1); };
  const auto b_is = [&](FormulaId other, Wide s) { return is_at_most(a, s, other, depth - 1); };
  switch (x.op) {
    case FormulaOp::Min:
      if (a_is(x.a, slack) || a_is(x.b, slack)) return true;
      break;
    case FormulaOp::Max:
      if (a_is(x.a, slack) && a_is(x.b, slack)) return true;
      break;
    case FormulaOp::Sub:
      if (a_is(x.a, slack - formulas_[x.b].lo)) return true;
      break;
    case FormulaOp::Add:
      if (a_is(x.a, slack + formulas_[x.b].hi) || a_is(x.b, slack + formulas_[x.a].hi)) return true;
      break;
    case FormulaOp::Div:
    case FormulaOp::CeilDiv:
      if (formulas_[x.a].lo >= 0 && formulas_[x.b].lo >= 1 && a_is(x.a, slack)) return true;
      break;
    default: break;
  }
  switch (y.op) {
    case FormulaOp::Max: return b_is(y.a, slack) || b_is(y.b, slack);
    case FormulaOp::Min: return b_is(y.a, slack) && b_is(y.b, slack);
    case FormulaOp::Add:
      return b_is(y.a, slack - formulas_[y.b].lo) || b_is(y.b, slack - formulas_[y.a].lo);
    case FormulaOp::Sub: return b_is(y.a, slack + formulas_[y.b].hi);
    case FormulaOp::Mul:
      return (formulas_[y.a].lo >= 0 && formulas_[y.b].lo >= 1 && b_is(y.a, slack)) ||
             (formulas_[y.b].lo >= 0 && formulas_[y.a].lo >= 1 && b_is(y.b, slack));
    default: return false;
  }
}

bool BufferCounts::count_is_at_most(BufferId a, Wide slack, BufferId b) const {
  if (counts_[a].hi + slack <= counts_[b].lo) return true;
  if (a == b) return slack <= 0;
  const FormulaId x = formula(a), y = formula(b);
  if (x != no_formula && y != no_formula) return is_at_most(x, slack, y);
  // A count without a formula is a symbol that others' formulas may name.
  const auto names = [&](FormulaId f, BufferId buffer) {
    return p_->formulas[f].op == FormulaOp::Len && BufferId(p_->formulas[f].a) == buffer;
  };
  if (y != no_formula) {
    for (FormulaId f = 0; f < formulas_.size(); ++f)
      if (names(f, a)) return is_at_most(f, slack, y);
    return false;
  }
  if (x != no_formula)
    for (FormulaId f = 0; f < formulas_.size(); ++f)
      if (names(f, b)) return is_at_most(x, slack, f);
  return false;
}

}  // namespace vyre::opt
