#include "opt/full_writes.h"

#include "opt/effects.h"
#include "opt/ranges.h"
#include "opt/tile_bounds.h"

namespace vyre::opt {
namespace {

/// Stores that every invocation gets to come in a row: the body, and regions in it.
class Finder {
 public:
  explicit Finder(const Program& p)
      : p_(p),
        effects_(p),
        ranges_(p),
        tiles_(p, ranges_, TileForms::most_workgroups(p)),
        full_(p.buffers.size()) {}

  std::vector<bool> run() {
    for (OpId op = p_.blocks[0].first; op != none;) {
      if (p_.op(op).code == Opcode::Region) {
        op = p_.blocks[p_.block(op, 0)].first;
        continue;
      }
      if (effects_.of(op).leaves) break;
      visit(op);
      op = after(op);
    }
    return std::move(full_);
  }

 private:
  void visit(OpId op) {
    if (p_.op(op).code == Opcode::Store) {
      const uint32_t b = p_.memory(op).buffer;
      const auto at = tiles_.by_invocation(p_.operand(op, 0), op);
      if ((touched_ >> b & 1) == 0 && at && at->exact && at->group == 1 && at->low == 0 &&
          at->high == 0)
        full_[b] = true;
    }
    const EffectSummary& e = effects_.of(op);
    touched_ |= e.reads | e.writes | e.atomics;
  }

  /// The next op that is reached; none after the body.
  OpId after(OpId op) const {
    while (p_.op(op).next == none) {
      op = p_.blocks[p_.op(op).parent].parent;
      if (op == none) return none;
    }
    return p_.op(op).next;
  }

  const Program& p_;
  Effects effects_;
  Ranges ranges_;
  TileForms tiles_;
  std::vector<bool> full_;
  uint64_t touched_ = 0;
};

}  // namespace

std::vector<bool> find_full_writes(const Program& program) {
  if (program.buffers.size() > 64) return std::vector<bool>(program.buffers.size());
  return Finder(program).run();
}

}  // namespace vyre::opt
