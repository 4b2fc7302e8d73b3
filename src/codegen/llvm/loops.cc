// Loops. Carried values live in slots. In a masked loop, `run` holds the lanes of the next
// iteration, `live` those of this one (the same slot unless there is a `continue`).

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

void Emitter::loop_op(OpId id) {
  const Op& o = p_.op(id);
  const bool is_for = o.code == Opcode::For;
  Context loop;
  loop.op = id;
  loop.is_loop = true;
  loop.masked = k_.masked[id];
  loop.entered = active_;
  loop.next = block("next");
  loop.exit = block("exit");
  const auto args = p_.args(o.first_block).subspan(is_for ? 1 : 0);
  const auto init = p_.operands(id).subspan(is_for ? 3 : 0);
  for (uint32_t k = 0; k < args.size(); ++k) {
    const ValueId a = args[k], r = p_.result(id, k);
    if (const uint32_t outer = shared_.of_argument[a]; outer != SharedSlots::own) {
      // It holds the initial value.
      loop.values.push_back(innermost_loop()->values[outer]);
      loop.shared.push_back(true);
      loop.results.push_back(k_.uses[r] != 0 ? loop.values[k] : nullptr);
      continue;
    }
    loop.shared.push_back(false);
    const bool stepping = !is_uniform(a) && is_integer(p_.type(a)) && shapes_.steps(a);
    loop.values.push_back(slot(stepping ? low_.value_type(p_.type(a)) : type_of(a)));
    store_slot(loop.values[k], is_uniform(a) ? get(init[k])
                               : stepping    ? base_of(init[k])
                                             : lanes_of(init[k]));
    Slot result = nullptr;
    if (k_.uses[r] != 0) {
      if (is_uniform(r) == is_uniform(a) && !stepping)
        result = loop.values[k];
      else if (!is_uniform(r))
        result = slot(type_of(r));
    }
    if (result && result != loop.values[k]) store_slot(result, lanes_of(init[k]));
    loop.results.push_back(result);
  }
  loops_.push_back(static_cast<uint32_t>(contexts_.size()));
  contexts_.push_back(loop);
  if (!is_for)
    while_loop(id, loop);
  else if (loop.masked)
    for_masked(id, loop);
  else
    for_plain(id, loop);
  contexts_.pop_back();
  loops_.pop_back();
  finish_loop(loop);
}

/// Begins a masked loop's masks. `mask`: the lanes of the first iteration.
void Emitter::begin_masks(Context& loop, V mask) {
  loop.run = loop.live = slot(mask_type());
  if (k_.continues[loop.op]) loop.live = slot(mask_type());
  store_slot(loop.run, wide(mask));
  contexts_.back() = loop;
}

/// At the start of an iteration: loads the active lanes and the carried values.
void Emitter::load_args(Context& loop) {
  if (loop.masked) {
    active_ = load_mask(loop.run);
    if (loop.live != loop.run) store_slot(loop.live, active_);
  }
  const Op& o = p_.op(loop.op);
  const auto args = p_.args(o.first_block).subspan(o.code == Opcode::For ? 1 : 0);
  for (uint32_t k = 0; k < args.size(); ++k) {
    const ValueId a = args[k];
    if (shared_.passes[a]) continue;
    if (!is_uniform(a) && is_integer(p_.type(a)) && shapes_.steps(a)) {
      V base = load_slot(loop.values[k], low_.value_type(p_.type(a)));
      set(a, step_out(base, *shapes_.stride(a)), base);
    } else {
      set(a, load_slot(loop.values[k], type_of(a)));
    }
  }
}

