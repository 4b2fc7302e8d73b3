#include "plan/fusion/handoff_body.h"

#include <utility>

#include "transform/returning_loop.h"

namespace vyre::plan {
namespace {

class BodyCopy {
 public:
  BodyCopy(const Program& p, IrBuilder& w)
      : p_(p), w_(w), copier_(p, w), returns_(p.ops.size(), false) {}

  void run() {
    walk(p_, [&](OpId op) {
      if (p_.op(op).code != Opcode::Return) return;
      for (OpId at = parent(op); at != none && !returns_[at]; at = parent(at)) returns_[at] = true;
    });
    copy(body_block);
  }

 private:
  OpId parent(OpId op) const { return p_.blocks[p_.op(op).parent].parent; }

  /// Blocks that are not in a loop. As deep as the program.
  void copy(BlockId block) {
    for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next) {
      w_.loc = p_.op(at).loc;
      if (p_.op(at).code == Opcode::Return)
        w_.exit(block == body_block ? Opcode::Yield : Opcode::Continue, {});
      else if (!returns_[at])
        copier_.copy(at);
      else if (is_loop(p_.op(at).code))
        copy_loop(at);
      else
        copy_control(at);
    }
  }

  void copy_loop(OpId at) {
    const ValueId returned =
        copy_returning_loop(at, p_, w_, copier_, [this](OpId op) { return bool(returns_[op]); });
    const OpId guard = w_.open(Opcode::If, {&returned, 1}, 2);
    const BlockId here = std::exchange(w_.block, w_.p.op(guard).first_block);
    w_.exit(Opcode::Continue, {});
    w_.block = w_.p.op(guard).first_block + 1;
    w_.exit(Opcode::Yield, {});
    w_.block = here;
  }

  void copy_control(OpId at) {
    const Op& o = p_.op(at);
    std::vector<ValueId> operands;
    for (const ValueId v : p_.operands(at)) operands.push_back(copier_.map[v]);
    const OpId op = w_.open(o.code, operands, o.n_blocks, o.attr);
    const BlockId here = w_.block;
    for (uint32_t i = 0; i < o.n_blocks; ++i) {
      w_.block = w_.p.op(op).first_block + i;
      copy(o.first_block + i);
    }
    w_.block = here;
    std::vector<Type> types;
    for (const ValueId v : p_.results(at)) types.push_back(p_.type(v));
    const std::vector<ValueId> results = w_.set_results(op, types);
    for (uint32_t i = 0; i < o.results.count; ++i) copier_.map[p_.result(at, i)] = results[i];
  }

  const Program& p_;
  IrBuilder& w_;
  Cloner copier_;
  IdMap<OpId, bool> returns_;
};

}  // namespace

void copy_producer_body(const Program& kernel, IrBuilder& writer) {
  BodyCopy(kernel, writer).run();
}

}  // namespace vyre::plan
