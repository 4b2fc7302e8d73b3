// FullWrites::covers: the stores of one launch, whose sizes are numbers.

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/eval/eval.h"
#include "opt/analysis/full_writes.h"

namespace vyre::opt {
namespace {

using Number = __int128;
constexpr Number max_number = Number{1} << 62;  // products of two do not overflow

std::optional<Number> multiply(Number a, Number b) {
  if (a > max_number || b > max_number) return std::nullopt;
  return a * b;
}

/// Σ stride · dimension + offset.
struct Sum {
  std::vector<Number> strides;  // by dimension
  Number offset = 0;
};

}  // namespace

/// The proof for one launch. Each guard replaces the dimensions of its form by one dimension, whose
/// values are those of the form; the remaining sum says how many elements from 0 on are stored to.
class FullWriteProof {
 public:
  FullWriteProof(const FullWrites& w, const LaunchShape& shape, std::span<const uint64_t> scalars)
      : w_(w) {
    values_.reserve(w.nodes_.size());
    for (const FullWrites::Node& n : w.nodes_) values_.push_back(evaluate(n, shape, scalars));
    for (uint32_t d = 0; d < 3; ++d) extents_.push_back(Number(shape.num_workgroups[d]));
    for (uint32_t d = 0; d < 3; ++d) extents_.push_back(w.workgroup_[d]);
    for (const FullWrites::Loop& l : w.loops_) extents_.push_back(trips(l));
  }

  /// The number of elements from 0 on that the store is proved to write.
  Number covered(const FullWrites::StoreSet& store) {
    const std::vector<Number> extents = extents_;
    const Number found = covered_by(store);
    extents_ = extents;
    return found;
  }

 private:
  using Guard = FullWrites::Guard;

  uint64_t evaluate(const FullWrites::Node& n, const LaunchShape& shape,
                    std::span<const uint64_t> scalars) const {
    switch (n.code) {
      case Opcode::Const: return n.attr;
      case Opcode::Scalar: return scalars[uint32_t(n.attr)];
      case Opcode::Len:
      case Opcode::Len64: return shape.counts[BufferId(n.attr)];
      case Opcode::NumWorkgroups: return shape.num_workgroups[n.attr];
      case Opcode::WorkgroupSize: return w_.workgroup_[n.attr];
      default: break;
    }
    std::vector<uint64_t> in;
    for (const uint32_t operand : n.operands) in.push_back(values_[operand]);
    return eval_bits(n.code, n.type, n.source, in.data(), in.size());
  }

  /// The number that a node's bits stand for.
  Number number(uint32_t node) const {
    const Type t = w_.nodes_[node].result;
    const uint64_t bits = values_[node] & low_mask(width_of(t));
    if (!is_signed(t)) return Number(bits);
    const uint32_t unused = 64 - width_of(t);
    return int64_t(bits << unused) >> unused;
  }

  Number trips(const FullWrites::Loop& l) const {
    const Number begin = l.begin == none ? 0 : number(l.begin),
                 step = l.step == none ? 1 : number(l.step);
    Number least = max_number;
    for (const FullWrites::Form& f : l.ends) {
      const std::optional<Sum> end = sum(f);
      if (!end || step <= 0 || end->offset <= begin) return 0;
      least = std::min(least, (end->offset - begin - 1) / step + 1);
    }
    return least;
  }

  /// Nothing if a factor is negative or a number too large.
  std::optional<Sum> sum(const FullWrites::Form& f) const {
    Sum s{std::vector<Number>(6 + w_.loops_.size()), Number(f.offset)};
    for (const FullWrites::Term& t : f.terms) {
      Number product = Number(t.coefficient);
      for (const uint32_t factor : t.factors) {
        const Number by = number(factor);
        const auto next = by < 0 ? std::nullopt : multiply(product, by);
        if (!next) return std::nullopt;
        product = *next;
      }
      Number& to = t.dimension == none ? s.offset : s.strides[t.dimension];
      to += product;
      if (to > max_number) return std::nullopt;
    }
    return s;
  }

  /// The largest number that the sum takes, or nothing if it is too large.
  std::optional<Number> largest(const Sum& s) const {
    Number all = s.offset;
    for (size_t d = 0; d < s.strides.size(); ++d) {
      const auto most = multiply(s.strides[d], std::max(extents_[d] - 1, Number{0}));
      if (!most || (all += *most) > max_number) return std::nullopt;
    }
    return all;
  }

  /// The greatest common divisor of the strides of a sum without an offset; 1 if all are 0.
  static Number divisor(const Sum& s) {
    Number common = 0;
    for (Number stride : s.strides)
      while (stride != 0) common = std::exchange(stride, common % stride);
    return std::max(common, Number{1});
  }

