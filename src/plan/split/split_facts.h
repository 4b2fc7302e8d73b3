#pragma once

// What the splitter knows of a program in the form that structure_exits() gives. Linear.
//
// The ops that hold a grid barrier, and the body, make a tree; a value that belongs to a block of
// the tree is a top value. Only top values can live across a cut. Every other op of those blocks is
// plain: it goes as a whole into one segment.

#include <vector>

#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre::plan {

/// A plain op with everything in it.
struct PlainOp {
  bool effect = false;             // must be executed even if nobody uses its results
  bool sync = false;               // needs uniform flow somewhere inside
  uint64_t reads = 0, writes = 0;  // buffers, by bit
};

struct SplitFacts {
  /// `parameters`: segments may have scalars that the host computes.
  SplitFacts(const Program& program, bool parameters);

  const Program& p;
  const bool parameters;
  IdMap<OpId, bool> splits;    // by op: holds a grid barrier
  IdMap<ValueId, bool> top;    // by value
  IdMap<OpId, PlainOp> plain;  // by op; of plain ops
  UniformityInfo uniformity;
  /// By value: known to the host from constants, scalars, lengths and the number of workgroups.
  IdMap<ValueId, bool> host;
  /// By value: something that happens depends on it.
  IdMap<ValueId, bool> needed;
  /// By value: how many ops it takes to compute it from nothing but constants, ids, lengths,
  /// scalars and loop variables of the host; `never` if it cannot be, or is better kept.
  IdMap<ValueId, uint8_t> cost;
  static constexpr uint8_t never = 255;
  /// By op: a grid's uniform_load whose second barrier nobody could notice.
  IdMap<OpId, bool> merged;

  bool is_split_loop(OpId op) const { return splits[op] && p.op(op).code == Opcode::While; }
  ValueId test_of(OpId loop) const { return p.operand(p.blocks[p.op(loop).first_block].last, 0); }
  /// Does the host count the loop?
  bool is_host_loop(OpId loop) const { return host[test_of(loop)]; }
  /// The exit of a block of a split op.
  OpId end_of(OpId op, uint32_t block) const { return p.blocks[p.op(op).first_block + block].last; }
  bool yields(OpId op, uint32_t block) const {
    return p.op(end_of(op, block)).code == Opcode::Yield;
  }
  /// Is it an argument or a result of a split loop? Those live in memory or on the host only.
  bool is_carried(ValueId v) const;
  /// A scalar of the segments that use it but do not define it: the host computes it.
  bool is_parameter(ValueId v) const {
    return parameters && host[v] && (cost[v] == never || is_carried(v));
  }
  /// Whose place in memory a value has: results of a split loop share that of the argument.
  ValueId home(ValueId v) const;
  /// Must a plain op be executed?
  bool wanted(OpId op) const;

 private:
  void find_plain_ops();
  void find_costs();
  void find_host_values();
  void find_needed_values();
};

}  // namespace vyre::plan
