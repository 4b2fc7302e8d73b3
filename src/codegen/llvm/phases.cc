// Code that runs once per workgroup, and parallel regions: loops over its subgroups.

#include "codegen/llvm/phases.h"

#include <utility>

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

/// A block that is executed once per workgroup.
void Emitter::workgroup_block(BlockId block) {
  for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next) {
    const Op& op = p_.op(at);
    if (is_on_demand(op.code)) continue;
    if (stretches_.of_op[at] != 0) {
      pending_.push_back(at);
      continue;
    }
    workgroup_op(at);
  }
}

void Emitter::workgroup_op(OpId id) {
  const Line line(*this, id);
  const Op& op = p_.op(id);
  switch (op.code) {
    case Opcode::Return: return flush();
    case Opcode::Barrier:
      if (k_.phased && Scope(op.attr) == Scope::Workgroup) flush();
      return;
    case Opcode::UniformLoad: {
      flush();
      const Place place = place_of(id);
      V raw = load_raw(place, p_.operand(id, 0));
      set(p_.result(id), low_.from_element(place.element, raw));
      return;
    }
    case Opcode::If: flush(); return workgroup_if(id);
    case Opcode::While: flush(); return workgroup_while(id);
    case Opcode::Region:
      flush();
      workgroup_block(op.first_block);
      return flush();
    case Opcode::Test: return flush();
    default: {
      // The op is uniform over the workgroup, and is executed before asserts and returns that
      // precede it.
      const bool before = std::exchange(speculating_, true);
      this->op(id);
      speculating_ = before;
    }
  }
}

void Emitter::workgroup_if(OpId id) {
  BB yes = block("all_then");
  BB no = block("all_else");
  BB end = block("all_end");
  b_.CreateCondBr(get(p_.operand(id, 0)), yes, no);
  const BB arms[] = {yes, no};
  for (uint32_t i = 0; i < 2; ++i) {
    enter(arms[i]);
    workgroup_block(p_.op(id).first_block + i);
    flush();
    go(end);
  }
  enter(end);
}

/// The test's block is the header; carried values are in homes.
void Emitter::workgroup_while(OpId id) {
  const Op& op = p_.op(id);
  const auto args = p_.args(op.first_block);
  // The initial values: as a yield into the arguments.
  std::vector<ValueId> to(args.begin(), args.end());
  yield_across(id, to);
  BB header = block("all_while");
  BB body = block("all_body");
  BB end = block("all_end");
  b_.CreateBr(header);
  enter(header);
  workgroup_block(op.first_block);
  flush();
  const OpId test = p_.blocks[op.first_block].last;
  if (p_.op(test).code == Opcode::Test)
    b_.CreateCondBr(get(p_.operand(test, 0)), body, end);
  else
    go(end);
  enter(body);
  workgroup_block(op.first_block + 1);
  flush();
  if (k_.has_traps && !ended()) {
    // A loop ends when no lane is live any more.
    V any_live = b_.getFalse();
    llvm::Type* row = llvm::FixedVectorType::get(b_.getInt8Ty(), S_);
    for (uint32_t j = 0; j < k_.subgroups; ++j) {
      V lanes =
          b_.CreateAlignedLoad(row, arena_at(live_offset_ + uint64_t{j} * S_), llvm::Align(1));
      V bits = b_.CreateBitCast(lanes, b_.getIntNTy(S_ * 8));
      any_live = b_.CreateOr(any_live,
                             b_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType())));
    }
    BB on = block("all_live");
    b_.CreateCondBr(any_live, on, end);
    enter(on);
  }
  if (k_.polls[id]) poll(id);
  b_.CreateBr(header);
  enter(end);
  // The results are where the arguments are, or are copied.
  std::vector<ValueId> from, results;
  for (uint32_t i = 0; i < args.size(); ++i) {
    const ValueId r = p_.result(id, i);
    const Home &a = stretches_.home[args[i]], &h = stretches_.home[r];
    if (h.kind == Home::Kind::Scalar && a.kind == Home::Kind::Scalar) {
      home_slot_[r] = home_slot_[args[i]];
    } else if (h.kind != a.kind || h.offset != a.offset) {
      from.push_back(args[i]);
      results.push_back(r);
    }
  }
  copy_across(from, results);
}

/// Stores the values of an exit, or of a loop at its start, to homes.
void Emitter::yield_across(OpId exit, const std::vector<ValueId>& to) {
  const auto from = p_.operands(exit);
  copy_across({from.begin(), from.end()}, to);
}

