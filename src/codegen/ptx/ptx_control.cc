// Control flow: labels and branches. Blocks pass values through the registers of results and
// arguments. A loop's results share the registers of its carried values: after the loop its
// arguments are dead.

#include "codegen/common/short_loop.h"
#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {
namespace {

// ptxas leaves loops as they are written, and nvcc writes about that much of them.
constexpr uint64_t most_unrolled_ops = 256;
constexpr uint64_t most_bodies = 16;       // per iteration of a longer loop
constexpr uint64_t most_whole_trips = 32;  // of a loop that is unrolled completely

}  // namespace

void Emitter::block(BlockId b) {
  for (OpId id = p_.blocks[b].first; id != none; id = p_.op(id).next) op(id);
}

void Emitter::op(OpId id) {
  WorkDeadline::poll_current();
  const Op& o = p_.op(id);
  if (options_.lines && o.code != Opcode::Const) line_of(id);
  switch (o.code) {
    case Opcode::Const: return;
    case Opcode::If: return if_op(id);
    case Opcode::For: return for_op(id);
    case Opcode::While: return while_op(id);
    case Opcode::Region: return block(o.first_block);
    case Opcode::Load: return load_op(id);
    case Opcode::Store: return store_op(id);
    case Opcode::LoadN: return load_n(id);
    case Opcode::StoreN: return store_n(id);
    case Opcode::LoadAs: return load_as(id);
    case Opcode::UniformLoad: return uniform_load(id);
    case Opcode::Barrier: return barrier(Scope(o.attr), id);
    case Opcode::Assert: return assert_op(id);
    default: break;
  }
  switch (info(o.code).effect) {
    case Effect::Pure: return o.operands.count == 0 ? id_op(id) : pure_op(id);
    case Effect::Atomic: return atomic_op(id);
    case Effect::Convergent: return subgroup_op(id);
    default: return leave(id);
  }
}

/// Gives values to registers, all at once: one that is read after it has been written goes through
/// a copy.
void Emitter::give(std::span<const ValueId> from, std::span<const ValueId> to) {
  std::vector<Text> source(to.size());
  for (size_t k = 0; k < to.size(); ++k) {
    source[k] = get(from[k]);
    if (source[k] == dest(to[k])) continue;
    for (size_t j = 0; j < k; ++j)
      if (source[k] == dest(to[j]) && source[j] != dest(to[j])) {
        // The copy must be made before anything is written.
        source[k] = moved(p_.type(to[k]), source[k]);
        break;
      }
  }
  for (size_t k = 0; k < to.size(); ++k) move(p_.type(to[k]), dest(to[k]), source[k]);
}

bool Emitter::falls_through(BlockId b) const {
  return p_.op(p_.blocks[b].last).code == Opcode::Yield;
}

void Emitter::if_op(OpId id) {
  const Op& o = p_.op(id);
  const BlockId yes = o.first_block, no = yes + 1;
  const OpId last = p_.blocks[no].last;
  const bool empty =
      p_.blocks[no].first == last && p_.op(last).code == Opcode::Yield && p_.operands(last).empty();
  const uint32_t otherwise = new_label(), end = empty ? otherwise : new_label();
  ins("@!{} bra $L{}", get(p_.operand(id, 0)), otherwise);
  block(yes);
  if (!empty) {
    if (falls_through(yes)) ins("bra $L{}", end);
    label(otherwise);
    block(no);
  }
  label(end);
}

void Emitter::begin_loop(OpId id, Loop& loop, std::span<const ValueId> init,
                         std::span<const ValueId> args) {
  loop.op = id;
  loop.next = new_label();
  loop.exit = new_label();
  const auto results = p_.results(id);
  for (size_t k = 0; k < args.size(); ++k) {
    set(results[k], dest(args[k]));
    move(p_.type(args[k]), dest(args[k]), get(init[k]));
  }
}

/// The number of bodies per iteration of an unrolled loop: the largest one allowed that divides its
/// trips.
uint32_t Emitter::bodies_of(OpId loop) const {
  const auto found = short_loop(p_, loop);
  if (!found || lowered_.polls[loop]) return 1;
  const uint64_t fit = most_unrolled_ops / found->ops;
  if (found->trips <= std::min(fit, most_whole_trips)) return static_cast<uint32_t>(found->trips);
  for (uint64_t n = std::min(fit, most_bodies); n > 1; --n)
    if (found->trips % n == 0) return static_cast<uint32_t>(n);
  return 1;
}

