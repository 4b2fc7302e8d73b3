#pragma once

// Analysis of a program in the form that structure_exits() produces, for the splitter. Runs in time
// linear in the number of ops.
//
// The ops that hold a grid barrier, and the body, make a tree; a value that belongs to a block of
// the tree is a top value. Only top values can live across a split point. Every other op of those
// blocks is plain: it belongs as a whole to one segment.

#include <vector>

#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre::plan {

/// A plain op with everything in it.
struct PlainOp {
  bool effect = false;             // must be executed even if its results are unused
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
  /// By value: an effect or a branch depends on it.
  IdMap<ValueId, bool> needed;
  /// By value: the number of ops that compute it from only constants, ids, lengths, scalars and
  /// loop variables of the host; `never` if that is impossible, or spilling is better.
  IdMap<ValueId, uint8_t> cost;
  static constexpr uint8_t never = 255;
  /// By op: a grid's uniform_load whose second barrier has no observable effect.
  IdMap<OpId, bool> merged;

  bool is_split_loop(OpId op) const { return splits[op] && p.op(op).code == Opcode::While; }
  ValueId test_of(OpId loop) const { return p.operand(p.blocks[p.op(loop).first_block].last, 0); }
  /// True if the host counts the loop.
  bool is_host_loop(OpId loop) const { return host[test_of(loop)]; }
  /// The exit of a block of a split op.
  OpId end_of(OpId op, uint32_t block) const { return p.blocks[p.op(op).first_block + block].last; }
  bool yields(OpId op, uint32_t block) const {
    return p.op(end_of(op, block)).code == Opcode::Yield;
  }
  /// True if it is an argument or a result of a split loop. Those live in memory or on the host
  /// only.
  bool is_carried(ValueId v) const;
  /// A scalar of the segments that use it but do not define it: the host computes it.
  bool is_parameter(ValueId v) const {
    return parameters && host[v] && (cost[v] == never || is_carried(v));
  }
  /// Returns the value whose slot v has: results of a split loop share that of the argument.
  ValueId home(ValueId v) const;
  /// True if a plain op must be executed.
  bool wanted(OpId op) const;

 private:
  void find_plain_ops();
  void find_costs();
  void find_host_values();
  void find_needed_values();
};

}  // namespace vyre::plan
