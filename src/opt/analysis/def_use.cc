#include "opt/analysis/def_use.h"

namespace vyre::opt {

DefUse::DefUse(const Program& p) : begin_(p.values.size() + 1, 0) {
  walk(p, [&](OpId op) {
    for (const ValueId v : p.operands(op)) ++begin_[v + 1];
  });
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  uses_.resize(begin_.back());
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  walk(p, [&](OpId op) {
    uint32_t operand = 0;
    for (const ValueId v : p.operands(op)) uses_[next[v]++] = {op, operand++};
  });
}

}  // namespace vyre::opt
