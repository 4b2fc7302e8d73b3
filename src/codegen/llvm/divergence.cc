#include "codegen/llvm/divergence.h"

namespace vyre::emit_llvm {
namespace {

class Finder {
 public:
  explicit Finder(Prepared& k) : k_(k), p_(k.program) {
    k.masked.assign(p_.ops.size(), false);
    k.continues.assign(p_.ops.size(), false);
    k.drops.assign(p_.ops.size(), false);
  }

  void run() {
    walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op) visit(op);
      if (what == Visit::LeaveBlock) leave(block);
    });
    if (k_.phased && k_.has_traps) k_.masked_body = true;
    if (k_.masked_body)
      for (const OpId loop : returning_) k_.masked[loop] = true;
    for (const OpId op : returns_)
      if (k_.masked_body) mark_drops(op, none);
    for (const auto& [op, loop] : loop_exits_)
      if (k_.masked[loop]) mark_drops(op, loop);
  }

 private:
  struct Frame {
    OpId op = none;
    uint32_t around = 0;  // ifs that lanes disagree on, around it
    bool varies = false;  // an `if`: one of those
    bool has_return = false, return_parts = false;
  };

  void visit(OpId id) {
    const Op& op = p_.op(id);
    switch (op.code) {
      case Opcode::If:
      case Opcode::For:
      case Opcode::While:
      case Opcode::Region: return open(id);
      case Opcode::Break:
      case Opcode::Continue: {
        const Frame& loop = frames_[loops_.back()];
        loop_exits_.emplace_back(id, loop.op);
        if (op.code == Opcode::Continue) k_.continues[loop.op] = true;
        if (parted_ > loop.around) k_.masked[loop.op] = true;
        return;
      }
      case Opcode::Trap: k_.has_traps = true; return returns(id, false);
      case Opcode::Return: return returns(id, false);
      case Opcode::Assert: k_.has_traps = true; return returns(id, !k_.uniform(p_.operand(id, 0)));
      default: return;
    }
  }

  void returns(OpId id, bool parts) {
    returns_.push_back(id);
    if (loops_.empty()) {
      k_.masked_body = k_.masked_body || parts || parted_ > 0;
      return;
    }
    Frame& loop = frames_[loops_.back()];
    loop.has_return = true;
    loop.return_parts = loop.return_parts || parts || parted_ > loop.around;
  }

  void open(OpId id) {
    const Op& op = p_.op(id);
    Frame f;
    f.op = id;
    f.around = parted_;
    if (op.code == Opcode::If) {
      f.varies = !k_.uniform(p_.operand(id, 0));
      parted_ += f.varies;
    } else if (op.code == Opcode::For) {
      for (uint32_t i = 0; i < 3; ++i)
        if (!k_.uniform(p_.operand(id, i))) k_.masked[id] = true;
    } else if (op.code == Opcode::While) {
      const OpId test = p_.blocks[op.first_block].last;
      if (p_.op(test).code == Opcode::Test && !k_.uniform(p_.operand(test, 0)))
        k_.masked[id] = true;
    }
    if (is_loop(op.code)) loops_.push_back(static_cast<uint32_t>(frames_.size()));
    frames_.push_back(f);
  }

  void leave(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    const Op& op = p_.op(owner);
    if (block != op.first_block + (op.n_blocks - 1)) return;
    const Frame f = frames_.back();
    frames_.pop_back();
    parted_ -= f.varies;
    if (!is_loop(op.code)) return;
    loops_.pop_back();
    close_loop(f);
  }

  void close_loop(const Frame& f) {
    if (f.return_parts) k_.masked[f.op] = true;
    if (f.has_return) {
      returning_.push_back(f.op);
      const bool parts = f.return_parts || k_.masked[f.op];
      if (loops_.empty()) {
        k_.masked_body = k_.masked_body || parts || f.around > 0;
      } else {
        Frame& outer = frames_[loops_.back()];
        outer.has_return = true;
        outer.return_parts = outer.return_parts || parts || f.around > outer.around;
      }
    }
  }

  /// Marks all ops around `op`, up to `end`. Returns come first, so a marked op implies that all
  /// ops up to the end are marked.
  void mark_drops(OpId op, OpId end) {
    k_.drops[op] = true;
    for (OpId at = p_.blocks[p_.op(op).parent].parent; at != end && !k_.drops[at];
         at = p_.blocks[p_.op(at).parent].parent)
      k_.drops[at] = true;
  }

  Prepared& k_;
  const Program& p_;
  std::vector<Frame> frames_;
  std::vector<uint32_t> loops_;  // indices into frames_
  uint32_t parted_ = 0;
  std::vector<OpId> returning_;  // loops with a return, trap or assert
  std::vector<OpId> returns_;
  std::vector<std::pair<OpId, OpId>> loop_exits_;
};

}  // namespace

void find_divergence(Prepared& kernel) { Finder(kernel).run(); }

}  // namespace vyre::emit_llvm