/// i takes lo, lo + step, … while below hi in exact integers.
void Emitter::for_op(OpId id) {
  const Op& o = p_.op(id);
  const auto all = p_.args(o.first_block);
  const ValueId lo = p_.operand(id, 0), hi = p_.operand(id, 1), step = p_.operand(id, 2);
  const Type t = p_.type(lo);
  Loop loop;
  begin_loop(id, loop, p_.operands(id).subspan(3), all.subspan(1));
  const Text i = dest(all[0]), runs = pred();
  const uint32_t bodies = bodies_of(id);
  move(t, i, get(lo));
  if (bodies == 1) {
    ins("setp.lt.{} {}, {}, {}", suffix(t), runs, i, get(hi));
    ins("@!{} bra $L{}", runs, loop.exit);
  }
  const auto by = constant(step);
  const bool up = by && *by != 0 && !(is_signed(t) && *by >> (width_of(t) - 1) & 1);
  if (!up) {
    const Text s = reg(step);
    ins("setp.{}.{} {}, {}, 0", is_signed(t) ? "gt" : "ne", suffix(t), runs, s);
    ins("@!{} bra $L{}", runs, loop.exit);
  }
  const uint32_t body = new_label();
  label(body);
  loops_.push_back(loop);
  for (uint32_t n = 1; n < bodies; ++n) {
    block(o.first_block);
    ins("add.{} {}, {}, {}", suffix(t), i, i, get(step));
  }
  block(o.first_block);
  const bool continued = loops_.back().continued;
  loops_.pop_back();
  if (continued) label(loop.next);
  const bool is_whole = bodies > 1 && bodies == constant_trips(p_, id);
  if (!is_whole && (continued || falls_through(o.first_block))) {
    const Text more = pred();
    if (by && *by == 1) {  // i + 1 cannot pass hi
      ins("add.{} {}, {}, 1", suffix(t), i, i);
      ins("setp.lt.{} {}, {}, {}", suffix(t), more, i, get(hi));
    } else {
      // hi - i is a number that fits without a sign, and so does the step.
      const Text left = temp(t);
      const std::string_view bits = width_of(t) == 64 ? "u64" : "u32";
      ins("sub.{} {}, {}, {}", bits, left, get(hi), i);
      ins("add.{} {}, {}, {}", bits, i, i, get(step));
      ins("setp.gt.{} {}, {}, {}", bits, more, left, get(step));
    }
    if (lowered_.polls[id] && options_.stoppable) {
      // Only if there is another trip: most loops over chunks have one.
      ins("@!{} bra $L{}", more, loop.exit);
      poll(id, body);
    } else {
      ins("@{} bra $L{}", more, body);
    }
  }
  label(loop.exit);
}

void Emitter::while_op(OpId id) {
  const Op& o = p_.op(id);
  const BlockId test = o.first_block, body = test + 1;
  Loop loop;
  begin_loop(id, loop, p_.operands(id), p_.args(test));
  label(loop.next);
  loops_.push_back(loop);
  block(test);  // ends with a branch to the exit
  block(body);
  loops_.pop_back();
  if (falls_through(body)) {
    if (lowered_.polls[id])
      poll(id, loop.next);
    else
      ins("bra $L{}", loop.next);
  }
  label(loop.exit);
}

/// The end of a block.
void Emitter::leave(OpId exit) {
  const Op& o = p_.op(exit);
  switch (o.code) {
    case Opcode::Yield: {
      const OpId owner = p_.blocks[o.parent].parent;
      if (!is_loop(p_.op(owner).code)) return give(p_.operands(exit), p_.results(owner));
      const BlockId head = p_.op(owner).first_block;
      return give(p_.operands(exit),
                  p_.args(head).subspan(p_.op(owner).code == Opcode::For ? 1 : 0));
    }
    case Opcode::Test: return ins("@!{} bra $L{}", get(p_.operand(exit, 0)), loops_.back().exit);
    case Opcode::Break:
      give(p_.operands(exit), p_.results(loops_.back().op));
      return ins("bra $L{}", loops_.back().exit);
    case Opcode::Continue: {
      Loop& loop = loops_.back();
      const Op& owner = p_.op(loop.op);
      give(p_.operands(exit),
           p_.args(owner.first_block).subspan(owner.code == Opcode::For ? 1 : 0));
      loop.continued = true;
      if (owner.code == Opcode::While && lowered_.polls[loop.op]) return poll(loop.op, loop.next);
      return ins("bra $L{}", loop.next);
    }
    case Opcode::Return: return ins("ret");
    case Opcode::Trap: return trap(get(p_.operand(exit, 0)), exit);
    default: return;
  }
}

}  // namespace vyre::emit_ptx
