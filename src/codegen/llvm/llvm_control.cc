// Ops in order, ifs and exits. Loops are in loops.cc.

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <utility>

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

namespace {
constexpr int select_budget = 24;        // of a branch that is executed for all lanes
constexpr int scalar_select_budget = 6;  // … where one branch would do
}  // namespace

// ---- Blocks of LLVM.

llvm::BasicBlock* Emitter::block(const char* name) {
  return llvm::BasicBlock::Create(c_, name, f_);
}

void Emitter::go(BB to) {
  if (!ended()) b_.CreateBr(to);
}

void Emitter::branch(V condition, BB yes, BB no, int likely) {
  llvm::MDNode* weights = nullptr;
  if (likely >= 0)
    weights = llvm::MDBuilder(c_).createBranchWeights(likely ? 2000 : 1, likely ? 1 : 2000);
  b_.CreateCondBr(condition, yes, no, weights);
}

// ---- Ops.

/// The ops from `at` to the end of their block, which goes to `end`. Also where no lane is left.
void Emitter::ops(OpId at, BB end) {
  for (; at != none; at = p_.op(at).next) {
    const Op& o = p_.op(at);
    if (is_exit(o.code)) return leave(at, end);
    V before = active_;
    if (o.code == Opcode::Region) {
      // A region is a piece of the block around it.
      ops(p_.blocks[o.first_block].first, end);
      if (ended()) {
        enter(block("never"));
        for (const ValueId v : p_.results(at)) set(v, llvm::Constant::getNullValue(type_of(v)));
      }
      continue;
    }
    op(at);
    if (k_.drops[at]) refresh_active(before, p_.op(at).next, end);
  }
}

void Emitter::op(OpId id) {
  const Line line(*this, id);
  const Op& o = p_.op(id);
  switch (info(o.code).effect) {
    case Effect::Pure:
      if (!is_on_demand(o.code)) pure_op(id);
      return;
    case Effect::Read: return load_op(id);
    case Effect::Write: return store_op(id);
    case Effect::Atomic: return atomic_op(id);
    case Effect::Convergent: return subgroup_op(id);
    case Effect::Sync:
      if (o.code == Opcode::UniformLoad) load_op(id);
      return;
    case Effect::Trap: return assert_op(id);
    case Effect::Control:
      if (o.code == Opcode::If) return if_op(id);
      if (o.code == Opcode::Region) return ops(p_.blocks[o.first_block].first, stretch_end_);
      return loop_op(id);
    case Effect::Exit: return;
  }
}

void Emitter::pure_op(OpId id) {
  const Op& o = p_.op(id);
  const ValueId result = p_.result(id);
  const auto in = p_.operands(id);
  const Type source = p_.type(in[0]);
  llvm::SmallVector<V, 4> operands;
  if (!is_uniform(result) && is_integer(p_.type(result)) && shapes_.steps(result)) {
    for (const ValueId v : in) operands.push_back(base_of(v));
    V base = low_.pure(o.code, o.type, source, operands);
    return set(result, step_out(base, *shapes_.stride(result)), base);
  }
  if (V mask = first_lanes(id)) return set(result, mask);
  const auto run = likely_.is_wanted(result) ? likely_run(id) : std::nullopt;
  if (run && likely_.is_deferred(result) && stretches_.home[result].kind == Home::Kind::Nowhere) {
    made_[result] = {nullptr, nullptr, epoch_, *run};
    return;
  }
  for (const ValueId v : in) operands.push_back(is_uniform(result) ? get(v) : lanes_of(v));
  set(result, low_.pure(o.code, o.type, source, operands));
  if (run) made_[result].likely = *run;
}

