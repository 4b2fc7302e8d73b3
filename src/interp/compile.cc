#include "interp/compile.h"

#include "interp/code_writer.h"
#include "interp/counters.h"

namespace vyre::interp {
namespace {

constexpr uint32_t chain_end = ~0u;

class Compiler : CodeWriter {
 public:
  Compiler(const Program& program, uint64_t max_groups, bool observed)
      : CodeWriter(program, max_groups, observed) {}

  FlatCode run() {
    walk_blocks(p_, body_block, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op)
        visit(op);
      else if (what == Visit::EnterBlock)
        enter(block);
      else
        leave(block);
    });
    code_.units = slots_.units();
    return std::move(code_);
  }

 private:
  /// A control op whose blocks are being compiled.
  struct Open {
    OpId op;
    Slot mask_a = no_slot, mask_b = no_slot;
    uint32_t begin = 0;         // IfBegin, ForBegin or WhileBegin
    uint32_t then_end = 0;      // ArmEnd of the then block
    uint32_t body = 0;          // where the next iteration begins
    uint32_t test = chain_end;  // Test
    bool else_empty = false;
    std::vector<Slot> carried;  // of a loop: its arguments and results
  };

  void visit(OpId id) {
    switch (info(p_.op(id).code).effect) {
      case Effect::Control: return begin(id);
      case Effect::Exit: return leave_block(id);
      default: return straight(id);
    }
  }

  // ---- Control.

  void begin(OpId id) {
    const Op& op = p_.op(id);
    Open o;
    o.op = id;
    const auto results = p_.results(id);
    std::vector<Slot> places;
    for (const ValueId v : results) places.push_back(define(v));
    if (op.code == Opcode::Region) {
      open_.push_back(std::move(o));
      return;
    }
    o.mask_a = slots_.take_mask();
    o.mask_b = slots_.take_mask();
    if (op.code == Opcode::If) {
      const BlockId other = p_.block(id, 1);
      const Op& first = p_.op(p_.blocks[other].first);
      o.else_empty = first.code == Opcode::Yield && first.operands.count == 0;
      o.begin = here_of(Do::IfBegin, id);
      Instr& i = code_.instrs[o.begin];
      i.in[0] = slot(p_.operand(id, 0));
      i.else_empty = o.else_empty;
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
    } else {
      const bool is_for = op.code == Opcode::For;
      const BlockId header = p_.block(id, 0);
      const auto initial = p_.operands(id).subspan(is_for ? 3 : 0);
      const auto args = p_.args(header).subspan(is_for ? 1 : 0);
      for (size_t k = 0; k < args.size(); ++k) {
        slot_of_[args[k]] = places[k];
        copy(Do::CopyActive, id, places[k], slot(initial[k]), width(args[k]));
      }
      o.carried = std::move(places);
      Slot counter = no_slot;
      if (is_for) counter = define(p_.args(header)[0]);
      o.begin = here_of(is_for ? Do::ForBegin : Do::WhileBegin, id);
      Instr& i = code_.instrs[o.begin];
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
      if (is_for) {
        i.out = counter;
        for (uint32_t k = 0; k < 3; ++k) i.in[k] = slot(p_.operand(id, k));
        i.loop = find_counter(p_.type(p_.args(header)[0]));
      }
      o.body = here();
      loops_.push_back(static_cast<uint32_t>(open_.size()));
      loop_ = id;
    }
    open_.push_back(std::move(o));
  }

  /// Copies the operands of `exit` into the loop's carried values, as if all at once: an operand
  /// that is itself a carried value, overwritten by an earlier copy, is saved first.
  void carry(OpId exit, const Open& loop) {
    const auto from = p_.operands(exit);
    const BlockId header = p_.block(loop.op, 0);
    const uint32_t skip = p_.op(loop.op).code == Opcode::For ? 1 : 0;
    std::vector<Slot> sources(from.size());
    std::vector<size_t> aside;
    for (size_t k = 0; k < from.size(); ++k) {
      const Value& v = p_.values[from[k]];
      sources[k] = slot(from[k]);
      const bool is_carried = v.def == none && v.block == header && v.index >= skip;
      if (!is_carried || v.index - skip >= k || sources[k] == loop.carried[k]) continue;
      const Slot temporary = slots_.take(width(from[k]));
      copy(Do::Copy, exit, temporary, sources[k], width(from[k]));
      sources[k] = temporary;
      aside.push_back(k);
    }
    for (size_t k = 0; k < from.size(); ++k)
      copy(Do::CopyActive, exit, loop.carried[k], sources[k], width(from[k]));
    for (const size_t k : aside) slots_.give(sources[k], width(from[k]));
  }

