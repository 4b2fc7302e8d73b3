// The lanes of a subgroup, and the exchange of their values: by the device's shuffle, or through
// shared memory between two barriers.

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

Id Emitter::native_lane() {
  m_.capability(spv::CapabilityGroupNonUniform);
  return builtin_word(spv::BuiltInSubgroupLocalInvocationId);
}

Id Emitter::lane() {
  if (f_.lanes == 1) return c32(0);
  return once({"lane"},
              [&] { return ins(spv::OpBitwiseAnd, u32(), {linear_id(), c32(f_.lanes - 1)}); });
}

Id Emitter::lanes_first() {
  return once({"lanes first"},
              [&] { return ins(spv::OpBitwiseAnd, u32(), {linear_id(), c32(~(f_.lanes - 1))}); });
}

Id Emitter::segment() {
  return once({"segment"},
              [&] { return ins(spv::OpBitwiseAnd, u32(), {native_lane(), c32(~(f_.lanes - 1))}); });
}

/// Waits for all lanes. Orders memory between them.
void Emitter::lanes_barrier() {
  if (f_.lanes_by == Lanes::Workgroup) return control_barrier(spv::ScopeWorkgroup);
  m_.capability(spv::CapabilityGroupNonUniform);
  control_barrier(spv::ScopeSubgroup);
}

Id Emitter::exchange(Type t, Id v, Id from) {
  const uint32_t n = width_of(t) == 64 ? 2 : 1;
  Id word[2] = {v, 0};
  if (n == 2) {
    const Id halves = ins(spv::OpBitcast, words(2), {v});
    for (uint32_t k = 0; k < 2; ++k) word[k] = part(halves, k);
  } else if (t == Type::Bool) {
    word[0] = ins(spv::OpSelect, u32(), {v, c32(1), c32(0)});
  } else if (t == Type::F32) {
    word[0] = bits_of(t, v);
  }
  if (f_.lanes_by == Lanes::Shuffle) {
    m_.capability(spv::CapabilityGroupNonUniform);
    m_.capability(spv::CapabilityGroupNonUniformShuffle);
    const bool whole = f_.lanes == options_.profile.subgroup_size;
    const Id at = whole ? from : ins(spv::OpIAdd, u32(), {segment(), from});
    for (uint32_t k = 0; k < n; ++k)
      word[k] =
          ins(spv::OpGroupNonUniformShuffle, u32(), {scope_of(spv::ScopeSubgroup), word[k], at});
  } else {
    const uint32_t slots = (f_.invocations + f_.lanes - 1) / f_.lanes * f_.lanes;
    const Id type = m_.type_pointer(spv::StorageClassWorkgroup, u32());
    const auto slot = [&](uint32_t k, Id index) {
      const Id array = shared_words(k == 0 ? "lanes" : "lanes high", slots);
      return ins(spv::OpAccessChain, type, {array, index});
    };
    for (uint32_t k = 0; k < n; ++k) store(slot(k, linear_id()), word[k], Space::Shared, none, 0);
    lanes_barrier();
    const Id at = ins(spv::OpIAdd, u32(), {lanes_first(), from});
    for (uint32_t k = 0; k < n; ++k) word[k] = load(slot(k, at), u32(), Space::Shared, none, 0);
    lanes_barrier();
  }
  if (n == 2) return ins(spv::OpBitcast, type_of(t), {pair(word[0], word[1])});
  if (t == Type::Bool) return ins(spv::OpINotEqual, b(), {word[0], c32(0)});
  return from_bits(t, word[0]);
}

}  // namespace vyre::emit_spirv
