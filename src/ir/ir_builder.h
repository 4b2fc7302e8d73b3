#pragma once

// IrBuilder adds ops to a program, at the end of a block or before an op. The front end's
// SsaBuilder, the code that plans and transforms write, legalization and the optimizer's rewriter
// are built on it.
//
//   IrBuilder b(program);
//   b.at_end(block);  or  b.before(op);    where the next ops go; before() takes the op's location
//   const ValueId sum = b.op(Opcode::Add, Type::U32, {x, b.constant(Type::U32, 1)});

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace vyre {

class IrBuilder {
 public:
  explicit IrBuilder(Program& program) : p(program) {}

  Program& p;
  BlockId block = body_block;  // new ops are inserted at its end,
  OpId next = none;            // or before this op
  LocId loc = none;            // of new ops

  void at_end(BlockId b) {
    block = b;
    next = none;
  }
  void before(OpId op) {
    next = op;
    loc = p.op(op).loc;
  }

  /// Calls fn() with the insertion point at the end of a block, and returns what it returns.
  template <class Fn>
  decltype(auto) in(BlockId b, Fn&& fn) {
    struct Restore {
      IrBuilder& builder;
      BlockId block;
      OpId next;
      ~Restore() { builder.block = block, builder.next = next; }
    } restore{*this, block, next};
    at_end(b);
    return fn();
  }

  /// Adds any op.
  OpId add(Opcode code, Type type, std::span<const ValueId> operands, std::span<const Type> results,
           uint64_t attr = 0);
  /// Adds an op whose result follows from its row of the table of ops.
  OpId add(Opcode code, Type type, std::span<const ValueId> operands, uint64_t attr = 0) {
    const Type result = result_type(info(code).result, type);
    return add(code, type, operands, {&result, result == Type::Void ? size_t{0} : size_t{1}}, attr);
  }
  /// The same, and returns the result, or none for an op that has none.
  ValueId op(Opcode code, Type type, std::span<const ValueId> operands, uint64_t attr = 0) {
    const OpId id = add(code, type, operands, attr);
    return p.op(id).results.count == 0 ? ValueId() : p.result(id);
  }
  ValueId op(Opcode code, Type type, std::initializer_list<ValueId> operands, uint64_t attr = 0) {
    return op(code, type, std::span(operands.begin(), operands.size()), attr);
  }
  /// The same for an op without a result: stores, barriers, exits.
  void effect(Opcode code, Type type, std::initializer_list<ValueId> operands, uint64_t attr = 0) {
    add(code, type, std::span(operands.begin(), operands.size()), attr);
  }
  ValueId boolean(bool value) { return constant(Type::Bool, value); }
  ValueId constant(Type type, uint64_t bits) {
    return op(Opcode::Const, type, {}, bits & low_mask(width_of(type)));
  }

  /// Adds a control op with empty blocks. set_results() may add its results later; the insertion
  /// point stays.
  OpId open(Opcode code, std::span<const ValueId> operands, uint32_t blocks, uint64_t attr = 0);
  /// Adds blocks to an op that has none, and returns the first.
  BlockId add_blocks(OpId op, uint32_t count);
  /// Adds the results of an op, and returns them.
  std::vector<ValueId> set_results(OpId op, std::span<const Type> types);
  /// Adds an exit: yield, break, return …
  OpId exit(Opcode code, std::span<const ValueId> values = {}) {
    return add(code, Type::Void, values, std::span<const Type>());
  }
  /// Adds an `if` without results, whose else block is empty, and returns its then block, which
  /// needs an exit.
  BlockId add_if(ValueId condition);
};

}  // namespace vyre
