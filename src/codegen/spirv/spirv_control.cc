// Control flow: every `if` and loop is a construct with a merge block. Blocks pass values through
// phis, so each edge is kept with its values until its target block begins. Unreachable code is not
// written.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "codegen/common/short_loop.h"
#include "codegen/spirv/spirv_emitter.h"
#include "codegen/spirv/spirv_lower.h"

namespace vyre::emit_spirv {
namespace {

constexpr uint64_t max_unrolled_ops = 4096;
constexpr uint64_t max_unrolled_trips = 64;
// A loop with more trips has several bodies per iteration of the SPIR-V loop.
constexpr uint64_t max_bodies = 16;
constexpr uint64_t max_ops_of_bodies = 256;

}  // namespace

void Emitter::block(BlockId b) {
  apart([&] {
    for (OpId id = p_.blocks[b].first; id != none && flow_ == Flow::On; id = p_.op(id).next) op(id);
  });
}

void Emitter::op(OpId id) {
  WorkDeadline::poll_current();
  const Op& o = p_.op(id);
  if (options_.debug && o.code != Opcode::Const) line_of(id);
  switch (o.code) {
    case Opcode::Const: return;
    case Opcode::If: return if_op(id);
    case Opcode::For: return for_op(id);
    case Opcode::While: return while_op(id);
    case Opcode::Region: {
      block(o.first_block);
      if (flow_ != Flow::On) return;
      const auto results = p_.results(id);
      for (size_t k = 0; k < results.size(); ++k) set(results[k], yielded_[k]);
      return;
    }
    case Opcode::Load: return load_op(id);
    case Opcode::Store: return store_op(id);
    case Opcode::LoadN: return load_n(id);
    case Opcode::StoreN: return store_n(id);
    case Opcode::LoadAs: return load_as(id);
    case Opcode::UniformLoad: return uniform_load(id);
    case Opcode::Barrier: return barrier(Scope(o.attr));
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

std::vector<Id> Emitter::gather(std::span<const ValueId> values) {
  std::vector<Id> ids;
  for (const ValueId v : values) ids.push_back(get(v));
  return ids;
}

/// The `break` of a block that does nothing else; none if it does.
OpId Emitter::only_break(BlockId block) const {
  for (OpId op = p_.blocks[block].first; op != none; op = p_.op(op).next) {
    if (p_.op(op).code == Opcode::Break) return op;
    if (p_.op(op).code != Opcode::Const) return none;
  }
  return none;
}

/// `if c { break }` is a branch to the end of the loop, not a separate construct: at the end of a
/// construct, devices would make the lanes of a subgroup wait for each other.
bool Emitter::break_if(OpId id) {
  const Op& o = p_.op(id);
  if (o.results.count || !options_.profile.long_loops) return false;
  for (uint32_t k = 0; k < 2; ++k) {
    const OpId leaves = only_break(o.first_block + k);
    const Block& other = p_.blocks[o.first_block + (1 - k)];
    if (leaves == none || other.first != other.last || p_.op(other.last).code != Opcode::Yield)
      continue;
    const Id condition = get(p_.operand(id, 0)), stays = label();
    Loop& loop = *loops_.back();
    loop.exits.push_back({here_, gather(p_.operands(leaves))});
    const Id exit = loop.exit;
    eff(spv::OpBranchConditional, {condition, k == 0 ? exit : stays, k == 0 ? stays : exit});
    begin(stays);
    return true;
  }
  return false;
}

void Emitter::if_op(OpId id) {
  if (break_if(id)) return;
  const Op& o = p_.op(id);
  const BlockId arms[] = {o.first_block, o.first_block + 1};
  const OpId last = p_.blocks[arms[1]].last;
  const bool one_armed =
      p_.blocks[arms[1]].first == last && p_.op(last).code == Opcode::Yield && !o.results.count;
  const Id condition = get(p_.operand(id, 0)), end = label();
  const Id yes = label(), no = one_armed ? end : label();
  std::vector<Edge> edges;
  if (one_armed) edges.push_back({here_, {}});
  eff(spv::OpSelectionMerge, {end, 0});
  eff(spv::OpBranchConditional, {condition, yes, no});
  for (int k = 0; k < (one_armed ? 1 : 2); ++k) {
    begin(k == 0 ? yes : no);
    flow_ = Flow::On;
    block(arms[k]);
    if (flow_ == Flow::Gone) continue;
    Edge edge{here_, {}, flow_ == Flow::Trapped};
    if (edge.trapped)
      for (const ValueId v : p_.results(id)) edge.values.push_back(zero_of(p_.type(v)));
    else
      edge.values = std::move(yielded_);
    edges.push_back(std::move(edge));
    jump(end);
  }
  begin(end);
  flow_ = edges.empty() ? Flow::Gone : Flow::Trapped;
  for (const Edge& e : edges)
    if (!e.trapped) flow_ = Flow::On;
  if (edges.empty()) return eff(spv::OpUnreachable, {});
  const auto results = p_.results(id);
  for (size_t k = 0; k < results.size(); ++k) {
    std::vector<Incoming> from;
    for (const Edge& e : edges) from.push_back({e.values[k], e.label});
    const bool same = from.size() == 1 || from[0].value == from[1].value;
    set(results[k], same ? from[0].value : phi(type_of(p_.type(results[k])), from));
  }
}

/// The header of a loop: phis of its carried values. `next`: the values from the back-edge, known
/// later.
std::vector<Id> Emitter::open_loop(Loop& loop, Id before, std::span<const ValueId> init, Id back,
                                   std::span<const Id> next) {
  const bool is_for = p_.op(loop.op).code == Opcode::For;
  const auto args = p_.args(p_.op(loop.op).first_block).subspan(is_for ? 1 : 0);
  for (size_t k = 0; k < args.size(); ++k) {
    const Incoming from[] = {{get(init[k]), before}, {next[k], back}};
    loop.args.push_back(phi(type_of(p_.type(args[k])), from));
    set(args[k], loop.args.back());
  }
  return loop.args;
}

/// Where a device ends loops that it considers too long, each loop records whether an exit of the
/// program left it. The record is volatile, and in an array at an offset that is not a compile-time
/// constant: Mesa 22.3.6 turns volatile variables into values and deduces that the loop has no
/// other exit.
void Emitter::open_left(Loop& loop) {
  if (options_.profile.long_loops) return;
  if (!left_) {
    uint32_t loops = 1;
    for (const Op& o : p_.ops) loops += o.code == Opcode::For || o.code == Opcode::While;
    const Id type = m_.type_array(u32(), loops);
    left_ = function_variable(type, m_.constant_null(type));
  }
  const Id place = ins(spv::OpIAdd, u32(), {param_word(zero_offset), c32(lefts_++)});
  loop.left =
      ins(spv::OpAccessChain, m_.type_pointer(spv::StorageClassFunction, u32()), {left_, place});
  eff(spv::OpStore, {loop.left, c32(0), spv::MemoryAccessVolatileMask});
}

void Emitter::set_left(const Loop& loop, Id is_left) {
  if (options_.profile.long_loops) return;
  const Id word = ins(spv::OpSelect, u32(), {is_left, c32(1), c32(0)});
  eff(spv::OpStore, {loop.left, word, spv::MemoryAccessVolatileMask});
}

/// After a loop: records if the device has ended it.
void Emitter::report_cut(const Loop& loop) {
  if (options_.profile.long_loops) return;
  const Id left = ins(spv::OpLoad, u32(), {loop.left, spv::MemoryAccessVolatileMask});
  when(ins(spv::OpIEqual, b(), {left, c32(0)}), [&] {
    const Id at = control_pointer(offsetof(ControlBlock, stopped_at), u32());
    eff(spv::OpAtomicStore, {at, scope_of(spv::ScopeQueueFamily), c32(0),
                             c32((lowered_.original[loop.op].value() + 1) | cut_loop)});
  });
}

/// The end of a body: back, or out if all its invocations have trapped.
void Emitter::end_body(Loop& loop) {
  if (flow_ == Flow::On) {
    loop.backs.push_back({here_, std::move(yielded_)});
    jump(loop.next);
  } else if (flow_ == Flow::Trapped) {
    loop.exits.push_back({here_, loop.args, true});
    set_left(loop, bit(true));
    jump(loop.exit);
  }
}

/// Begins the continue block: the values of its edges become the ids that the header's phis name.
void Emitter::begin_next(Loop& loop, std::span<const Id> next) {
  begin(loop.next);
  for (size_t k = 0; k < next.size(); ++k) {
    const bool is_for = p_.op(loop.op).code == Opcode::For;
    const auto args = p_.args(p_.op(loop.op).first_block).subspan(is_for ? 1 : 0);
    const Id type = type_of(p_.type(args[k]));
    std::vector<Incoming> from;
    for (const Edge& e : loop.backs) from.push_back({e.values[k], e.label});
    if (from.empty())
      put(spv::OpUndef, type, next[k], {});
    else
      phi(type, from, next[k]);
  }
}

/// Checks at the back-edge whether to leave. Ends in the block `back`.
Id Emitter::leave_at_back_edge(const Loop& loop, Id back) {
  const Id leaves = loop.backs.empty() ? 0 : check_back_edge(loop.op);
  jump(back);
  begin(back);
  return leaves;
}

void Emitter::go_back(Loop& loop, Id head, Id back, std::vector<Id>& next, Id leaves) {
  if (!leaves) return jump(head);
  const bool returns = meeting_of(loop.op) == Meeting::Workgroup || !f_.syncs;
  loop.exits.push_back({back, next, false, returns ? leaves : 0});
  set_left(loop, leaves);
  eff(spv::OpBranchConditional, {leaves, loop.exit, head});
}

/// After a loop: its results, and returning from the kernel if the stop flag ended the loop.
void Emitter::end_loop(Loop& loop) {
  begin(loop.exit);
  flow_ = loop.exits.empty() ? Flow::Gone : Flow::Trapped;
  for (const Edge& e : loop.exits)
    if (!e.trapped) flow_ = Flow::On;
  if (loop.exits.empty()) return eff(spv::OpUnreachable, {});
  const auto results = p_.results(loop.op);
  for (size_t k = 0; k < results.size(); ++k) {
    std::vector<Incoming> from;
    for (const Edge& e : loop.exits) from.push_back({e.values[k], e.label});
    set(results[k], phi(type_of(p_.type(results[k])), from));
  }
  bool may_stop = false;
  std::vector<Incoming> stopped;
  for (const Edge& e : loop.exits) {
    may_stop |= e.stopped != 0;
    stopped.push_back({e.stopped ? e.stopped : bit(false), e.label});
  }
  const Id leaves = may_stop ? phi(b(), stopped) : 0;
  report_cut(loop);
  if (may_stop) leave_if(leaves);
}

/// NVIDIA's compiler unrolls loops only on request.
bool Emitter::is_unrolled(OpId loop) const {
  const auto found = short_loop(p_, loop);
  return options_.unroll && found && !lowered_.polls[loop] && found->trips <= max_unrolled_trips &&
         found->trips <= max_unrolled_ops / found->ops;
}

/// The number of bodies per iteration of the SPIR-V loop: it divides the loop's trips.
uint32_t Emitter::bodies_of(OpId loop) const {
  const auto found = short_loop(p_, loop);
  if (!options_.unroll || !found || lowered_.polls[loop]) return 1;
  for (uint64_t n = std::min(max_ops_of_bodies / found->ops, max_bodies); n > 1; --n)
    if (found->trips % n == 0) return static_cast<uint32_t>(n);
  return 1;
}

/// The last value of a `for` counter, if its bounds are constants and there is one.
std::optional<uint64_t> Emitter::last_of(OpId loop) const {
  if (!options_.workarounds.end_loops_by_last_value) return std::nullopt;
  const auto lo = constant(p_.operand(loop, 0)), hi = constant(p_.operand(loop, 1));
  const auto step = constant(p_.operand(loop, 2));
  if (!lo || !hi || !step || *step == 0) return std::nullopt;
  const uint64_t mask = low_mask(width_of(p_.type(p_.operand(loop, 0))));
  return (*lo + ((*hi - *lo - 1) & mask) / *step * *step) & mask;
}

Emitter::Loop Emitter::new_loop(OpId id) {
  Loop loop;
  loop.op = id;
  loop.next = label();
  loop.exit = label();
  open_left(loop);
  return loop;
}

/// i takes lo, lo + step, … while below hi in exact integers.
void Emitter::for_op(OpId id) {
  const Op& o = p_.op(id);
  const auto all = p_.args(o.first_block);
  const ValueId start = p_.operand(id, 0), step = p_.operand(id, 2);
  const Type t = p_.type(all[0]);
  const bool hides = !options_.stoppable && hides_start(p_, id, options_);
  const Id lo = hides ? unseen(t, *constant(start)) : get(start);
  const Id hi = get(p_.operand(id, 1)), by = get(step);
  const Id type = type_of(t);
  const auto c = constant(step);
  const bool by_one = c && *c == 1;  // i + 1 cannot pass hi
  const spv::Op less = is_signed(t) ? spv::OpSLessThan : spv::OpULessThan;
  Id runs = 0;
  if (!by_one) {
    runs = ins(less, b(), {lo, hi});
    const bool up = c && *c != 0 && !(is_signed(t) && *c >> (width_of(t) - 1) & 1);
    if (!up)
      runs = both(
          runs, ins(is_signed(t) ? spv::OpSGreaterThan : spv::OpINotEqual, b(), {by, zero_of(t)}));
  }
  Loop loop = new_loop(id);
  const bool checks = checks_at_back_edge(id);
  const Id head = label(), body = label(), back = checks ? label() : loop.next, before = here_;
  const Id i_next = m_.new_id(), more_next = by_one ? 0 : m_.new_id();
  std::vector<Id> next(all.size() - 1);
  for (Id& n : next) n = m_.new_id();
  const auto init = p_.operands(id).subspan(3);
  for (const ValueId v : init) get(v);
  jump(head);
  begin(head);
  const Incoming counts[] = {{lo, before}, {i_next, back}};
  Id i = phi(type, counts);
  set(all[0], i);
  Id more = 0;
  if (!by_one) {
    const Incoming from[] = {{runs, before}, {more_next, back}};
    more = phi(b(), from);
  }
  open_loop(loop, before, init, back, next);
  if (by_one) more = ins(less, b(), {i, hi});
  loop.exits.push_back({head, loop.args});
  if (!options_.profile.long_loops) set_left(loop, negated(more));
  const bool unrolls = !checks && is_unrolled(id);
  eff(spv::OpLoopMerge,
      {loop.exit, loop.next, unrolls ? spv::LoopControlUnrollMask : spv::LoopControlMaskNone});
  eff(spv::OpBranchConditional, {more, body, loop.exit});
  begin(body);
  loops_.push_back(&loop);
  const bool outer = std::exchange(in_unrolled_, unrolls);
  block(o.first_block);
  for (uint32_t n = checks || unrolls ? 1 : bodies_of(id); n > 1 && flow_ == Flow::On; --n) {
    i = ins(spv::OpIAdd, type, {i, by});
    set(all[0], i);
    for (size_t k = 1; k < all.size(); ++k) set(all[k], yielded_[k - 1]);
    block(o.first_block);
  }
  in_unrolled_ = outer;
  loops_.pop_back();
  end_body(loop);
  begin_next(loop, next);
  const Id leaves = checks ? leave_at_back_edge(loop, back) : 0;
  put(spv::OpIAdd, type, i_next, {i, by});
  if (!by_one) {
    if (const auto last = last_of(id)) {
      put(spv::OpINotEqual, b(), more_next, {i, constant_of(t, *last)});
    } else {
      // hi - i is a number that fits without a sign, and so does the step.
      const Id left = ins(spv::OpISub, type, {hi, i});
      put(spv::OpUGreaterThan, b(), more_next, {left, by});
    }
  }
  go_back(loop, head, back, next, leaves);
  end_loop(loop);
}

void Emitter::while_op(OpId id) {
  const Op& o = p_.op(id);
  const BlockId test = o.first_block;
  Loop loop = new_loop(id);
  const bool checks = checks_at_back_edge(id);
  const Id head = label(), first = label(), body = label(), before = here_;
  const Id back = checks ? label() : loop.next;
  std::vector<Id> next(p_.args(test).size());
  for (Id& n : next) n = m_.new_id();
  for (const ValueId v : p_.operands(id)) get(v);
  jump(head);
  begin(head);
  open_loop(loop, before, p_.operands(id), back, next);
  eff(spv::OpLoopMerge, {loop.exit, loop.next, 0});
  jump(first);
  begin(first);
  loops_.push_back(&loop);
  block(test);
  if (flow_ == Flow::On) {
    loop.exits.push_back({here_, loop.args});
    if (!options_.profile.long_loops) set_left(loop, negated(yielded_[0]));
    eff(spv::OpBranchConditional, {yielded_[0], body, loop.exit});
    begin(body);
    block(test + 1);
  }
  loops_.pop_back();
  end_body(loop);
  begin_next(loop, next);
  const Id leaves = checks ? leave_at_back_edge(loop, back) : 0;
  go_back(loop, head, back, next, leaves);
  end_loop(loop);
}

/// The end of a block.
void Emitter::leave(OpId exit) {
  const Op& o = p_.op(exit);
  switch (o.code) {
    case Opcode::Yield:
    case Opcode::Test: yielded_ = gather(p_.operands(exit)); return;
    case Opcode::Break:
      loops_.back()->exits.push_back({here_, gather(p_.operands(exit))});
      set_left(*loops_.back(), bit(true));
      jump(loops_.back()->exit);
      break;
    case Opcode::Continue:
      loops_.back()->backs.push_back({here_, gather(p_.operands(exit))});
      jump(loops_.back()->next);
      break;
    case Opcode::Return: eff(spv::OpReturn, {}); break;
    case Opcode::Trap: return trap(get(p_.operand(exit, 0)), exit);
    default: return;
  }
  flow_ = Flow::Gone;
}

}  // namespace vyre::emit_spirv
