#pragma once

// Rewrites a program to one without 64-bit values: expand.h describes its buffers and scalars.

#include "legalize/profile.h"
#include "legalize/remake.h"
#include "legalize/wide.h"

namespace vyre::emit_exact {

class WideStage : public Remake {
 public:
  WideStage(const Program& program, const Profile& profile);

 private:
  bool splits(Type t) const override { return t == Type::I64 || t == Type::U64; }
  void visit(OpId id) override;
  void enter(BlockId block) override;

  Pair pair(ValueId v) const { return {term(v), high(v)}; }
  void give_pair(OpId id, const Pair& p) { set(from.result(id), p.low, p.high); }

  // Values.
  void visit_pure(OpId id);
  void visit_cast(OpId id);
  void visit_compare(OpId id);
  void ballot(OpId id);
  void shuffle(OpId id);

  // Memory.
  struct Place {
    Term index;  // u32
    Term valid;  // the index is a number that u32 has
  };
  bool is_split(BufferId buffer) const { return split_[buffer]; }
  Term elements(BufferId buffer);
  Place place(ValueId index, uint32_t plus);
  /// The first u32 of an element, or one that is out of bounds.
  Term first_word(OpId id, uint32_t plus);
  void visit_memory(OpId id);
  void access_split(OpId id);
  void access_by_wide_index(OpId id);
  void load_as(OpId id);
  uint64_t attr_of(OpId id, uint32_t plus) const;
  std::vector<ValueId> load(Type type, const Term& index, uint32_t count, uint64_t attr);

  // Loops with a 64-bit counter.
  void open_for(OpId id);
  void exit(OpId id, OpId loop);
  bool is_remade(OpId loop) const;

  void split_buffers();

  struct Counter {
    OpId loop;
    Pair now, end, step;
    Term done;
  };
  const Profile& profile_;
  IdMap<BufferId, bool> split_;
  IdMap<BufferId, BufferId> halves_;  // by scalar: the number of its lower half
  std::vector<Counter> counters_;
};

}  // namespace vyre::emit_exact
