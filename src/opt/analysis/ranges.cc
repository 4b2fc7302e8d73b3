#include "opt/analysis/ranges.h"

#include <algorithm>
#include <numeric>

#include "opt/analysis/range_walk.h"

namespace vyre::opt {

template <class T>
void Ranges::Index::build(size_t values, const std::vector<T>& list) {
  begin.assign(values + 1, 0);
  for (const T& e : list) ++begin[e.value + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  entry.resize(list.size());
  IdMap<ValueId, uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t i = 0; i < list.size(); ++i) entry[next[list[i].value]++] = i;
}

template <class T>
uint32_t Ranges::Index::find(const std::vector<T>& list, ValueId v, uint32_t position) const {
  const auto first = entry.begin() + begin[v], last = entry.begin() + begin[v + 1];
  const auto it = std::upper_bound(first, last, position,
                                   [&](uint32_t at, uint32_t e) { return at < list[e].begin; });
  return it == first ? none : *(it - 1);
}

Ranges::Ranges(const Program& p) : program_(&p), rules_(p) {
  RangeWalk(*this).run();
  narrowed_of_.build(p.values.size(), narrowed_);
  bounds_of_.build(p.values.size(), bounds_);
}

ValueRange Ranges::at(ValueId v, OpId op, int depth) const {
  const uint32_t here = position_[op];
  // An entry that holds here began at or before the last entry, so it held when that one began.
  uint32_t e = narrowed_of_.find(narrowed_, v, here);
  while (e != none && narrowed_[e].end <= here) e = narrowed_[e].outer;
  ValueRange r = e == none ? by_value_[v] : narrowed_[e].range;
  // A condition on the operands of v narrows v as well.
  const OpId def = program_->values[v].def;
  if (depth == 0 || def == none || r.is_constant() || !has_range(program_->type(v))) return r;
  const Op& o = program_->op(def);
  if (!is_pure(o.code) || o.operands.count == 0 || o.operands.count > 4) return r;
  ValueRange in[4];
  bool news = false;
  for (uint32_t i = 0; i < o.operands.count; ++i) {
    const ValueId operand = program_->operand(def, i);
    in[i] = at(operand, op, depth - 1);
    news |= in[i] != by_value_[operand];
  }
  if (!news) return r;
  const RangeRules::Result again = rules_.apply(def, 0, {in, o.operands.count});
  return meet(program_->type(v), r, again.range).value_or(r);
}

Ranges::Shifted Ranges::split(ValueId v) const {
  Shifted s{v, 0};
  for (int steps = 0; steps < 8; ++steps) {
    const OpId def = program_->values[s.base].def;
    if (def == none) break;
    const Op& o = program_->op(def);
    const auto constant = [&](uint32_t i) {
      return by_value_[program_->operand(def, i)].is_constant();
    };
    if (o.code == Opcode::Cast && has_range(program_->type(program_->operand(def, 0)))) {
      const ValueId from = program_->operand(def, 0);
      // The number is kept if the range fits.
      const Type to = program_->type(s.base);
      const ValueRange& r = by_value_[from];
      if (to == Type::Bool || r.low() < least(to) || r.high() > greatest(to)) break;
      s.base = from;
    } else if (o.code == Opcode::Add && no_wrap_[s.base] && (constant(0) || constant(1))) {
      const uint32_t c = constant(1) ? 1 : 0;
      s.offset += by_value_[program_->operand(def, c)].low();
      s.base = program_->operand(def, 1 - c);
    } else if (o.code == Opcode::Sub && no_wrap_[s.base] && constant(1)) {
      s.offset -= by_value_[program_->operand(def, 1)].low();
      s.base = program_->operand(def, 0);
    } else {
      break;
    }
  }
  return s;
}

void Ranges::below(ValueId base, OpId op, std::vector<Below>& list) const {
  const uint32_t here = position_[op];
  for (uint32_t e = bounds_of_.find(bounds_, base, here); e != none; e = bounds_[e].outer)
    if (bounds_[e].end > here) list.push_back(bounds_[e].below);
}

}  // namespace vyre::opt
