#include "check/check_types.h"

#include <fmt/format.h>

namespace vyre {
namespace {

class TypeCheck {
 public:
  TypeCheck(const Program& p, Reporter& r) : p_(p), r_(r) {}

  void check(OpId id) {
    const Op& op = p_.ops[id];
    const OpInfo& row = info(op.code);
    if (!check_op_type(id)) return;  // later errors would only repeat it
    if (row.operands != "?") {
      check_operands(id);
      check_results(id);
    }
    if (op.code == Opcode::Const) check_constant(id);
    if (op.code == Opcode::Bitcast) check_bitcast(id);
    if (row.attribute == AttrKind::Memory || row.attribute == AttrKind::Buffer)
      check_access(p_, id, r_);
    if (is_control(op.code)) check_control(id);
    if (op.code == Opcode::Yield) check_exit(id, p_.blocks[op.parent].parent);
    if (op.code == Opcode::Break || op.code == Opcode::Continue) check_exit(id, loops_.back());
  }

  // Loops are entered and left in program order, so the innermost one is known without a search.
  void enter(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner != none && is_loop(p_.ops[owner].code)) loops_.push_back(owner);
  }
  void leave(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner != none && is_loop(p_.ops[owner].code)) loops_.pop_back();
  }

 private:
  bool check_op_type(OpId id) {
    const Op& op = p_.ops[id];
    const OpInfo& row = info(op.code);
    if (contains(row.types, op.type)) return true;
    if (row.types == TypeSet::F32 && op.type == Type::F64) {
      r_.at_op(Code::FunctionOfF64, id, fmt::format("`{}` is there for f32 only", row.mnemonic))
          .with_fix(fmt::format("convert: `f64({}(f32(x)))`", row.mnemonic));
      return false;
    }
    if (row.types == TypeSet::None) {
      r_.at_op(Code::OpTypeNotAllowed, id,
               fmt::format("`{}` has no type of its own, but is marked {}", row.mnemonic,
                           name(op.type)));
      return false;
    }
    Diagnostic& d = r_.at_op(
        is_atomic(op.code) ? Code::AtomicElement : Code::OpTypeNotAllowed, id,
        fmt::format("`{}` takes {}, not {}", row.mnemonic, describe(row.types), name(op.type)));
    if (op.code == Opcode::Neg && is_unsigned(op.type))
      d.with_fix("write `0 - x`, or convert to a signed type first");
    else if (is_atomic(op.code))
      d.with_fix("use elements of 32 or 64 bits");
    else
      d.with_fix(fmt::format("convert the operands to {}", describe(row.types)));
    return false;
  }

  // Returns whether `t` matches the letter of a signature.
  static bool fits(char letter, Type t, Type op_type) {
    if (letter == 'I') return is_integer(t);
    if (letter == 'S') return is_value(t);
    return t == result_type(letter, op_type);
  }

  static std::string expected(char letter, Type op_type) {
    if (letter == 'I') return "an integer";
    return std::string(name(result_type(letter, op_type)));
  }

  void check_operands(OpId id) {
    const Op& op = p_.ops[id];
    const OpInfo& row = info(op.code);
    const auto operands = p_.operands(id);
    for (uint32_t i = 0; i < operands.size(); ++i) {
      const char letter = row.operands[std::min<size_t>(i, row.operands.size() - 1)];
      const Type t = p_.type(operands[i]);
      if (fits(letter, t, op.type)) continue;
      wrong_operand(id, i, t, expected(letter, op.type));
    }
  }

  void wrong_operand(OpId id, uint32_t i, Type has, const std::string& expects) {
    r_.at_op(Code::OperandType, id,
             fmt::format("operand {} of `{}` must be {}, not {}", i + 1, mnemonic(p_.ops[id].code),
                         expects, name(has)))
        .with_fix("convert it with a cast");
  }

