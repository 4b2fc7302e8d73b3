#pragma once

// Segments of a kernel's flow: the parts between two barriers of a scope. Two points are in one
// segment if control flow connects them without a barrier; a loop connects its end with its start.

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace vyre {

/// Follows a walk_blocks() of the program.
class FlowSegments {
 public:
  explicit FlowSegments(const Program& program, Scope scope) : p_(program), scope_(scope) {
    current_ = fresh();
  }

  void visit(Visit event, OpId op, BlockId block) {
    if (event == Visit::Op)
      this->op(op);
    else if (event == Visit::EnterBlock)
      enter(block);
    else
      leave(block);
  }

  /// The segment of the op that was visited last. A barrier always begins another one.
  uint32_t current() const { return current_; }
  /// The segment that this one was merged into; final when the walk has ended.
  uint32_t merged(uint32_t segment) {
    while (parent_[segment] != segment) segment = parent_[segment] = parent_[parent_[segment]];
    return segment;
  }

 private:
  struct Frame {
    uint32_t entry;
    uint32_t first_end = none;  // of the first block: the then block, the test of a while
  };

  uint32_t fresh() {
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    return parent_.back();
  }
  void unite(uint32_t a, uint32_t b) { parent_[merged(a)] = merged(b); }

  void op(OpId id);
  void enter(BlockId block);
  void leave(BlockId block);

  const Program& p_;
  const Scope scope_;
  uint32_t current_ = 0;
  std::vector<uint32_t> parent_;  // a forest: union by path halving
  std::vector<Frame> frames_;
  std::vector<size_t> loops_;  // frames that are loops
};

}  // namespace vyre
