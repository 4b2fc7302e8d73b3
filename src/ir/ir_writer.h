#pragma once

// Appends ops to a block of a program that is being made, and copies ops into it from another one.

#include <initializer_list>
#include <vector>

#include "ir/program.h"

namespace vyre::plan {

class Writer {
 public:
  explicit Writer(Program& program) : p(program) {}

  Program& p;
  BlockId block = body_block;
  LocId loc = none;

  OpId add(Opcode code, Type type, std::span<const ValueId> operands, uint64_t attr = 0) {
    const Type result = result_type(info(code).result, type);
    const OpId id = p.add_op(code, type, operands,
                             {&result, result == Type::Void ? size_t{0} : size_t{1}}, attr, loc);
    p.append(block, id);
    return id;
  }
  ValueId op(Opcode code, Type type, std::initializer_list<ValueId> operands, uint64_t attr = 0) {
    return p.result(add(code, type, {operands.begin(), operands.size()}, attr));
  }
  void effect(Opcode code, Type type, std::initializer_list<ValueId> operands, uint64_t attr = 0) {
    add(code, type, {operands.begin(), operands.size()}, attr);
  }
  ValueId constant(Type type, uint64_t bits) {
    return op(Opcode::Const, type, {}, bits & low_mask(width_of(type)));
  }
  ValueId no() { return constant(Type::Bool, 0); }
  ValueId yes() { return constant(Type::Bool, 1); }

  /// A control op whose results come later; its blocks are empty and the writer stays where it is.
  OpId open(Opcode code, std::span<const ValueId> operands, uint32_t blocks, uint64_t attr = 0) {
    const OpId id = p.add_op(code, Type::Void, operands, {}, attr, loc);
    p.append(block, id);
    p.op(id).n_blocks = static_cast<uint8_t>(blocks);
    p.op(id).first_block = static_cast<BlockId>(p.blocks.size());
    for (uint32_t i = 0; i < blocks; ++i) p.add_block(id);
    return id;
  }
  /// Gives an op its results.
  std::vector<ValueId> set_results(OpId id, std::span<const Type> types) {
    std::vector<ValueId> results;
    for (uint32_t i = 0; i < types.size(); ++i) {
      results.push_back(static_cast<ValueId>(p.values.size()));
      p.values.push_back({types[i], id, none, i});
    }
    p.op(id).results = p.add_list(results);
    return results;
  }
  /// Ends the current block.
  void exit(Opcode code, std::span<const ValueId> operands) {
    p.append(block, p.add_op(code, Type::Void, operands, {}, 0, loc));
  }
};

/// Copies ops of `from` to where a writer stands. Values are replaced by `map`, where the copy's
/// results are entered.
class Copier {
 public:
  Copier(const Program& from, Writer& writer)
      : from_(from), w_(writer), map(from.values.size(), none) {}
  virtual ~Copier() = default;

  /// One op with everything in it. Iterative.
  void copy(OpId op) {
    copy_one(op, w_.block);
    const Op& o = from_.op(op);
    for (uint32_t i = 0; i < o.n_blocks; ++i)
      walk_blocks(from_, o.first_block + i, [&](Visit what, OpId op, BlockId block) {
        if (what == Visit::EnterBlock) copy_arguments(block);
        if (what == Visit::Op) copy_one(op, blocks_[from_.op(op).parent]);
      });
  }

 protected:
  virtual LocId location(LocId loc) { return loc; }
  virtual StringId string(StringId s) { return s; }
  const Program& from_;
  Writer& w_;
  bool narrow_loads_ = false;  // uniform loads of the grid become those of a workgroup

 private:
  void copy_one(OpId id, BlockId into) {
    const Op& o = from_.op(id);
    operands_.clear();
    types_.clear();
    for (const ValueId v : from_.operands(id)) operands_.push_back(map[v]);
    for (const ValueId v : from_.results(id)) types_.push_back(from_.type(v));
    uint64_t attr = o.attr;
    if (info(o.code).attribute == AttrKind::Name) attr = string(static_cast<StringId>(attr));
    if (o.code == Opcode::UniformLoad && narrow_loads_) {
      MemoryRef m = MemoryRef::unpack(attr);
      m.scope = Scope::Workgroup;
      attr = m.pack();
    }
    Program& p = w_.p;
    const OpId copy = p.add_op(o.code, o.type, operands_, types_, attr, location(o.loc));
    p.append(into, copy);
    for (uint32_t i = 0; i < o.results.count; ++i) map[from_.result(id, i)] = p.result(copy, i);
    if (o.n_blocks == 0) return;
    p.op(copy).n_blocks = o.n_blocks;
    p.op(copy).first_block = static_cast<BlockId>(p.blocks.size());
    if (blocks_.size() < from_.blocks.size()) blocks_.resize(from_.blocks.size());
    for (uint32_t i = 0; i < o.n_blocks; ++i) blocks_[o.first_block + i] = p.add_block(copy);
  }

  void copy_arguments(BlockId block) {
    for (const ValueId v : from_.args(block))
      map[v] = w_.p.add_argument(blocks_[block], from_.type(v));
  }

  IdMap<BlockId, BlockId> blocks_;
  std::vector<ValueId> operands_;
  std::vector<Type> types_;

 public:
  IdMap<ValueId, ValueId> map;
};

}  // namespace vyre::plan