/// Stores the values that an exit passes to the loop: the next carried values, or the results.
void Emitter::carry(OpId exit, Context& loop, bool is_break) {
  const Op& o = p_.op(loop.op);
  const auto args = p_.args(o.first_block).subspan(o.code == Opcode::For ? 1 : 0);
  for (uint32_t k = 0; k < args.size(); ++k) {
    const ValueId a = args[k], from = p_.operand(exit, k);
    if (shared_.in_place[p_.op(exit).operands.begin + k]) continue;
    // A slot of the enclosing loop also holds the values of the lanes that have left that loop.
    const bool shared = loop.shared[k];
    Slot result = loop.results[k];
    const bool apart = result && result != loop.values[k];
    if (apart) store_carried(result, lanes_of(from), loop.masked);
    // A uniform value has one slot for all lanes. If no lane is active, as after a `continue` that
    // all lanes took, it keeps its value.
    const auto store_uniform = [&](Slot to) {
      V value = get(from);
      if (loop.masked) {
        // Named in order: the evaluation order of arguments is unspecified.
        V before = load_slot(to, value->getType());
        value = b_.CreateSelect(any(active_), value, before);
      }
      store_slot(to, value);
    };
    if (is_break) {
      if (!result || apart) continue;
      if (is_uniform(a))
        store_uniform(result);
      else
        store_carried(result, lanes_of(from), loop.masked || shared);
      continue;
    }
    if (is_uniform(a))
      store_uniform(loop.values[k]);
    else if (is_integer(p_.type(a)) && shapes_.steps(a)) {
      V base = base_of(from);
      if (loop.masked) {
        V before = load_slot(loop.values[k], base->getType());
        base = b_.CreateSelect(any(active_), base, before);
      }
      store_slot(loop.values[k], base);
    } else  // lanes that have left keep their values, if these are used
      store_carried(loop.values[k], lanes_of(from),
                    shared || (loop.masked && (result || k_.continues[loop.op])));
  }
}

void Emitter::finish_loop(Context& loop) {
  enter(loop.exit);
  active_ = loop.entered;
  const Op& o = p_.op(loop.op);
  const auto init = p_.operands(loop.op).subspan(o.code == Opcode::For ? 3 : 0);
  for (uint32_t k = 0; k < o.results.count; ++k) {
    const ValueId r = p_.result(loop.op, k);
    if (k_.uses[r] == 0 || shared_.passes[r]) continue;
    if (loop.results[k])
      set(r, load_slot(loop.results[k], type_of(r)));
    else
      set(r, get(init[k]));  // uniform though the carried value is not: it never changes
  }
  // Lanes that returned inside leave the enclosing loops, too.
  if (Context* outer = innermost_loop();
      outer && loop.masked && k_.drops[loop.op] && outer->masked) {
    V live = load_mask(body_live_);
    store_slot(outer->run, mask_and(load_mask(outer->run), live));
    if (outer->live != outer->run) store_slot(outer->live, mask_and(load_mask(outer->live), live));
  }
}

// ---- For: i takes lo, lo + step, … while below hi in exact integers.

/// True if the first value is below `hi`. Scalars or vectors.
llvm::Value* Emitter::for_runs(Type t, V lo, V hi, V step) {
  V zero = llvm::Constant::getNullValue(step->getType());
  V below = is_signed(t) ? b_.CreateICmpSLT(lo, hi) : b_.CreateICmpULT(lo, hi);
  V up = is_signed(t) ? b_.CreateICmpSGT(step, zero) : b_.CreateICmpNE(step, zero);
  return b_.CreateAnd(below, up);
}

/// True if i + step is still below `hi`, given that i is. The difference fits as an unsigned
/// number.
llvm::Value* Emitter::for_goes_on(V i, V hi, V step) {
  return b_.CreateICmpULT(step, b_.CreateSub(hi, i));
}

