// Loads at a constant stride from lane to lane: of up to 4 elements forwards or backwards, or of
// none.
//
// One test that the subgroup follows the stride and that all of it is inside, then a contiguous
// load of everything between the first and the last lane, and a shuffle. Lanes that fail the test
// are gathered.

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

/// The stride of an index in elements, if a wide load pays.
std::optional<int64_t> Emitter::run_stride(const Place& p, ValueId index) {
  const auto stride = likely_.stride(index);
  if (S_ == 1 || !stride) return std::nullopt;
  const int64_t bytes = *stride * static_cast<int64_t>(p.scale), size = p.size;
  if (bytes % size != 0 || std::abs(bytes / size) > max_load_stride) return std::nullopt;
  const uint64_t span = static_cast<uint64_t>(std::abs(*stride)) * (S_ - 1);
  if (!wraps_once(p_.type(index), span)) return std::nullopt;
  return bytes / size;
}

/// The elements of all lanes, from the address of the lowest one.
llvm::Value* Emitter::load_wide(const Place& p, V first, int64_t stride) {
  if (stride == 0) return splat(load_at(p, address(p, first), p.raw));
  const unsigned step = static_cast<unsigned>(std::abs(stride));
  V wide = load_at(p, address(p, first), llvm::FixedVectorType::get(p.raw, S_ * step));
  if (stride == 1) return wide;
  llvm::SmallVector<int, 64> lanes;
  for (unsigned l = 0; l < S_; ++l)
    lanes.push_back(static_cast<int>(step * (stride > 0 ? l : S_ - 1 - l)));
  return b_.CreateShuffleVector(wide, lanes);
}

llvm::Value* Emitter::load_run(const Place& p, ValueId index, int64_t stride) {
  const Type t = p_.type(index);
  const unsigned step = static_cast<unsigned>(std::abs(stride));
  const uint64_t element = p.size / p.scale;  // in steps of the index
  const Run run = index_run(index);
  V first = to_index64(p, t, run.base);
  if (stride < 0) first = b_.CreateSub(first, b_.getInt64(step * element * (S_ - 1)));
  const uint64_t elements = step == 0 ? 1 : uint64_t{step} * S_;
  V limit = dense_limit(p, t, (elements - 1) * element + p.plus);
  V inside = b_.CreateICmpULT(first, limit);
  // An unsigned index below zero is far above all elements, even if `plus` would wrap it back.
  if (stride < 0 && p.plus > 0 && is_unsigned(t))
    inside = both(inside, b_.CreateICmpUGE(first, b_.getInt64(p.plus)));
  BB fast = block("run");
  BB slow = block("scattered");
  BB end = block("loaded");
  branch(both(run.holds, inside), fast, slow, 1);
  enter(fast);
  V whole = load_wide(p, first, stride);
  b_.CreateBr(end);
  enter(slow);
  V parts = has_native_gather(p) ? load_gather(p, index) : call_gather(p, index);
  b_.CreateBr(end);
  enter(end);
  llvm::PHINode* value = b_.CreatePHI(whole->getType(), 2);
  value->addIncoming(whole, fast);
  value->addIncoming(parts, slow);
  return value;
}

}  // namespace vyre::emit_llvm