void Emitter::copy_across(const std::vector<ValueId>& from, const std::vector<ValueId>& to) {
  std::vector<std::pair<ValueId, ValueId>> spread;
  std::vector<std::pair<V, ValueId>> scalars;
  for (size_t i = 0; i < to.size(); ++i) {
    const Home& home = stretches_.home[to[i]];
    if (home.kind == Home::Kind::Arena)
      spread.emplace_back(from[i], to[i]);
    else
      scalars.emplace_back(get(from[i]), to[i]);
  }
  for (const auto& [value, v] : scalars) {
    store_slot(home_slot(v), value);
  }
  if (spread.empty()) return;
  stretch({}, [&] {
    std::vector<V> values;
    for (const auto& [f, t] : spread) values.push_back(is_uniform(t) ? get(f) : lanes_of(f));
    for (size_t i = 0; i < spread.size(); ++i) {
      made_[spread[i].second] = {values[i], nullptr, epoch_};
      export_value(spread[i].second);
    }
  });
}

void Emitter::flush() {
  if (pending_.empty()) return;
  std::vector<OpId> ops;
  ops.swap(pending_);
  const OpId last = ops.back();
  const Opcode code = p_.op(last).code;
  if (code != Opcode::Yield) return stretch(ops, [] {});
  ops.pop_back();
  // The values of the exit: scalars are copied after the parallel region, the rest at its end, all
  // read before any is written.
  const OpId parent = p_.blocks[p_.op(last).parent].parent;
  const auto targets =
      is_loop(p_.op(parent).code) ? p_.args(p_.op(parent).first_block) : p_.results(parent);
  const auto from = p_.operands(last);
  std::vector<std::pair<ValueId, ValueId>> spread, scalars;
  for (size_t i = 0; i < targets.size(); ++i) {
    const bool in_arena = stretches_.home[targets[i]].kind == Home::Kind::Arena;
    (in_arena ? spread : scalars).emplace_back(from[i], targets[i]);
  }
  if (!ops.empty() || !spread.empty())
    stretch(ops, [&] {
      std::vector<V> values;
      for (const auto& [f, t] : spread) values.push_back(is_uniform(t) ? get(f) : lanes_of(f));
      for (size_t i = 0; i < spread.size(); ++i) {
        made_[spread[i].second] = {values[i], nullptr, epoch_};
        export_value(spread[i].second);
      }
    });
  std::vector<V> values;
  for (const auto& [f, t] : scalars) values.push_back(get(f));
  for (size_t i = 0; i < scalars.size(); ++i) {
    const ValueId v = scalars[i].second;
    store_slot(home_slot(v), values[i]);
  }
}

/// A loop over the subgroups.
void Emitter::stretch(const std::vector<OpId>& list, llvm::function_ref<void()> at_end) {
  llvm::Type* i64 = b_.getInt64Ty();
  const bool several = k_.subgroups > 1;
  BB entry = block("subgroup");
  BB body = block("lanes");
  BB end = block("subgroup_end");
  BB before = b_.GetInsertBlock();
  b_.CreateBr(entry);
  enter(entry);
  llvm::PHINode* number = nullptr;
  if (several) {
    number = b_.CreatePHI(i64, 2);
    number->addIncoming(b_.getInt64(0), before);
    subgroup_ = number;
  } else {
    subgroup_ = b_.getInt64(0);
  }
  // Neighbouring workgroups in the inner loop.
  BB around = entry;
  llvm::PHINode* nth = nullptr;
  V first_group = group_[0];
  if (abreast_) {
    entry = block("abreast");
    b_.CreateBr(entry);
    enter(entry);
    nth = b_.CreatePHI(b_.getInt32Ty(), 2);
    nth->addIncoming(b_.getInt32(0), around);
    group_[0] = b_.CreateAdd(first_group, nth);
  }
  b_.CreateBr(body);
  stretch_entry_ = entry;
  stretch_end_ = end;
  epoch_ = ++stretch_count_;
  ids_.clear();
  for (V& base : array_base_) base = nullptr;

  enter(body);
  if (!k_.phased) zero_arrays(Role::Private);
  active_ = nullptr;
  if (k_.workgroup % S_ != 0) {
    V left = b_.CreateSub(b_.getInt64(k_.workgroup), b_.CreateMul(subgroup_, b_.getInt64(S_)));
    V left32 = b_.CreateTrunc(left, b_.getInt32Ty());
    active_ = wide(b_.CreateICmpULT(iota(b_.getInt32Ty()), splat(left32)));
  }
  const bool keeps_live = k_.phased && k_.has_traps;
  llvm::Type* row = llvm::FixedVectorType::get(b_.getInt8Ty(), S_);
  V live_at = nullptr;
  if (keeps_live) {
    // Named in order: the evaluation order of arguments is unspecified.
    V first = b_.CreateMul(subgroup_, b_.getInt64(S_));
    live_at = b_.CreateGEP(b_.getInt8Ty(), arena_at(live_offset_), first);
    V live = b_.CreateAlignedLoad(row, live_at, llvm::Align(1));
    active_ = mask_and(active_, b_.CreateICmpNE(live, llvm::Constant::getNullValue(row)));
  }
  if (k_.masked_body) {
    if (!body_live_) body_live_ = slot(mask_type());
    store_slot(body_live_, wide(active_));
  }
  if (keeps_live) {
    BB on = block("live");
    b_.CreateCondBr(any(active_), on, end);
    enter(on);
  }
  contexts_.clear();
  for (size_t i = 0; i < list.size() && !ended(); ++i) {
    V before_op = active_;
    if (is_exit(p_.op(list[i]).code)) {
      leave(list[i], end);
      break;
    }
    op(list[i]);
    if (k_.drops[list[i]]) refresh_active(before_op, i + 1 < list.size() ? list[i + 1] : none, end);
  }
  if (!ended()) at_end();
  go(end);
  enter(end);
  if (keeps_live)
    b_.CreateAlignedStore(b_.CreateSExt(load_slot(body_live_, mask_type()), row), live_at,
                          llvm::Align(1));
  active_ = nullptr;
  epoch_ = 0;
  if (abreast_) {
    BB all = block("all_abreast");
    V other = b_.CreateAdd(nth, b_.getInt32(1));
    nth->addIncoming(other, end);
    b_.CreateCondBr(b_.CreateICmpULT(other, abreast_), entry, all);
    enter(all);
    end = all;
    entry = around;
    group_[0] = first_group;
  }
  if (!several) return;
  BB next = block("workgroup_on");
  V following = b_.CreateAdd(number, b_.getInt64(1));
  number->addIncoming(following, end);
  b_.CreateCondBr(b_.CreateICmpULT(following, b_.getInt64(k_.subgroups)), entry, next);
  enter(next);
}