/// A comparison of base + lane with a number that is the same for all lanes holds for the first
/// lanes or for all others: scalars count them, and no vector is compared. Null if the op is no
/// such comparison, or where a vector of bits is not in a mask register.
llvm::Value* Emitter::first_lanes(OpId id) {
  const Op& o = p_.op(id);
  const bool ordered =
      o.code == Opcode::Lt || o.code == Opcode::Le || o.code == Opcode::Gt || o.code == Opcode::Ge;
  if (!ordered || mask_width_ != 1 || S_ < 8 || is_uniform(p_.result(id))) return nullptr;
  const ValueId left = p_.operand(id, 0), right = p_.operand(id, 1);
  const Type t = p_.type(left);
  if (!is_integer(t)) return nullptr;
  const auto advances = [&](ValueId v) { return shapes_.stride(v) == 1 && shapes_.is_exact(v); };
  const bool is_left = advances(left) && is_uniform(right);
  if (!is_left && !(advances(right) && is_uniform(left))) return nullptr;
  // a < n, a <= n: the first lanes; n < a and n <= a: not the lanes of a <= n and a < n.
  const bool is_greater = (o.code == Opcode::Gt || o.code == Opcode::Ge) == is_left;
  const bool or_equal = (o.code == Opcode::Le || o.code == Opcode::Ge) != is_greater;
  V base = base_of(is_left ? left : right), bound = get(is_left ? right : left);
  V zero = llvm::ConstantInt::get(base->getType(), 0);
  V room = b_.CreateSub(bound, base);
  if (or_equal)  // at most all lanes: the addition must not wrap
    room = b_.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, room,
                                    llvm::ConstantInt::get(base->getType(), 1));
  V some = is_signed(t)
               ? (or_equal ? b_.CreateICmpSGE(bound, base) : b_.CreateICmpSGT(bound, base))
               : (or_equal ? b_.CreateICmpUGE(bound, base) : b_.CreateICmpUGT(bound, base));
  V lanes = b_.CreateZExtOrTrunc(
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSelect(some, room, zero),
                               llvm::ConstantInt::get(base->getType(), S_)),
      b_.getInt64Ty());
  // bzhi takes any number of bits, all 64 too.
  V ones =
      b_.CreateIntrinsic(llvm::Intrinsic::x86_bmi_bzhi_64, {}, {b_.getInt64(~uint64_t{0}), lanes});
  V mask = b_.CreateBitCast(b_.CreateTrunc(ones, b_.getIntNTy(S_)), mask_type());
  return is_greater ? b_.CreateNot(mask) : mask;
}

void Emitter::subgroup_op(OpId id) {
  const Op& o = p_.op(id);
  const ValueId result = p_.result(id);
  llvm::SmallVector<V, 2> operands;
  for (const ValueId v : p_.operands(id)) operands.push_back(lanes_of(v));
  V value = low_.subgroup(o.code, o.type == Type::Void ? p_.type(p_.operand(id, 0)) : o.type,
                          operands, bits(active_));
  set(result, is_uniform(result) ? b_.CreateExtractElement(value, uint64_t{0}) : value);
}

// ---- Exits.

void Emitter::leave(OpId exit, BB end) {
  const Line line(*this, exit);
  const Op& o = p_.op(exit);
  switch (o.code) {
    case Opcode::Yield: {
      const OpId parent = p_.blocks[o.parent].parent;
      const Opcode owner = p_.op(parent).code;
      if (owner == Opcode::Region) {
        for (uint32_t i = 0; i < o.operands.count; ++i) {
          const ValueId from = p_.operand(exit, i), to = p_.result(parent, i);
          V value = is_uniform(to) ? get(from) : lanes_of(from);
          set(to, value);
        }
        return;  // the enclosing block continues
      }
      if (owner == Opcode::If)
        yield_if(exit, contexts_.back());
      else
        carry(exit, *innermost_loop(), false);
      break;
    }
    case Opcode::Test: return test(p_.operand(exit, 0));
    case Opcode::Break:
    case Opcode::Continue: {
      Context& loop = *innermost_loop();
      const bool is_break = o.code == Opcode::Break;
      carry(exit, loop, is_break);
      if (!loop.masked) return go(is_break ? loop.exit : loop.next);
      take_out(active_, is_break ? From::Loop : From::Iteration);
      break;
    }
    case Opcode::Trap: trap_lanes(active_, lanes_of(p_.operand(exit, 0)), exit); [[fallthrough]];
    case Opcode::Return:
      if (!k_.masked_body) return go(stretch_end_);
      take_out(active_, From::Body);
      break;
    default: break;
  }
  go(end);
}

/// `a && b` with one of them the same for all lanes stays in two parts: one is a plain branch.
void Emitter::test(ValueId condition) {
  test_ = get(condition);
  test_all_ = nullptr;
  const OpId def = p_.values[condition].def;
  if (is_uniform(condition) || def == none) return;
  const Op& o = p_.op(def);
  ValueId a = p_.operand(def, 0), b = none;
  if (o.code == Opcode::And) {
    b = p_.operand(def, 1);
  } else if (o.code == Opcode::If && selected_.count(def)) {
    const uint32_t index = p_.values[condition].index;
    const OpId yes = p_.blocks[o.first_block].last, no = p_.blocks[o.first_block + 1].last;
    auto* other = llvm::dyn_cast<llvm::Constant>(get(p_.operand(no, index)));
    if (other && other->isNullValue()) b = p_.operand(yes, index);
  }
  if (b == none || is_uniform(a) == is_uniform(b)) return;
  if (!is_uniform(a)) std::swap(a, b);
  test_all_ = get(a);
  test_ = get(b);
}

