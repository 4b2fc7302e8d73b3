// Ops, blocks and loops.

#include "reduce/rewrite.h"

namespace vyre::reduce {
namespace {

/// Returns whether the op is removed already, or an exit.
bool is_skipped(const Program& p, const opt::Rewriter& r, OpId op) {
  return !r.is_there(op) || is_exit(p.op(op).code);
}

void remove_op(Program& p, opt::Rewriter& r, OpId op, const IdMap<ValueId, uint32_t>& uses) {
  const auto results = p.results(op);
  bool used = false;
  for (const ValueId v : results) used = used || uses[v] > 0;
  if (used) replace_results(p, r, op);
  r.remove(op);
}

/// Counts from 0 to `trips` by 1.
void set_bounds(Program& p, opt::Rewriter& r, OpId loop, Type type, uint64_t trips) {
  const ValueId bounds[] = {r.insert_constant(loop, type, 0), r.insert_constant(loop, type, trips),
                            r.insert_constant(loop, type, 1)};
  const Range operands = p.op(loop).operands;
  for (uint32_t i = 0; i < 3; ++i) p.ids[operands.begin + i] = bounds[i];
}

/// True if the loop counts from 0 by 1 to at most `trips`.
bool has_bounds(const opt::Rewriter& r, OpId loop, uint64_t trips) {
  const auto lo = r.constant(r.operand(loop, 0)), hi = r.constant(r.operand(loop, 1)),
             step = r.constant(r.operand(loop, 2));
  return lo && hi && step && *lo == 0 && *step == 1 && *hi <= trips;
}

/// Moves all ops of a block to the end of another one.
void move_ops(Program& p, BlockId from, BlockId to) {
  for (OpId at = p.blocks[from].first; at != none;) {
    const OpId next = p.op(at).next;
    p.unlink(at);
    p.append(to, at);
    at = next;
  }
}

/// The body of the `for` is the test followed by the body of the `while`.
void make_for(Program& p, opt::Rewriter& r, OpId loop, uint64_t trips) {
  const BlockId test = p.block(loop, 0), body = p.block(loop, 1);
  const BlockId joined = p.add_block(loop);
  p.add_argument(joined, Type::U32);
  const auto args = p.args(test);
  const std::vector<ValueId> carried(args.begin(), args.end());
  std::vector<ValueId> now;
  for (const ValueId v : carried) now.push_back(p.add_argument(joined, p.type(v)));
  const auto inits = p.operands(loop);
  std::vector<ValueId> operands(3, ValueId(0));
  operands.insert(operands.end(), inits.begin(), inits.end());
  p.op(loop).operands = p.add_list(operands);
  set_bounds(p, r, loop, Type::U32, trips);  // registers the new values with `r`, too
  for (size_t i = 0; i < carried.size(); ++i) r.replace(carried[i], now[i]);
  r.remove(p.blocks[test].last);
  move_ops(p, test, joined);
  move_ops(p, body, joined);
  Op& o = p.op(loop);
  o.code = Opcode::For;
  o.n_blocks = 1;
  o.first_block = joined;
}

void unwrap_for(Program& p, opt::Rewriter& r, OpId loop) {
  for (const OpId exit : own_exits(p, loop)) make_yield(p, r, exit);
  const BlockId body = p.block(loop, 0);
  const auto args = p.args(body);
  const std::vector<ValueId> list(args.begin(), args.end());
  for (size_t i = 0; i < list.size(); ++i)
    r.replace(list[i], r.operand(loop, i == 0 ? 0 : uint32_t(i) + 2));
  r.dissolve(loop, 0);
}

constexpr uint64_t trip_counts[] = {1, 2, 4};

}  // namespace

void remove_ops(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const IdMap<ValueId, uint32_t> uses = count_uses(p);
    // From the end: uses are removed before definitions.
    const std::vector<OpId>& order = r.ops();
    for (size_t i = order.size(); i-- > 0;) {
      const OpId op = order[i];
      if (is_skipped(p, r, op)) continue;
      if (p.op(op).code == Opcode::Const && uses[p.result(op)] > 0) continue;
      if (choice.take()) remove_op(p, r, op, uses);
    }
  });
}

void exits_to_yields(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const std::vector<OpId> order = r.ops();
    for (const OpId op : order) {
      const Opcode code = p.op(op).code;
      if (code == Opcode::Trap && p.op(op).parent == body_block) {
        if (!choice.take()) continue;
        p.op(op).code = Opcode::Return;
        p.op(op).operands.count = 0;
        r.mark_changed();
      } else if (code == Opcode::Break || code == Opcode::Continue ||
                 ((code == Opcode::Return || code == Opcode::Trap) &&
                  p.op(op).parent != body_block)) {
        if (choice.take()) make_yield(p, r, op);
      }
    }
  });
}

void bound_whiles(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const std::vector<OpId> order = r.ops();
    for (const uint64_t trips : trip_counts)
      for (const OpId op : order)
        if (r.is_there(op) && p.op(op).code == Opcode::While && choice.take())
          make_for(p, r, op, trips);
  });
}

void unwrap_blocks(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const std::vector<OpId> order = r.ops();
    for (uint32_t block = 0; block < 2; ++block)
      for (const OpId op : order) {
        if (!r.is_there(op)) continue;
        const Opcode code = p.op(op).code;
        if (code != Opcode::If && (block == 1 || (code != Opcode::For && code != Opcode::Region)))
          continue;
        if (!choice.take()) continue;
        if (code == Opcode::For)
          unwrap_for(p, r, op);
        else
          r.dissolve(op, block);
      }
  });
}

void shorten_loops(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const std::vector<OpId> order = r.ops();
    for (const uint64_t trips : trip_counts)
      for (const OpId op : order) {
        if (p.op(op).code != Opcode::For || has_bounds(r, op, trips)) continue;
        if (choice.take()) set_bounds(p, r, op, p.type(p.args(p.block(op, 0))[0]), trips);
      }
  });
}

}  // namespace vyre::reduce
