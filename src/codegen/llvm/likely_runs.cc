// Run-time tests of likely strides (likely_strides.h).
//
// Each op has a scalar condition under which its lanes follow from lane 0: the first and the last
// lane of a clamped index are in range, or a remainder reaches the divisor after the last lane. For
// an op without such a rule, all lanes of the index are compared with the run that starts at lane
// 0.

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

llvm::Value* Emitter::both(V a, V b) {
  if (!a || !b) return a ? a : b;
  return b_.CreateAnd(a, b);
}

std::optional<Emitter::Run> Emitter::run_of(ValueId v) {
  if (is_uniform(v)) return Run{get(v), nullptr};
  if (shapes_.steps(v)) return Run{base_of(v), nullptr};
  const Made& m = made_[v];
  if (!m.likely.base || (m.epoch != 0 && m.epoch != epoch_)) return std::nullopt;
  return m.likely;
}

/// The run of an index with a stride, proved or likely.
Emitter::Run Emitter::index_run(ValueId index) {
  if (const auto run = run_of(index)) return *run;
  V lanes = lanes_of(index);
  V base = b_.CreateExtractElement(lanes, uint64_t{0});
  return {base, all(b_.CreateICmpEQ(lanes, step_out(base, *likely_.stride(index))))};
}

Emitter::Ends Emitter::ends_of(ValueId v, V base) {
  const int64_t stride = *likely_.stride(v);
  if (stride == 0) return {base, base, nullptr};
  const Type t = p_.type(v);
  const uint64_t span = static_cast<uint64_t>(std::abs(stride)) * (S_ - 1);
  if (!wraps_once(t, span)) return {base, base, b_.getFalse()};
  V last = b_.CreateAdd(
      base, llvm::ConstantInt::get(base->getType(), static_cast<uint64_t>(stride) * (S_ - 1)));
  if (shapes_.steps(v) && shapes_.is_exact(v)) return {base, last, nullptr};
  V low = stride > 0 ? base : last, high = stride > 0 ? last : base;
  return {base, last, is_signed(t) ? b_.CreateICmpSLE(low, high) : b_.CreateICmpULE(low, high)};
}

/// The run of `condition ? yes : no`, where the condition is uniform.
std::optional<Emitter::Run> Emitter::either_run(ValueId condition, ValueId yes, ValueId no,
                                                ValueId result) {
  const auto stride = likely_.stride(result);
  const auto fitting = [&](ValueId v) -> std::optional<Run> {
    if (!stride || likely_.stride(v) != stride) return std::nullopt;
    return run_of(v);
  };
  const auto a = fitting(yes), b = fitting(no);
  if (!a && !b) return std::nullopt;
  V c = get(condition);
  V is_yes = c, is_no = nullptr;
  if (c->getType()->isVectorTy()) {
    is_yes = all(c);
    is_no = b_.CreateNot(any(c));
  } else {
    is_no = b_.CreateNot(c);
  }
  if (!b) return Run{a->base, both(is_yes, a->holds)};
  if (!a) return Run{b->base, both(is_no, b->holds)};
  V holds = both(both(a->holds, b->holds), b_.CreateOr(is_yes, is_no));
  return Run{b_.CreateSelect(is_yes, a->base, b->base), holds};
}

std::optional<Emitter::Run> Emitter::likely_run(OpId id) {
  const Op& o = p_.op(id);
  const ValueId result = p_.result(id);
  const auto in = p_.operands(id);
  if (o.code == Opcode::Select) return either_run(in[0], in[1], in[2], result);
  const auto stride = likely_.stride(result);
  if (!stride) return std::nullopt;
  llvm::SmallVector<V, 4> bases;
  llvm::SmallVector<int64_t, 4> strides;
  V holds = nullptr;
  bool all_same = true;
  for (const ValueId v : in) {
    const auto step = likely_.stride(v);
    const auto run = step ? run_of(v) : std::nullopt;
    if (!run) return std::nullopt;
    bases.push_back(run->base);
    strides.push_back(*step);
    holds = both(holds, run->holds);
    all_same = all_same && *step == 0;
  }
  V base = low_.pure(o.code, o.type, p_.type(in[0]), bases);
  if (all_same) return *stride == 0 ? std::optional(Run{base, holds}) : std::nullopt;
  const auto follows = run_condition(id, bases, strides, base);
  if (!follows) return std::nullopt;
  return Run{base, both(holds, *follows)};
}

