#include "check/flow_segments.h"

#include <utility>

namespace vyre {

void FlowSegments::op(OpId id) {
  const Op& o = p_.op(id);
  if (o.code == Opcode::Barrier) {
    if (static_cast<Scope>(o.attr) >= scope_) current_ = fresh();
  } else if (o.code == Opcode::UniformLoad) {
    if (p_.memory(id).scope >= scope_) current_ = fresh();
  } else if ((o.code == Opcode::Break || o.code == Opcode::Continue) && !loops_.empty()) {
    const Frame& loop = frames_[loops_.back()];
    unite(current_, loop.entry);
    if (loop.first_end != none) unite(current_, loop.first_end);
  }
}

void FlowSegments::enter(BlockId block) {
  const OpId parent = p_.blocks[block].parent;
  if (parent == none) return;
  const Op& o = p_.op(parent);
  if (block == o.first_block) {
    if (is_loop(o.code)) loops_.push_back(frames_.size());
    frames_.push_back({current_});
  } else if (o.code == Opcode::If) {
    current_ = frames_.back().entry;
  }
}

void FlowSegments::leave(BlockId block) {
  const OpId parent = p_.blocks[block].parent;
  if (parent == none) return;
  const Op& o = p_.op(parent);
  Frame& f = frames_.back();
  if (block + 1 != o.first_block + o.n_blocks) {
    f.first_end = current_;
    return;
  }
  // After a barrier that may have been skipped, a new segment begins, connected with both.
  const uint32_t out = o.code == Opcode::For || f.first_end == none ? f.entry : f.first_end;
  const bool no_barrier = current_ == f.entry && out == f.entry;
  if (is_loop(o.code)) {
    unite(current_, f.entry);
    loops_.pop_back();
  }
  if (o.code != Opcode::Region && !no_barrier) {
    const uint32_t end = std::exchange(current_, fresh());
    unite(current_, out);
    if (o.code == Opcode::If) unite(current_, end);
  }
  frames_.pop_back();
}

}  // namespace vyre
