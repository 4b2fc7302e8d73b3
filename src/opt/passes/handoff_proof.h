#pragma once

// The proofs of promote_handoffs: phases, indices, and that elements are written before they are
// read.

#include <string>

#include "opt/analysis/analysis_cache.h"
#include "opt/analysis/tile_bounds.h"
#include "opt/passes/promote_handoffs.h"

namespace vyre::opt {

class HandoffProof {
 public:
  HandoffProof(const Program& program, Facts& facts);
  /// Returns why a scratch buffer is not a candidate by its declaration, or "".
  std::string why_no_candidate(BufferId buffer) const;
  /// Finds the candidate, of any size, or the condition that failed and the op where it failed.
  bool prove(BufferId buffer, HandoffCandidate& candidate, std::string& why, OpId& op);

 private:
  struct Access {
    OpId op = none;
    OpId top = none;  // in the phases' block: the op, or the op that holds it
    uint32_t elements = 1;
    bool writes = false;
    bool is_before_loads = false;  // a store of the first phase
    TileWindow window;
  };
  /// A run of elements that every workgroup writes: group · workgroup_id.x + [low, high].
  struct Cover {
    Wide group = 0, low = 0, high = 0;
  };
  bool find_accesses(BufferId buffer);
  bool find_phases(HandoffCandidate& c);
  bool refuse_first_load(OpId op, uint8_t kinds);
  bool find_windows();
  bool check_cover(uint64_t count);
  bool is_always_run(const Access& a) const;
  std::optional<Cover> cover_of(const Access& a) const;
  void count_costs(HandoffCandidate& c) const;
  uint64_t trips_around(OpId op) const;
  std::optional<uint64_t> constant_trips(OpId loop) const;
  bool refuse(OpId op, std::string why);

  const Program& p_;
  Facts& facts_;
  const TileForms forms_;
  std::string orders_;  // an op by which workgroups could wait for each other, or ""
  std::string name_;    // of the buffer
  std::vector<Access> accesses_;
  BlockId block_ = body_block;  // of the phases
  std::string why_;
  OpId at_ = none;
};

}  // namespace vyre::opt