void Emitter::for_plain(OpId id, Context& loop) {
  const Op& o = p_.op(id);
  const ValueId counter = p_.args(o.first_block)[0];
  const Type t = p_.type(counter);
  V lo = get(p_.operand(id, 0));
  V hi = get(p_.operand(id, 1));
  V step = get(p_.operand(id, 2));
  BB body = block("for");
  Slot at = slot(lo->getType());
  store_slot(at, lo);
  b_.CreateCondBr(for_runs(t, lo, hi, step), body, loop.exit);
  enter(body);
  V i = load_slot(at, lo->getType());
  set(counter, i);
  load_args(loop);
  ops(p_.blocks[o.first_block].first, loop.next);
  enter(loop.next);
  V on = nullptr;
  V following = nullptr;
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(step); c && c->isOne()) {
    // i < hi, so one more does not wrap.
    following = b_.CreateAdd(i, step, "", is_unsigned(t), is_signed(t));
    on = is_signed(t) ? b_.CreateICmpSLT(following, hi) : b_.CreateICmpULT(following, hi);
  } else {
    on = for_goes_on(i, hi, step);
    following = b_.CreateAdd(i, step);
  }
  store_slot(at, following);
  if (k_.polls[id]) poll(id);
  b_.CreateCondBr(on, body, loop.exit);
}

void Emitter::for_masked(OpId id, Context& loop) {
  const Op& o = p_.op(id);
  const ValueId counter = p_.args(o.first_block)[0];
  const Type t = p_.type(counter);
  bool alike = true;  // all lanes take as many trips
  for (uint32_t k = 0; k < 3; ++k) alike = alike && is_uniform(p_.operand(id, k));
  const auto bound = [&](uint32_t k) {
    return alike ? get(p_.operand(id, k)) : lanes_of(p_.operand(id, k));
  };
  V lo = bound(0);
  V hi = bound(1);
  V step = bound(2);
  const bool stepping = !is_uniform(counter) && shapes_.steps(counter);
  V first = stepping              ? base_of(p_.operand(id, 0))
            : is_uniform(counter) ? get(p_.operand(id, 0))
                                  : lo;
  V one_step = stepping || is_uniform(counter) ? get(p_.operand(id, 2)) : step;
  Slot at = slot(first->getType());
  store_slot(at, first);
  BB body = block("for");
  V runs = for_runs(t, lo, hi, step);
  V mask = alike ? loop.entered : mask_and(loop.entered, runs);
  begin_masks(loop, mask);
  b_.CreateCondBr(alike ? runs : any(mask), body, loop.exit);
  enter(body);
  V i = load_slot(at, first->getType());
  V lanes = stepping ? step_out(i, *shapes_.stride(counter)) : i;
  set(counter, lanes, stepping ? i : nullptr);
  load_args(loop);
  ops(p_.blocks[o.first_block].first, loop.next);
  enter(loop.next);
  V left = load_mask(loop.run);
  V wide_i = alike || lanes->getType()->isVectorTy() ? lanes : splat(lanes);
  V on = for_goes_on(wide_i, hi, step);
  store_slot(at, b_.CreateAdd(i, one_step));
  if (!alike) left = mask_and(left, on);
  store_slot(loop.run, left);
  if (k_.polls[id]) poll(id);
  V some = any(left);
  b_.CreateCondBr(alike ? b_.CreateAnd(on, some) : some, body, loop.exit);
}

void Emitter::while_loop(OpId id, Context& loop) {
  const Op& o = p_.op(id);
  BB header = block("while");
  BB body = block("body");
  if (loop.masked) begin_masks(loop, loop.entered);
  b_.CreateBr(header);
  enter(header);
  load_args(loop);
  test_ = nullptr;
  ops(p_.blocks[o.first_block].first, loop.exit);
  if (!ended()) {
    V test = test_;
    if (!test->getType()->isVectorTy()) {
      b_.CreateCondBr(test, body, loop.exit);
    } else {
      active_ = mask_and(active_, test);
      store_slot(loop.run, active_);
      if (loop.live != loop.run) store_slot(loop.live, active_);
      V on = any(active_);
      b_.CreateCondBr(test_all_ ? b_.CreateAnd(on, test_all_) : on, body, loop.exit);
    }
  }
  enter(body);
  ops(p_.blocks[o.first_block + 1].first, loop.next);
  enter(loop.next);
  if (k_.polls[id]) poll(id);
  if (loop.masked)
    b_.CreateCondBr(any(load_mask(loop.run)), header, loop.exit);
  else
    b_.CreateBr(header);
}

}  // namespace vyre::emit_llvm