Emitter::Context* Emitter::innermost_loop() {
  return loops_.empty() ? nullptr : &contexts_[loops_.back()];
}

void Emitter::take_out(V mask, From from) {
  const auto shrink = [&](Slot s) { store_slot(s, mask_without(load_mask(s), mask)); };
  Context* loop = innermost_loop();
  if (loop) {
    if (from != From::Iteration) shrink(loop->run);
    if (loop->live != loop->run) shrink(loop->live);
  }
  if (from == From::Body) shrink(body_live_);
}

/// After an op in which lanes may have left.
void Emitter::refresh_active(V before, OpId rest, BB end) {
  if (ended()) enter(block("never"));
  const Context* loop = innermost_loop();
  active_ = mask_and(before, load_mask(loop ? loop->live : body_live_));
  if (rest == none || is_exit(p_.op(rest).code)) return;
  BB on = block("some");
  b_.CreateCondBr(any(active_), on, end);
  enter(on);
}

// ---- If.

void Emitter::if_op(OpId id) {
  if (if_select(id)) return;
  if (is_uniform(p_.operand(id, 0)))
    if_uniform(id);
  else
    if_masked(id);
}

/// True if the branch is short and has no effects. It is then executed for all lanes, independent
/// of the condition: all its ops are defined, also out of bounds.
bool Emitter::speculatable(BlockId block, int& budget) const {
  for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next) {
    const Op& o = p_.op(at);
    if (o.code == Opcode::Yield) return true;
    switch (info(o.code).effect) {
      case Effect::Pure:
        if (o.code == Opcode::Div || o.code == Opcode::Rem || o.code == Opcode::CeilDiv ||
            o.code == Opcode::Sqrt || o.code == Opcode::Rsqrt)
          budget -= 8;
        else
          --budget;
        break;
      case Effect::Read:
        if (o.code != Opcode::Load || !is_uniform(p_.operand(at, 0))) return false;
        budget -= 4;
        break;
      case Effect::Control:
        if (o.code != Opcode::If) return false;
        budget -= 1;
        if (!speculatable(o.first_block, budget) || !speculatable(o.first_block + 1, budget))
          return false;
        break;
      default: return false;
    }
    if (budget < 0) return false;
  }
  return false;
}

void Emitter::select_arm(BlockId block, std::vector<ValueId>& yields) {
  for (OpId at = p_.blocks[block].first;; at = p_.op(at).next) {
    if (p_.op(at).code != Opcode::Yield) {
      if (p_.op(at).code == Opcode::If) {
        select_if(at);
      } else {
        op(at);
      }
      continue;
    }
    const auto from = p_.operands(at);
    yields.assign(from.begin(), from.end());
    return;
  }
}

llvm::Value* Emitter::select_lanes(V mask, V a, V b) {
  if (a == b) return a;
  if (!a->getType()->isIntOrIntVectorTy(1)) return b_.CreateSelect(mask, a, b);
  const auto is = [](V v, bool ones) {
    auto* c = llvm::dyn_cast<llvm::Constant>(v);
    return c && (ones ? c->isAllOnesValue() : c->isNullValue());
  };
  if (is(b, false)) return b_.CreateAnd(mask, a);
  if (is(a, true)) return b_.CreateOr(mask, b);
  // Named in order: the evaluation order of arguments is unspecified.
  V others = b_.CreateAnd(b_.CreateNot(mask), b);
  return b_.CreateOr(b_.CreateAnd(mask, a), others);
}

bool Emitter::if_select(OpId id) {
  const Op& o = p_.op(id);
  int budget = is_uniform(p_.operand(id, 0)) ? scalar_select_budget : select_budget;
  if (!speculatable(o.first_block, budget) || !speculatable(o.first_block + 1, budget))
    return false;
  const bool before = std::exchange(speculating_, true);
  select_if(id);
  speculating_ = before;
  return true;
}