  void check_results(OpId id) {
    const Op& op = p_.ops[id];
    const Type t = result_type(info(op.code).result, op.type);
    for (const ValueId v : p_.results(id))
      if (p_.type(v) != t)
        r_.at_op(Code::ResultType, id,
                 fmt::format("the result of this `{}` is {}, not {}", mnemonic(op.code), name(t),
                             name(p_.type(v))));
  }

  void check_constant(OpId id) {
    const Op& op = p_.ops[id];
    if ((op.attr & ~low_mask(width_of(op.type))) == 0) return;
    r_.at_op(Code::ConstantTooWide, id,
             fmt::format("the constant {:#x} has more bits than {}", op.attr, name(op.type)));
  }

  void check_bitcast(OpId id) {
    const Type from = p_.type(p_.operand(id, 0));
    const Type to = p_.ops[id].type;
    if (width_of(from) == width_of(to)) return;
    r_.at_op(Code::BitcastOfOtherWidth, id,
             fmt::format("`bitcast` from {} ({} bits) to {} ({} bits): the widths must be equal",
                         name(from), width_of(from), name(to), width_of(to)))
        .with_fix(fmt::format("convert the value with `{}(…)`, or choose a type of {} bits",
                              name(to), width_of(from)));
  }

  void check_control(OpId id) {
    const Op& op = p_.ops[id];
    if (op.code == Opcode::If && p_.type(p_.operand(id, 0)) != Type::Bool)
      wrong_operand(id, 0, p_.type(p_.operand(id, 0)), "bool");
    uint32_t first = 0;  // operand that is the first initial value
    if (op.code == Opcode::For) {
      first = 3;
      check_counter(id);
    }
    if (!is_loop(op.code)) return;
    const auto args = p_.args(op.first_block).subspan(op.code == Opcode::For ? 1 : 0);
    for (uint32_t i = 0; i < op.results.count; ++i) {
      const Type t = p_.type(p_.result(id, i));
      if (p_.type(args[i]) == t && p_.type(p_.operand(id, first + i)) == t) continue;
      r_.at_op(Code::CarriedType, id,
               fmt::format("carried value {} of this `{}` begins as {}, is {} in the body and {} "
                           "after it",
                           i + 1, mnemonic(op.code), name(p_.type(p_.operand(id, first + i))),
                           name(p_.type(args[i])), name(t)));
    }
  }

  void check_counter(OpId id) {
    const Type t = p_.type(p_.operand(id, 0));
    if (!is_integer(t)) wrong_operand(id, 0, t, "an integer");
    for (uint32_t i = 1; i < 3; ++i)
      if (p_.type(p_.operand(id, i)) != t)
        wrong_operand(id, i, p_.type(p_.operand(id, i)), std::string(name(t)));
    const Type counter = p_.type(p_.args(p_.ops[id].first_block)[0]);
    if (counter != t)
      r_.at_op(Code::CarriedType, id,
               fmt::format("the counter of this `for` is {}, its bounds are {}", name(counter),
                           name(t)));
  }

  void check_exit(OpId exit, OpId target) {
    for (uint32_t i = 0; i < p_.ops[exit].operands.count; ++i) {
      const Type has = p_.type(p_.operand(exit, i));
      const Type wants = p_.type(p_.result(target, i));
      if (has == wants) continue;
      r_.at_op(Code::CarriedType, exit,
               fmt::format("value {} of this `{}` is {}, but result {} of its `{}` is {}", i + 1,
                           mnemonic(p_.ops[exit].code), name(has), i + 1,
                           mnemonic(p_.ops[target].code), name(wants)))
          .note("the result is of this op", r_.place_of(target));
    }
  }

  const Program& p_;
  Reporter& r_;
  std::vector<OpId> loops_;
};

}  // namespace

void check_types(const Program& program, Reporter& report) {
  TypeCheck check(program, report);
  walk_blocks(program, body_block, [&](Visit what, OpId op, BlockId block) {
    if (what == Visit::EnterBlock) check.enter(block);
    if (what == Visit::LeaveBlock) check.leave(block);
    if (what == Visit::Op && !report.full()) check.check(op);
  });
}

}  // namespace vyre
