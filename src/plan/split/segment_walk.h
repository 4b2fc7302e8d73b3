#pragma once

// The walk over a program that defines where its segments begin and end. Analyses and the writer of
// segments derive from it, so that they cannot disagree.
//
// Split points: a grid barrier; before and after a grid's uniform_load; and at the beginning, the
// way back and the end of a loop that holds a barrier. Regions and ifs that hold a barrier are not
// split points: a segment has its part of them, opened at the first op inside.

#include <algorithm>
#include <vector>

#include "plan/split/split_facts.h"
#include "transform/structure_exits.h"

namespace vyre::plan {

class SegmentWalk {
 public:
  explicit SegmentWalk(const SplitFacts& facts) : f_(facts), p_(facts.p) {}
  virtual ~SegmentWalk() = default;

  void run() {
    begin_segment();
    run_block(body_block);
    end_segment();
  }

 protected:
  /// An op of the tree that the walk is in.
  struct Frame {
    OpId op = none;
    uint32_t arm = 0;
    bool opened = false;         // in this segment
    OpId copy = none;            // the writer's
    uint32_t first_segment = 0;  // of a loop
  };

  virtual void barrier() {}  // between segments
  virtual void begin_segment() {}
  virtual void end_segment() {}
  /// A plain op, or the trap or return that ends a block; the path to it is open.
  virtual void visit(OpId) {}
  virtual void open(Frame&) {}
  virtual void switch_arm(Frame&) {}
  /// The end of a region or `if`. If its results are needed, the path to it and itself are open.
  virtual void close(Frame&) {}
  virtual void enter_loop(OpId) {}   // at the end of the segment before it
  virtual void begin_loop(OpId) {}   // between segments
  virtual void repeat_loop(OpId) {}  // at the end of the body's last segment, if it is reached
  virtual void end_loop(OpId) {}     // between segments

  /// Opens the ops around the current place.
  void open_path() {
    for (; ready_ < frames_.size(); ++ready_) {
      Frame& frame = frames_[ready_];
      const Opcode code = p_.op(frame.op).code;
      if (code == Opcode::While) continue;
      // The word of a device loop implies that the ifs around the loop were taken.
      if (code == Opcode::If && ready_ < guard_) continue;
      frame.opened = true;
      open(frame);
    }
  }
  /// The innermost loop that the host cannot count, or none.
  OpId guard() const { return guard_ == 0 ? none : frames_[guard_ - 1].op; }
  bool results_needed(OpId op) const {
    for (const ValueId v : p_.results(op))
      if (f_.needed[v]) return true;
    return false;
  }

  const SplitFacts& f_;
  const Program& p_;
  std::vector<Frame> frames_;
  uint32_t segment_ = 0;

 private:
  void cut() {
    end_segment();
    barrier();
    owes_barrier_ = false;
    start();
  }
  /// A split point at the border of a loop. A merged load needs its second barrier here: the
  /// following ops may write the buffer.
  void stop() {
    end_segment();
    if (owes_barrier_) barrier();
    owes_barrier_ = false;
  }
  void start() {
    for (Frame& frame : frames_) frame.opened = false;
    ready_ = 0;
    ++segment_;
    begin_segment();
  }

  void run_block(BlockId block) {
    for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next) {
      const Opcode code = p_.op(at).code;
      if (is_exit(code)) {
        if (code != Opcode::Trap) return;
        open_path();
        visit(at);
      } else if (is_grid_sync(p_, at)) {
        cut();
        if (code != Opcode::UniformLoad) continue;
        run_plain(at);
        if (f_.merged[at])
          owes_barrier_ = true;
        else
          cut();
      } else if (!f_.splits[at]) {
        run_plain(at);
      } else if (code == Opcode::While) {
        run_loop(at);
      } else {
        run_control(at);
      }
    }
  }

  void run_plain(OpId at) {
    if (!f_.wanted(at)) return;
    open_path();
    visit(at);
  }

  void pop() {
    frames_.pop_back();
    ready_ = std::min(ready_, frames_.size());
  }

  void run_control(OpId at) {
    const Op& o = p_.op(at);
    Frame frame;
    frame.op = at;
    frames_.push_back(frame);
    const bool owed_before = owes_barrier_;
    bool owed_after = false;
    for (uint32_t i = 0; i < o.n_blocks; ++i) {
      frames_.back().arm = i;
      if (i != 0 && frames_.back().opened) switch_arm(frames_.back());
      owes_barrier_ = owed_before;
      run_block(o.first_block + i);
      owed_after |= owes_barrier_;
    }
    owes_barrier_ = owed_after;
    if (results_needed(at)) open_path();
    close(frames_.back());
    pop();
  }

  void run_loop(OpId at) {
    const BlockId test = p_.op(at).first_block;
    enter_loop(at);
    stop();
    begin_loop(at);
    const size_t outer = guard_;
    Frame frame;
    frame.op = at;
    frame.first_segment = segment_ + 1;
    frames_.push_back(frame);
    if (!f_.is_host_loop(at)) guard_ = frames_.size();
    start();
    for (OpId op = p_.blocks[test].first; p_.op(op).code != Opcode::Test; op = p_.op(op).next)
      run_plain(op);
    run_block(test + 1);
    if (f_.yields(at, 1)) repeat_loop(at);
    stop();
    end_loop(at);
    guard_ = outer;
    pop();
    start();
  }

  bool owes_barrier_ = false;
  size_t ready_ = 0;  // frames that are open, or need not be
  size_t guard_ = 0;  // one more than the index of the innermost device loop
};

}  // namespace vyre::plan