void Emitter::select_if(OpId id) {
  selected_.insert(id);
  const Op& o = p_.op(id);
  std::vector<ValueId> yes, no;
  select_arm(o.first_block, yes);
  select_arm(o.first_block + 1, no);
  const ValueId condition = p_.operand(id, 0);
  for (uint32_t i = 0; i < o.results.count; ++i) {
    const ValueId r = p_.result(id, i);
    if (is_uniform(r)) {
      V c = get(condition);
      const bool is_either = c->getType()->isVectorTy();
      V if_not = is_either ? nullptr : get(no[i]);
      V if_so = get(yes[i]);
      set(r, is_either ? if_so : select_lanes(c, if_so, if_not));
    } else {
      V if_not = lanes_of(no[i]);
      V if_so = lanes_of(yes[i]);
      V c = get(condition);
      set(r, is_uniform(condition) ? b_.CreateSelect(c, if_so, if_not)
                                   : select_lanes(c, if_so, if_not));
      if (likely_.is_wanted(r))
        if (const auto run = either_run(condition, yes[i], no[i], r)) made_[r].likely = *run;
    }
  }
}

void Emitter::yield_if(OpId exit, Context& c) {
  for (uint32_t i = 0; i < p_.op(exit).operands.count; ++i) {
    const ValueId from = p_.operand(exit, i), to = p_.result(c.op, i);
    if (k_.uses[to] == 0) continue;
    if (is_uniform(to))
      store_slot(c.values[i], get(from));
    else
      store_carried(c.values[i], lanes_of(from), c.blend);
  }
}

void Emitter::store_carried(Slot s, V value, bool blend) {
  if (blend && active_) {
    V before = load_slot(s, value->getType());
    value = select_lanes(bits(active_), value, before);
  }
  store_slot(s, value);
}

void Emitter::if_uniform(OpId id) {
  const Op& o = p_.op(id);
  Context c;
  c.op = id;
  for (const ValueId r : p_.results(id))
    c.values.push_back(k_.uses[r] ? slot(type_of(r)) : nullptr);
  BB yes = block("then");
  BB no = block("else");
  BB end = block("end");
  b_.CreateCondBr(get(p_.operand(id, 0)), yes, no);
  V before = active_;
  contexts_.push_back(c);
  enter(yes);
  ops(p_.blocks[o.first_block].first, end);
  enter(no);
  active_ = before;
  ops(p_.blocks[o.first_block + 1].first, end);
  c.values = contexts_.back().values;
  contexts_.pop_back();
  active_ = before;
  enter(end);
  for (uint32_t i = 0; i < o.results.count; ++i)
    if (c.values[i]) set(p_.result(id, i), load_slot(c.values[i], type_of(p_.result(id, i))));
}

/// A divergent condition: one branch after the other, each skipped if no lane takes it. A branch
/// that only yields stores its values first.
void Emitter::if_masked(OpId id) {
  const Op& o = p_.op(id);
  const auto is_empty = [&](uint32_t arm) {
    return p_.op(p_.blocks[o.first_block + arm].first).code == Opcode::Yield;
  };
  V condition = get(p_.operand(id, 0));
  V before = active_;
  const uint32_t first = is_empty(0) ? 0 : is_empty(1) ? 1 : 2;  // the branch that only yields
  Context c;
  c.op = id;
  c.masked = true;
  for (uint32_t i = 0; i < o.results.count; ++i) {
    const ValueId r = p_.result(id, i);
    c.values.push_back(k_.uses[r] ? slot(type_of(r)) : nullptr);
    if (!c.values[i]) continue;
    V initial = llvm::Constant::getNullValue(type_of(r));
    if (first < 2) {
      const ValueId given = p_.operand(p_.blocks[o.first_block + first].first, i);
      initial = is_uniform(r) ? get(given) : lanes_of(given);
    }
    store_slot(c.values[i], initial);
  }
  c.blend = first < 2;
  contexts_.push_back(c);
  for (uint32_t arm = 0; arm < 2; ++arm) {
    if (arm == first) continue;
    V mask = mask_and(before, arm == 0 ? condition : b_.CreateNot(condition));
    BB yes = block(arm == 0 ? "then" : "else");
    BB end = block("end");
    b_.CreateCondBr(any(mask), yes, end);
    enter(yes);
    active_ = mask;
    ops(p_.blocks[o.first_block + arm].first, end);
    enter(end);
    contexts_.back().blend = true;
  }
  contexts_.pop_back();
  active_ = before;
  for (uint32_t i = 0; i < o.results.count; ++i)
    if (c.values[i]) set(p_.result(id, i), load_slot(c.values[i], type_of(p_.result(id, i))));
}

}  // namespace vyre::emit_llvm
