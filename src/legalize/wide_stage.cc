#include "legalize/wide_stage.h"

#include <algorithm>

#include "legalize/legalize_subgroup.h"
#include "legalize/stages.h"

namespace vyre::emit_exact {

namespace {

std::string unused_name(const Program& p, std::string name) {
  const auto is_taken = [&] {
    return std::any_of(p.buffers.begin(), p.buffers.end(),
                       [&](const Buffer& b) { return b.name == name; });
  };
  while (is_taken()) name += '_';
  return name;
}

}  // namespace

WideStage::WideStage(const Program& program, const Profile& profile)
    : Remake(program),
      profile_(profile),
      split_(program.buffers.size(), false),
      halves_(program.buffers.size()) {
  split_buffers();
}

/// Twice as many u32, lengths in formulas halved, and halves of scalars.
void WideStage::split_buffers() {
  Program& p = c.program;
  for (const BufferId i : from.buffers.ids()) {
    const Buffer& b = from.buffers[i];
    if (size_of(b.element) != 8) continue;
    if (b.role != Role::Scalar) {
      split_[i] = true;
      p.buffers[i].element = Type::U32;
      continue;
    }
    halves_[i] = p.buffers.next_id();
    for (const char* half : {"_low", "_high"}) {
      Buffer copy = b;
      copy.name = unused_name(p, b.name + half);
      copy.element = Type::U32;
      p.buffers.push_back(std::move(copy));
    }
  }

  FormulaPool pool;
  std::vector<FormulaId> made;
  for (const FormulaNode& n : from.formulas.nodes) {
    switch (n.op) {
      case FormulaOp::Const: made.push_back(pool.constant(n.value, n.negative)); break;
      case FormulaOp::Len:
        made.push_back(pool.len(n.a));
        if (split_.contains(BufferId(n.a)) && split_[BufferId(n.a)])
          made.back() = pool.binary(FormulaOp::Div, made.back(), pool.constant(2));
        break;
      case FormulaOp::Scalar: made.push_back(pool.scalar(n.a)); break;
      default: made.push_back(pool.binary(n.op, made[n.a], made[n.b]));
    }
  }
  for (const BufferId i : from.buffers.ids()) {
    FormulaId& count = p.buffers[i].count;
    if (count == no_formula) continue;
    count = made[count];
    if (split_[i]) count = pool.binary(FormulaOp::Mul, count, pool.constant(2));
  }
  for (FormulaId& g : p.grid)
    if (g != no_formula) g = made[g];
  p.formulas = std::move(pool);
}

void WideStage::visit(OpId id) {
  const Op& o = from.op(id);
  const OpInfo& row = info(o.code);
  switch (o.code) {
    case Opcode::Const:
      if (splits(o.type)) return give_pair(id, pair_of(c, o.attr));
      break;
    case Opcode::Scalar:
      if (splits(o.type)) {
        const BufferId half = halves_[o.buffer()];
        return give_pair(id, {c.op(Opcode::Scalar, Type::U32, {}, half.value()),
                              c.op(Opcode::Scalar, Type::U32, {}, half.value() + 1)});
      }
      break;
    case Opcode::Len: return give(id, elements(o.buffer()));
    case Opcode::Len64: return give_pair(id, {elements(o.buffer()), c.constant(Type::U32, 0)});
    case Opcode::SubgroupBallot: return ballot(id);
    case Opcode::For:
      if (splits(from.type(from.operand(id, 0)))) return open_for(id);
      break;
    case Opcode::Yield:
      if (is_remade(from.blocks[o.parent].parent)) return exit(id, from.blocks[o.parent].parent);
      break;
    case Opcode::Break:
    case Opcode::Continue:
      if (is_remade(loops_.back())) return exit(id, loops_.back());
      break;
    default: break;
  }
  if (row.attribute == AttrKind::Memory) return visit_memory(id);
  if (is_shuffle(o.code) && splits(o.type)) return shuffle(id);
  if (is_pure(o.code)) return visit_pure(id);
  copy(id);
}

// ---- Values.

void WideStage::visit_pure(OpId id) {
  const Op& o = from.op(id);
  if (o.operands.count == 0) return copy(id);
  const Type source = from.type(from.operand(id, 0));
  if (o.code == Opcode::Cast || o.code == Opcode::Bitcast) return visit_cast(id);
  if (!splits(from.type(from.result(id)))) {
    return splits(source) ? visit_compare(id) : copy(id);
  }
  Pair operands[4];
  for (uint32_t i = 0; i < o.operands.count; ++i) operands[i] = pair(from.operand(id, i));
  give_pair(id, wide_op(o.code, is_signed(o.type), {operands, o.operands.count}));
}

void WideStage::visit_cast(OpId id) {
  const ValueId x = from.operand(id, 0);
  const Type to = from.op(id).type;
  if (splits(from.type(x))) {
    if (splits(to)) return give_pair(id, pair(x));
    if (to == Type::Bool) return give(id, !is_zero(pair(x)));
    return give(id, cast(to, term(x)));  // floats are gone already
  }
  if (splits(to)) return give_pair(id, widened(term(x)));
  copy(id);
}

void WideStage::visit_compare(OpId id) {
  const ValueId a = from.operand(id, 0), b = from.operand(id, 1);
  const bool sign = is_signed(from.type(a));
  switch (from.op(id).code) {
    case Opcode::Eq: return give(id, pair(a) == pair(b));
    case Opcode::Ne: return give(id, !(pair(a) == pair(b)));
    case Opcode::Lt: return give(id, less(pair(a), pair(b), sign));
    case Opcode::Le: return give(id, !less(pair(b), pair(a), sign));
    case Opcode::Gt: return give(id, less(pair(b), pair(a), sign));
    default: return give(id, !less(pair(a), pair(b), sign));
  }
}

void WideStage::ballot(OpId id) {
  const uint32_t size = from.subgroup ? from.subgroup : profile_.subgroup_size;
  const Term lane = c.op(Opcode::LaneId, Type::Void, {});
  const Term bit = select(operand(id, 0), c.constant(Type::U32, 1) << lane, 0);
  const auto collect = [&](const Term& t) { return c.op(Opcode::SubgroupOr, Type::U32, {t}); };
  if (size <= 32) return give_pair(id, {collect(bit), c.constant(Type::U32, 0)});
  const Term upper = lane >= 32;
  const Term low = collect(select(upper, 0, bit));
  give_pair(id, {low, collect(select(upper, bit, 0))});
}

void WideStage::shuffle(OpId id) {
  const Op& o = from.op(id);
  const Pair x = pair(from.operand(id, 0));
  const Term lane = operand(id, 1);
  const Term low = c.op(o.code, Type::U32, {x.low, lane});
  give_pair(id, {low, c.op(o.code, Type::U32, {x.high, lane})});
}

// ---- Loops. A `for` over 64 bits is a `while` that carries its counter and whether it is done:
// the counter must not wrap, so the end is seen before the step is taken.

bool WideStage::is_remade(OpId loop) const {
  return loop != none && from.op(loop).code == Opcode::For &&
         splits(from.type(from.operand(loop, 0)));
}

void WideStage::open_for(OpId id) {
  const Pair lo = pair(from.operand(id, 0)), hi = pair(from.operand(id, 1)),
             step = pair(from.operand(id, 2));
  const bool sign = is_signed(from.type(from.operand(id, 0)));
  // Named in order: the evaluation order of arguments is unspecified.
  const Term zero = is_zero(step);
  const Term still = sign ? is_negative(step) | zero : zero;
  const Term done = still | !less(lo, hi, sign);
  const std::vector<ValueId> carried = values_of(from.operands(id).subspan(3));
  const std::vector<Type> carried_types = types_of(from.results(id));

  std::vector<ValueId> initial = {c.value(lo.low), c.value(lo.high), c.value(done)};
  initial.insert(initial.end(), carried.begin(), carried.end());
  std::vector<Type> types = {Type::U32, Type::U32, Type::Bool};
  types.insert(types.end(), carried_types.begin(), carried_types.end());
  const OpId made = c.add(Opcode::While, Type::Void, initial, types);
  give_parts(from.results(id), c.program.results(made).subspan(3));
  c.add_blocks(made, 2);
  const BlockId test = c.program.op(made).first_block;
  blocks_[from.op(id).first_block] = test + 1;

  std::vector<ValueId> arguments;
  for (const Type t : types) arguments.push_back(c.program.add_argument(test, t));
  const auto old = from.args(from.op(id).first_block);
  set(old[0], c.term(arguments[0]), c.term(arguments[1]));
  give_parts(old.subspan(1), std::span(arguments).subspan(3));
  counters_.push_back({id, pair(old[0]), hi, step, c.term(arguments[2])});
  c.block = test;
  c.open();
  const ValueId go_on[] = {c.value(!c.term(arguments[2]))};
  c.add(Opcode::Test, Type::Void, go_on, {});
  c.close();
}

void WideStage::enter(BlockId block) {
  if (!is_remade(from.blocks[block].parent)) Remake::enter(block);
}

void WideStage::exit(OpId id, OpId loop) {
  while (counters_.back().loop != loop) counters_.pop_back();  // those of loops that have ended
  const Counter& k = counters_.back();
  Pair next = k.now;
  Term done = k.done;
  if (from.op(id).code != Opcode::Break) {
    done = !less(k.step, k.end - k.now, false);
    next = k.now + k.step;
  }
  std::vector<ValueId> values = {c.value(next.low), c.value(next.high), c.value(done)};
  const std::vector<ValueId> carried = values_of(from.operands(id));
  values.insert(values.end(), carried.begin(), carried.end());
  c.add(from.op(id).code, Type::Void, values, {});
}

bool needs_wide_stage(const Program& program) {
  for (const Value& v : program.values)
    if (v.type == Type::I64 || v.type == Type::U64) return true;
  return false;
}

Program expand_wide(const Program& program, const Profile& profile) {
  return WideStage(program, profile).run();
}

}  // namespace vyre::emit_exact