  void leave_block(OpId id) {
    const Op& op = p_.op(id);
    const OpId parent = p_.blocks[op.parent].parent;
    switch (op.code) {
      case Opcode::Yield:
        if (is_loop(p_.op(parent).code)) {
          carry(id, open_.back());
        } else {
          const auto from = p_.operands(id);
          const auto to = p_.results(parent);
          for (size_t k = 0; k < from.size(); ++k)
            copy(Do::CopyActive, id, slot(to[k]), slot(from[k]), width(from[k]));
        }
        break;
      case Opcode::Test: {
        Open& o = open_.back();
        o.test = here_of(Do::Test, id);
        code_.instrs[o.test].in[0] = slot(p_.operand(id, 0));
        break;
      }
      case Opcode::Break:
        carry(id, open_[loops_.back()]);
        emit(Do::Break, id);
        break;
      case Opcode::Continue: {
        const Open& loop = open_[loops_.back()];
        carry(id, loop);
        emit(Do::Continue, id).mask_b = loop.mask_b;
        break;
      }
      case Opcode::Return: emit(Do::Return, id); break;
      case Opcode::Trap: emit(Do::Trap, id).in[0] = slot(p_.operand(id, 0)); break;
      default: break;
    }
    release(id);
  }

  // Blocks. Instructions that may have no active lane left jump to the end of the enclosing block;
  // until its position is known they form a chain through their `escape` fields.

  void may_escape(uint32_t instr) {
    code_.instrs[instr].escape = chains_.back();
    chains_.back() = instr;
  }
  void end_chain(uint32_t to) {
    for (uint32_t i = chains_.back(); i != chain_end;) {
      const uint32_t next = code_.instrs[i].escape;
      code_.instrs[i].escape = to;
      i = next;
    }
    chains_.pop_back();
  }

  bool is_region(BlockId block) const {
    const OpId parent = p_.blocks[block].parent;
    return parent != none && p_.op(parent).code == Opcode::Region;
  }

  void enter(BlockId block) {
    if (is_region(block)) return;  // it uses the chain of the enclosing block
    chains_.push_back(chain_end);
    const OpId parent = p_.blocks[block].parent;
    if (parent == none || p_.op(parent).code != Opcode::If || block != p_.block(parent, 1)) return;
    const Open& o = open_.back();  // the else block begins
    code_.instrs[o.begin].target = here();
    code_.instrs[o.then_end].target = here();
  }

  void leave(BlockId block) {
    const OpId parent = p_.blocks[block].parent;
    if (parent == none) {
      end_chain(here_of(Do::End, none));
      return;
    }
    const Opcode code = p_.op(parent).code;
    if (code == Opcode::If)
      leave_arm(parent, block == p_.block(parent, 1));
    else if (code == Opcode::While && block == p_.block(parent, 0))
      end_chain(open_.back().test);
    else if (code == Opcode::Region)
      close(parent);
    else
      leave_loop(parent);
  }

  void leave_arm(OpId id, bool is_else) {
    const Open& o = open_.back();
    uint32_t end = chain_end;
    if (!is_else || !o.else_empty) {
      end = here_of(Do::ArmEnd, id);
      Instr& i = code_.instrs[end];
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
      // For the end of the else block; the then block's target is set when the else block begins.
      i.target = o.begin + 1;
    }
    end_chain(end);
    if (!is_else) {
      open_.back().then_end = end;
      return;
    }
    code_.instrs[o.begin].exit = here();
    code_.instrs[o.then_end].exit = here();
    if (end != chain_end) code_.instrs[end].exit = here();
    may_escape(o.then_end);
    if (end != chain_end) may_escape(end);
    close(id);
  }

  void leave_loop(OpId id) {
    const Open& o = open_.back();
    const bool is_for = p_.op(id).code == Opcode::For;
    const uint32_t next = here_of(is_for ? Do::ForNext : Do::WhileNext, id);
    {
      const Instr& first = code_.instrs[o.begin];
      Instr& i = code_.instrs[next];
      i.in = first.in;
      i.out = first.out;
      i.bits = first.bits;
      i.loop = first.loop;
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
      i.target = o.body;
    }
    end_chain(next);
    const uint32_t end = here_of(Do::LoopEnd, id);
    code_.instrs[end].mask_a = o.mask_a;
    code_.instrs[o.begin].exit = end;
    code_.instrs[next].exit = end;
    if (!is_for) code_.instrs[o.test].exit = end;
    may_escape(end);
    loops_.pop_back();
    loop_ = loops_.empty() ? none : open_[loops_.back()].op;
    close(id);
  }

  void close(OpId id) {
    const Open& o = open_.back();
    if (o.mask_a != no_slot) {
      slots_.give_mask(o.mask_a);
      slots_.give_mask(o.mask_b);
    }
    open_.pop_back();
    release(id);
  }

  std::vector<Open> open_;
  std::vector<uint32_t> loops_;   // indices into open_
  std::vector<uint32_t> chains_;  // one for each open block that does not belong to a region
};

}  // namespace

FlatCode compile(const Program& program, uint64_t max_groups, bool observed) {
  return Compiler(program, max_groups, observed).run();
}

}  // namespace vyre::interp
