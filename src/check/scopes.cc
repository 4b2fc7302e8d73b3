// Each value is defined once and used only where it is visible: after its definition, in its block
// and the blocks nested there. The values of a while's test are also visible in its body.

#include <fmt/format.h>

#include <vector>

#include "check/check_structure.h"

namespace vyre {
namespace {

// A value stores its position (op or block, and index), and lists do not share cells, so a value
// whose position agrees with the list that names it is in no other list.
bool check_definitions(const Program& p, Reporter& r) {
  size_t defined = 0;
  bool agree = true;
  const auto check_list = [&](std::span<const ValueId> list, OpId def, BlockId block) {
    for (uint32_t i = 0; i < list.size(); ++i) {
      const Value& v = p.values[list[i]];
      agree = agree && v.def == def && v.block == block && v.index == i;
    }
    defined += list.size();
  };
  for (const OpId op : p.ops.ids()) check_list(p.results(op), op, none);
  for (const BlockId b : p.blocks.ids()) check_list(p.args(b), none, b);
  if (agree && defined == p.values.size()) return true;
  r.at_kernel(Code::BrokenProgram,
              "a value is not defined exactly once, by the op or block that it names");
  return false;
}

class ScopeCheck {
 public:
  ScopeCheck(const Program& p, Reporter& r) : p_(p), r_(r), visible_(p.values.size()) {}

  bool run() {
    walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
      switch (what) {
        case Visit::EnterBlock: enter(block); break;
        case Visit::Op: visit(op); break;
        case Visit::LeaveBlock: leave(block); break;
      }
    });
    return !r_.has_errors();
  }

 private:
  void show(std::span<const ValueId> list) {
    for (const ValueId v : list) {
      visible_[v] = true;
      shown_.push_back(v);
    }
  }

  void enter(BlockId block) {
    marks_.push_back(shown_.size());
    show(p_.args(block));
  }

  void visit(OpId op) {
    for (const ValueId v : p_.operands(op)) {
      if (visible_[v] || r_.full()) continue;
      Diagnostic& d = r_.at_op(Code::ValueNotVisible, op,
                               fmt::format("`{}` uses value {}, which is not defined here",
                                           mnemonic(p_.ops[op].code), v.value()));
      if (p_.values[v].def != none) d.note("defined here", r_.place_of(p_.values[v].def));
    }
    if (p_.ops[op].n_blocks == 0) show(p_.results(op));
  }

  void leave(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    const Op& op = p_.ops[owner];
    // The values of a while's test stay visible until the end of its body.
    if (op.code == Opcode::While && block == op.first_block) return;
    hide();
    if (op.code == Opcode::While) hide();
    if (block == op.first_block + (op.n_blocks - 1)) show(p_.results(owner));
  }

  // Hides the values that became visible since the last mark.
  void hide() {
    for (; shown_.size() > marks_.back(); shown_.pop_back()) visible_[shown_.back()] = false;
    marks_.pop_back();
  }

  const Program& p_;
  Reporter& r_;
  IdMap<ValueId, bool> visible_;
  std::vector<ValueId> shown_;  // in the order they became visible
  std::vector<size_t> marks_;   // of the open blocks
};

}  // namespace

bool check_values(const Program& program, Reporter& report) {
  return check_definitions(program, report) && ScopeCheck(program, report).run();
}

}  // namespace vyre