  /// Returns how many numbers from 0 on the sum takes, if each number stands for `elements`
  /// neighbours.
  Number prefix(const Sum& s, Number elements) const {
    if (s.offset != 0) return 0;
    std::vector<uint32_t> order;
    for (uint32_t d = 0; d < s.strides.size(); ++d) {
      if (extents_[d] <= 0 && s.strides[d] > 0) return 0;
      if (s.strides[d] > 0 && extents_[d] > 1) order.push_back(d);
    }
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return s.strides[a] < s.strides[b]; });
    Number covered = elements;
    for (const uint32_t d : order) {
      if (s.strides[d] > covered) break;  // a gap
      const auto more = multiply(s.strides[d], extents_[d] - 1);
      if (!more) return 0;
      covered = std::min(covered + *more, max_number);
    }
    return covered;
  }

  /// Replaces the dimensions of `guard` in a sum by `dimension`; false if the sum is not a multiple
  /// of it.
  bool substitute(const Sum& guard, uint32_t dimension, Sum& in) const {
    std::optional<Number> factor;
    for (uint32_t d = 0; d < guard.strides.size(); ++d) {
      if (guard.strides[d] == 0) continue;
      if (in.strides[d] % guard.strides[d] != 0) return false;
      const Number by = in.strides[d] / guard.strides[d];
      if (factor && *factor != by) return false;
      factor = by;
      in.strides[d] = 0;
    }
    in.strides.resize(dimension + 1);
    in.strides[dimension] = factor.value_or(0);
    return true;
  }

  static bool shares_dimension(const Sum& a, const Sum& b) {
    for (size_t d = 0; d < std::min(a.strides.size(), b.strides.size()); ++d)
      if (a.strides[d] != 0 && b.strides[d] != 0) return true;
    return false;
  }

  /// The values that a guard allows its form, from 0 on: fewer than this. Nothing if that says too
  /// little. The form is a multiple of `by`; its values are divided by that.
  static std::optional<Number> limit(const Guard& g, Number bound, Number by) {
    switch (g.kind) {
      case Guard::Kind::Below: return std::max((bound + by - 1) / by, Number{0});
      case Guard::Kind::AtMost: return bound < 0 ? 0 : bound / by + 1;
      case Guard::Kind::AtLeast: return bound <= 0 ? std::optional(max_number) : std::nullopt;
      default: return std::nullopt;
    }
  }

  Number covered_by(const FullWrites::StoreSet& store) {
    std::optional<Sum> index = sum(store.form);
    if (!index) return 0;
    struct Bounded {
      const Guard* guard;
      Sum sum;
      size_t dimensions;
    };
    std::vector<Bounded> guards;
    for (const uint32_t id : store.guards) {
      const Guard& g = w_.guards_[id];
      if (g.kind == Guard::Kind::Uniform) {
        if ((values_[g.bound] & 1) != g.expected) return 0;
        continue;
      }
      if (g.kind == Guard::Kind::Runs) {
        if (extents_[g.bound] <= 0) return 0;
        continue;
      }
      std::optional<Sum> s = sum(g.form);
      if (!s) return 0;
      if (g.kind == Guard::Kind::Exact) {
        const auto most = largest(*s);
        if (!most || *most >= Number{1} << std::min(g.form.bits, 62u)) return 0;
        continue;
      }
      if (s->offset != 0) return 0;
      const size_t dimensions =
          s->strides.size() - size_t(std::count(s->strides.begin(), s->strides.end(), Number{0}));
      guards.push_back({&g, std::move(*s), dimensions});
    }
    // Guards of parts come before guards of the sums of these parts.
    std::stable_sort(guards.begin(), guards.end(), [](const Bounded& a, const Bounded& b) {
      return a.dimensions < b.dimensions;
    });
    for (size_t i = 0; i < guards.size(); ++i) {
      auto [guard, s, dimensions] = guards[i];
      const Number by = divisor(s);
      for (Number& stride : s.strides) stride /= by;
      Number bound = number(guard->bound);
      Number values =
          std::min(prefix(s, 1), ((Number{1} << std::min(guard->form.bits, 62u)) - 1) / by + 1);
      if (guard->kind == Guard::Kind::Equal) {
        // Invocations at that one value must take every value of the other dimensions.
        if (bound < 0 || bound % by != 0 || (bound /= by) >= values) return 0;
        values = 1;
        if (bound != 0 && shares_dimension(s, *index)) return 0;
        for (size_t k = i + 1; k < guards.size(); ++k)
          if (bound != 0 && shares_dimension(s, guards[k].sum)) return 0;
      } else {
        const auto most = limit(*guard, bound, by);
        if (!most) return 0;
        values = std::min(values, *most);
      }
      if (values <= 0) return 0;
      const uint32_t dimension = uint32_t(extents_.size());
      if (!substitute(s, dimension, *index)) return 0;
      for (size_t k = i + 1; k < guards.size(); ++k)
        if (!substitute(s, dimension, guards[k].sum)) return 0;
      extents_.push_back(values);
    }
    return std::min(prefix(*index, Number(store.elements)),
                    Number{1} << std::min(store.form.bits, 62u));
  }

  const FullWrites& w_;
  std::vector<uint64_t> values_;  // by node
  std::vector<Number> extents_;   // by dimension
};

bool FullWrites::covers(BufferId buffer, const LaunchShape& shape,
                        std::span<const uint64_t> scalars) const {
  if (shape.workgroups() == 0) return false;
  std::optional<FullWriteProof> proof;
  for (const StoreSet& s : stores_) {
    if (s.buffer != buffer) continue;
    if (s.is_by_invocation) {  // the commonest form costs nothing
      if (shape.num_workgroups[0] * workgroup_[0] >= shape.counts[buffer]) return true;
      continue;
    }
    if (!proof) proof.emplace(*this, shape, scalars);
    if (proof->covered(s) >= Number(shape.counts[buffer])) return true;
  }
  return false;
}

}  // namespace vyre::opt