/// The condition under which the lanes of an op follow from those of its operands. Null: always;
/// none: unknown. Operands are runs with these bases and strides, and not all strides are 0.
std::optional<llvm::Value*> Emitter::run_condition(OpId id, llvm::ArrayRef<V> bases,
                                                   llvm::ArrayRef<int64_t> strides, V base) {
  const Op& o = p_.op(id);
  const auto in = p_.operands(id);
  const int64_t stride = *likely_.stride(p_.result(id));
  const Type t = p_.type(in[0]);
  const auto constant = [&](uint32_t i) { return llvm::dyn_cast<llvm::ConstantInt>(bases[i]); };
  const auto when = [](bool known) { return known ? std::optional<V>(nullptr) : std::nullopt; };
  const auto at_least = [&](V a, V b) {
    return is_signed(t) ? b_.CreateICmpSGE(a, b) : b_.CreateICmpUGE(a, b);
  };
  switch (o.code) {
    case Opcode::Add: return when(stride == strides[0] + strides[1]);
    case Opcode::Sub: return when(stride == strides[0] - strides[1]);
    case Opcode::Mul:
      for (uint32_t i = 0; i < 2; ++i)
        if (auto* c = constant(i); c && c->getValue().ult(1 << 20))
          return when(stride == strides[1 - i] * static_cast<int64_t>(c->getZExtValue()));
      return std::nullopt;
    case Opcode::Shl:
      if (auto* c = constant(1); c && c->getValue().ult(std::min(20u, width_of(t))))
        return when(stride == strides[0] * (int64_t{1} << c->getZExtValue()));
      return std::nullopt;
    case Opcode::Cast: {
      if (stride != strides[0]) return std::nullopt;
      const bool widens = width_of(o.type) > width_of(t);
      return widens ? ends_of(in[0], bases[0]).straight : nullptr;
    }
    case Opcode::Min:
    case Opcode::Max: {
      const bool is_max = o.code == Opcode::Max;
      if (strides[0] == strides[1] && stride == strides[0]) {
        V straight = ends_of(in[0], bases[0]).straight;
        return both(straight, ends_of(in[1], bases[1]).straight);
      }
      const uint32_t moving = strides[0] == 0 ? 1 : 0;
      if (strides[1 - moving] != 0 || stride != strides[moving]) return std::nullopt;
      const Ends e = ends_of(in[moving], bases[moving]);
      V end = is_max == (stride > 0) ? e.first : e.last, fixed = bases[1 - moving];
      return both(e.straight, is_max ? at_least(end, fixed) : at_least(fixed, end));
    }
    case Opcode::Clamp: {
      if (strides[1] != 0 || strides[2] != 0 || stride != strides[0]) return std::nullopt;
      const Ends e = ends_of(in[0], bases[0]);
      V low = stride > 0 ? e.first : e.last, high = stride > 0 ? e.last : e.first;
      V inside = both(at_least(low, bases[1]), at_least(bases[2], high));
      return both(e.straight, inside);
    }
    case Opcode::And:
      for (uint32_t i = 0; i < 2; ++i)
        if (auto* c = constant(i); c && (c->getValue() + 1).isPowerOf2())
          return stride == strides[1 - i] ? reaches(t, stride, b_.CreateSub(bases[i], base))
                                          : std::nullopt;
      return std::nullopt;
    case Opcode::Rem:
    case Opcode::Div: {
      if (strides[1] != 0 || strides[0] <= 0) return std::nullopt;
      const bool is_rem = o.code == Opcode::Rem;
      if (stride != (is_rem ? strides[0] : 0)) return std::nullopt;
      const Ends e = ends_of(in[0], bases[0]);
      // Lanes that are left until the quotient changes, after the first.
      V by = bases[1];
      V rest = is_rem ? base : b_.CreateSub(e.first, b_.CreateMul(base, by));
      V left = b_.CreateSub(b_.CreateSub(by, rest), llvm::ConstantInt::get(by->getType(), 1));
      auto enough = reaches(t, strides[0], left);
      V zero = llvm::Constant::getNullValue(by->getType());
      if (!is_signed(t)) enough = both(*enough, b_.CreateICmpNE(by, zero));
      if (is_signed(t))
        enough = both(both(*enough, b_.CreateICmpSGT(by, zero)), at_least(e.first, zero));
      return both(e.straight, *enough);
    }
    case Opcode::Shr: {
      if (stride != 0 || strides[1] != 0) return std::nullopt;
      const Ends e = ends_of(in[0], bases[0]);
      V last = low_.pure(o.code, o.type, t, {e.last, bases[1]});
      return both(e.straight, b_.CreateICmpEQ(base, last));
    }
    default: return std::nullopt;
  }
}

/// True if `left`, an unsigned number, is at least what a run with this stride adds to lane 0.
std::optional<llvm::Value*> Emitter::reaches(Type t, int64_t stride, V left) {
  const uint64_t span = static_cast<uint64_t>(stride) * (S_ - 1);
  if (stride <= 0 || !wraps_once(t, span)) return std::nullopt;
  return b_.CreateICmpUGE(left, llvm::ConstantInt::get(left->getType(), span));
}

/// The lanes of a value whose vector was not computed where it is defined.
llvm::Value* Emitter::compute_lanes(ValueId v, std::map<ValueId, V>& done) {
  if (const auto found = done.find(v); found != done.end()) return found->second;
  const Made& m = made_[v];
  V lanes = nullptr;
  if (shapes_.steps(v)) {
    lanes = step_out(base_of(v), *shapes_.stride(v));
  } else if (m.likely.base && !m.value && m.epoch == epoch_) {
    const OpId def = p_.values[v].def;
    const Op& o = p_.op(def);
    llvm::SmallVector<V, 4> operands;
    for (const ValueId u : p_.operands(def)) operands.push_back(compute_lanes(u, done));
    lanes = low_.pure(o.code, o.type, p_.type(p_.operand(def, 0)), operands);
  } else {
    lanes = lanes_of(v);
  }
  return done[v] = lanes;
}

}  // namespace vyre::emit_llvm
