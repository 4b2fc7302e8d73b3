#include "opt/handoff_candidates.h"

#include "opt/analysis/analysis_cache.h"
#include "opt/passes/promote_handoffs.h"

namespace vyre::opt {

HandoffCandidates handoff_candidates(const Program& program, const Target& target) {
  Facts facts(program);
  PassContext context{facts, target, {}, 0, false};
  HandoffCandidates found;
  found.promoted = find_handoffs(program, context);
  found.refusals = std::move(context.refusals);
  return found;
}

uint64_t count_handoffs(const Program& program, const Target& target) {
  return handoff_candidates(program, target).promoted.size();
}

}  // namespace vyre::opt