// ---- Homes.

/// Initialized to zero: it may be read when all lanes are dead.
Emitter::Slot Emitter::home_slot(ValueId v) {
  if (home_slot_[v]) return home_slot_[v];
  llvm::Type* type = low_.value_type(p_.type(v));
  home_slot_[v] = slot(type);
  at_start([&] { return b_.CreateStore(llvm::Constant::getNullValue(type), home_slot_[v]); });
  return home_slot_[v];
}

llvm::Value* Emitter::spill_address(const Home& home) {
  V base = arena_at(spill_offset_ + home.offset);
  return b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateMul(subgroup_, b_.getInt64(home.bytes)));
}

void Emitter::export_value(ValueId v) {
  const Home& home = stretches_.home[v];
  V value = made_[v].value;
  if (home.kind == Home::Kind::Scalar) {
    store_slot(home_slot(v), value);
    return;
  }
  if (p_.type(v) == Type::Bool) {
    llvm::Type* bytes = value->getType()->getWithNewType(b_.getInt8Ty());
    value = b_.CreateSExt(value, bytes);
  }
  llvm::StoreInst* store =
      b_.CreateAlignedStore(value, spill_address(home), llvm::Align(size_of(p_.type(v))));
  set_noalias(store, p_.buffers.next_id());
}

/// Rematerializes the value at the start of the parallel region, so that it dominates all uses.
llvm::Value* Emitter::make_again(ValueId v) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(stretch_entry_->getTerminator());
  pure_op(p_.values[v].def);
  return made_[v].value;
}

/// Loads or rematerializes a value that was computed in another parallel region.
llvm::Value* Emitter::reload(ValueId v) {
  const Home& home = stretches_.home[v];
  llvm::Type* type = type_of(v);
  if (home.kind == Home::Kind::Again) return make_again(v);
  if (home.kind != Home::Kind::Arena) {
    return load_slot(home_slot(v), type);
  }
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(stretch_entry_->getTerminator());
  const bool is_bool = p_.type(v) == Type::Bool;
  llvm::Type* raw = is_bool ? type->getWithNewType(b_.getInt8Ty()) : type;
  llvm::LoadInst* load =
      b_.CreateAlignedLoad(raw, spill_address(home), llvm::Align(size_of(p_.type(v))));
  set_noalias(load, p_.buffers.next_id());
  V value = is_bool ? b_.CreateICmpNE(load, llvm::Constant::getNullValue(raw)) : load;
  made_[v] = {value, nullptr, epoch_};
  return value;
}

}  // namespace vyre::emit_llvm
