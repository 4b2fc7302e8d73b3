// The links: from the body down, each op and each block is visited exactly once. Then which exit
// ends which block, and with how many values.

#include <fmt/format.h>

#include <vector>

#include "check/check_limits.h"
#include "check/check_structure.h"

namespace vyre {
namespace {

class TreeCheck {
 public:
  TreeCheck(const Program& p, Reporter& r) : p_(p), r_(r), seen_block_(p.blocks.size()) {}

  bool run() {
    enter(body_block, none);
    while (!stack_.empty() && !stop_) step();
    if (!stop_ && (ops_met_ != p_.ops.size() || blocks_met_ != p_.blocks.size()))
      broken("it has ops or blocks that do not belong to its body");
    return !stop_ && !r_.has_errors();
  }

 private:
  // A block whose ops are being visited.
  struct Frame {
    BlockId block = body_block;
    OpId at = none;        // the next op of the block
    OpId before = none;    // the op visited last
    OpId owner = none;     // the op whose blocks are being entered
    uint32_t pending = 0;  // which of them comes next
    OpId loop = none;      // the innermost loop whose body this is part of
    bool in_test = false;  // inside a while's test, with no loop between
  };

  // Invalid links end the check: later errors would only repeat it.
  void broken(std::string message) {
    r_.at_kernel(Code::BrokenProgram, "the program is not a tree: " + std::move(message));
    stop_ = true;
  }

  void enter(BlockId id, OpId owner) {
    const Block& b = p_.blocks[id];
    if (seen_block_[id] || b.parent != owner)
      return broken(fmt::format("block {} does not belong to the op that holds it", id.value()));
    seen_block_[id] = true;
    ++blocks_met_;
    Frame f;
    f.block = id;
    f.at = b.first;
    if (!stack_.empty()) {
      f.loop = stack_.back().loop;
      f.in_test = stack_.back().in_test;
    }
    if (owner != none) {
      check_arguments(id, owner);
      if (is_loop(p_.ops[owner].code)) {
        f.in_test = is_test(id, owner);
        f.loop = f.in_test ? none : owner;
      }
    } else if (b.args.count != 0) {
      return broken("its body has arguments");
    }
    if (stack_.size() > limits::nesting) {
      r_.at_op(Code::NestingOverLimit, owner,
               fmt::format("more than {} blocks are nested here", limits::nesting))
          .with_fix("put the inner part into a kernel of its own, or into a loop");
      stop_ = true;
    }
    stack_.push_back(f);
  }

  bool is_test(BlockId block, OpId owner) const {
    return p_.ops[owner].code == Opcode::While && block == p_.ops[owner].first_block;
  }

  void check_arguments(BlockId block, OpId owner) {
    const Op& op = p_.ops[owner];
    uint32_t expected = 0;
    if (op.code == Opcode::For) expected = 1 + op.results.count;
    if (is_test(block, owner)) expected = op.results.count;
    if (p_.blocks[block].args.count != expected)
      r_.at_op(Code::WrongOperandCount, owner,
               fmt::format("a block of this `{}` has {} arguments, not {}", mnemonic(op.code),
                           expected, p_.blocks[block].args.count));
  }

  void step() {
    Frame& f = stack_.back();
    if (f.owner != none) {
      const Op& op = p_.ops[f.owner];
      if (f.pending < op.n_blocks) return enter(op.first_block + f.pending++, f.owner);
      f.owner = none;
    }
    if (f.at == none) {
      leave(f);
      stack_.pop_back();
      return;
    }
    meet(f);
  }

  void meet(Frame& f) {
    const OpId id = f.at;
    const Op& op = p_.ops[id];
    // A block is visited once, and an op names the op before it in the block, so no op is visited
    // twice.
    if (op.parent != f.block || op.prev != f.before)
      return broken(fmt::format("op {} is not linked into exactly one block", id.value()));
    ++ops_met_;
    f.before = id;
    f.at = op.next;
    f.pending = 0;
    if (op.n_blocks) f.owner = id;
    if (!is_exit(op.code)) return;
    if (op.next != none)
      r_.at_op(Code::MisplacedExit, id,
               fmt::format("`{}` ends its block, but more ops follow", mnemonic(op.code)));
    else
      check_exit(id, f);
  }

  void leave(const Frame& f) {
    const Block& b = p_.blocks[f.block];
    if (b.last != f.before)
      return broken(fmt::format("block {} ends at another op", f.block.value()));
    if (b.last != none && is_exit(p_.ops[b.last].code)) return;
    const char* text = "a block ends without `yield`, `break`, `continue`, `return` or `trap`";
    if (b.last != none)
      r_.at_op(Code::MisplacedExit, b.last, text);
    else if (b.parent != none)
      r_.at_op(Code::MisplacedExit, b.parent, text);
    else
      r_.at_kernel(Code::MisplacedExit, "the kernel's body is empty: it must end with `return`");
  }

  void check_exit(OpId id, const Frame& f) {
    const Op& op = p_.ops[id];
    const OpId owner = p_.blocks[f.block].parent;
    const bool ends_test = owner != none && is_test(f.block, owner);
    if (ends_test != (op.code == Opcode::Test)) {
      r_.at_op(Code::MisplacedExit, id,
               ends_test ? fmt::format("the test of a `while` ends with `test`, not `{}`",
                                       mnemonic(op.code))
                         : "`test` stands only at the end of a `while`'s test");
      return;
    }
    if (op.code == Opcode::Yield) {
      if (owner == none)
        r_.at_op(Code::MisplacedExit, id, "the kernel's body ends with `return`, not `yield`");
      else
        check_count(id, owner);
    }
    if (op.code == Opcode::Break || op.code == Opcode::Continue) {
      if (f.loop == none)
        r_.at_op(Code::ExitOutsideLoop, id,
                 fmt::format("`{}` {}", mnemonic(op.code),
                             f.in_test ? "stands in the test of a `while`, not in its body"
                                       : "stands outside of every loop"))
            .with_fix("move it into the body of a `for` or `while`");
      else
        check_count(id, f.loop);
    }
  }

  // Every exit has as many values as the op that it leaves or continues has results.
  void check_count(OpId exit, OpId target) {
    const uint32_t has = p_.ops[exit].operands.count;
    const uint32_t expected = p_.ops[target].results.count;
    if (has == expected) return;
    r_.at_op(
        Code::ExitDoesNotFit, exit,
        fmt::format("`{}` gives {} values to a `{}` with {} results", mnemonic(p_.ops[exit].code),
                    has, mnemonic(p_.ops[target].code), expected));
  }

  const Program& p_;
  Reporter& r_;
  IdMap<BlockId, bool> seen_block_;
  std::vector<Frame> stack_;
  size_t ops_met_ = 0;
  size_t blocks_met_ = 0;
  bool stop_ = false;
};

}  // namespace

bool check_tree(const Program& program, Reporter& report) {
  return TreeCheck(program, report).run();
}

}  // namespace vyre
