#include "opt/analysis/def_use.h"

#include <numeric>

namespace vyre::opt {

DefUse::DefUse(const Program& p) : begin_(p.values.size() + 1, 0) {
  walk(p, [&](OpId op) {
    for (const ValueId v : p.operands(op)) ++begin_[v + 1];
  });
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  uses_.resize(begin_.back());
  IdMap<ValueId, uint32_t> next(begin_.begin(), begin_.end() - 1);
  walk(p, [&](OpId op) {
    uint32_t operand = 0;
    for (const ValueId v : p.operands(op)) uses_[next[v]++] = {op, operand++};
  });
}

}  // namespace vyre::opt
