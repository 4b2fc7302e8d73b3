#include "opt/analysis/liveness.h"

#include <algorithm>

namespace vyre::opt {
namespace {

/// A set of values with its members in a list, and a log of the insertions since a mark.
class LiveSet {
 public:
  explicit LiveSet(size_t values) : place_(values, none) {}
  bool has(ValueId v) const { return place_[v] != none; }
  void add(ValueId v) {
    if (has(v)) return;
    place_[v] = uint32_t(members_.size());
    members_.push_back(v);
    log_.push_back(v);
  }
  void remove(ValueId v) {
    if (!has(v)) return;
    const ValueId last = members_.back();
    members_[place_[v]] = last;
    place_[last] = place_[v];
    members_.pop_back();
    place_[v] = none;
  }
  size_t mark() const { return log_.size(); }
  /// Removes and returns the values that were added since the mark and are still in the set.
  std::vector<ValueId> take_since(size_t mark) {
    std::vector<ValueId> taken;
    for (size_t i = mark; i < log_.size(); ++i)
      if (has(log_[i])) taken.push_back(log_[i]), remove(log_[i]);
    log_.resize(mark);
    return taken;
  }
  const std::vector<ValueId>& members() const { return members_; }

 private:
  IdMap<ValueId, uint32_t> place_;
  std::vector<ValueId> members_, log_;
};

}  // namespace

/// Walks backwards through the program's structure. After a branch of an `if`, the values that are
/// live after the `if` are live; a loop repeats, so all values that it uses from outside live to
/// its end. Where a branch or body leaves early, values that would be live without the exit count
/// too: the result may be too large, never too small.
class LivenessWalk {
 public:
  LivenessWalk(const Program& p, std::vector<OpId>& barriers,
               std::vector<std::vector<ValueId>>& across)
      : p_(p),
        barriers_(barriers),
        across_(across),
        live_(p.values.size()),
        entered_(p.ops.size()) {}

  void run() {
    find_loop_uses();
    const std::vector<BlockEvent> events = block_events(p_);
    for (size_t i = events.size(); i-- > 0;) {
      switch (events[i].what) {
        case Visit::LeaveBlock: end_of(events[i].block); break;
        case Visit::EnterBlock: start_of(events[i].block); break;
        case Visit::Op: visit(events[i].op); break;
      }
    }
    std::reverse(barriers_.begin(), barriers_.end());
    std::reverse(across_.begin(), across_.end());
  }

 private:
  struct Arm {
    size_t mark;
    std::vector<ValueId> of_else;
  };

  bool counts(ValueId v) const {
    const OpId def = p_.values[v].def;
    return def == none || p_.op(def).code != Opcode::Const;
  }
  void use(ValueId v) {
    if (counts(v)) live_.add(v);
  }

  /// Values from outside that each loop uses: for every use, all loops between it and the
  /// definition.
  void find_loop_uses() {
    IdMap<OpId, OpId> around(p_.ops.size(), none);  // the innermost loop around an op
    std::vector<OpId> stack;
    walk_blocks(p_, body_block, [&](Visit what, OpId op, BlockId) {
      if (what == Visit::Op) {
        around[op] = stack.empty() ? none : stack.back();
        return;
      }
      if (op == none || !is_loop(p_.op(op).code)) return;
      if (what == Visit::EnterBlock)
        stack.push_back(op);
      else
        stack.pop_back();
    });
    const auto home = [&](ValueId v) {
      const Value& value = p_.values[v];
      if (value.def != none) return around[value.def];
      const OpId owner = p_.blocks[value.block].parent;
      return owner != none && is_loop(p_.op(owner).code) ? owner : none;
    };
    walk(p_, [&](OpId op) {
      for (const ValueId v : p_.operands(op)) {
        if (!counts(v)) continue;
        const OpId stop = home(v);
        for (OpId l = around[op]; l != none && l != stop; l = around[l]) entered_[l].push_back(v);
      }
    });
  }

  void end_of(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    const Op& o = p_.op(owner);
    if (o.code == Opcode::If) {
      if (block - o.first_block == 1) arms_.push_back({live_.mark(), {}});
      for (const ValueId r : p_.results(owner)) live_.remove(r);
      return;
    }
    for (const ValueId r : p_.results(owner)) live_.remove(r);
    if (!is_loop(o.code) || block - o.first_block + 1 != o.n_blocks) return;
    for (const ValueId v : entered_[owner]) live_.add(v);
    if (o.code == Opcode::For) {  // the next iteration needs the counter, the end and the step
      use(p_.operand(owner, 1));
      use(p_.operand(owner, 2));
      use(p_.args(block)[0]);
    }
  }

  void start_of(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    for (const ValueId v : p_.args(block)) live_.remove(v);
    const Op& o = p_.op(owner);
    if (o.code != Opcode::If) return;
    if (block - o.first_block == 1) {
      arms_.back().of_else = live_.take_since(arms_.back().mark);
    } else {
      for (const ValueId v : arms_.back().of_else) live_.add(v);
      arms_.pop_back();
    }
  }

  void visit(OpId op) {
    const Op& o = p_.op(op);
    for (const ValueId r : p_.results(op)) live_.remove(r);
    const bool uniform = o.code == Opcode::UniformLoad && p_.memory(op).scope != Scope::Subgroup;
    const bool barrier = o.code == Opcode::Barrier && Scope(o.attr) != Scope::Subgroup;
    for (const ValueId v : p_.operands(op)) use(v);  // of a uniform load, after its first barrier
    if (o.code == Opcode::Test)                      // the results, should it fail
      for (const ValueId v : p_.args(o.parent)) use(v);
    if (!uniform && !barrier) return;
    barriers_.push_back(op);
    across_.push_back(live_.members());
    std::sort(across_.back().begin(), across_.back().end());
  }

  const Program& p_;
  std::vector<OpId>& barriers_;
  std::vector<std::vector<ValueId>>& across_;
  LiveSet live_;
  IdMap<OpId, std::vector<ValueId>> entered_;  // by loop
  std::vector<Arm> arms_;
};

Liveness::Liveness(const Program& p) : any_(p.values.size(), false) {
  bool some = false;
  walk(p, [&](OpId op) {
    some |= p.op(op).code == Opcode::Barrier || p.op(op).code == Opcode::UniformLoad;
  });
  if (!some) return;
  LivenessWalk(p, barriers_, across_).run();
  place_.assign(p.ops.size(), none);
  for (uint32_t i = 0; i < barriers_.size(); ++i) place_[barriers_[i]] = i;
  for (const auto& list : across_)
    for (const ValueId v : list) any_[v] = true;
}

}  // namespace vyre::opt
