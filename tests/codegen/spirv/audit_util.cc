#include "tests/codegen/spirv/audit_util.h"

#include <fmt/format.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "tests/codegen/spirv/module_util.h"

namespace vyre::emit_spirv {
namespace {

class Audit {
 public:
  Audit(const std::vector<uint32_t>& words, const Program& given,
        const emit_exact::Profile& profile)
      : m_(words), given_(given), profile_(profile) {}

  std::vector<std::string> run() {
    need(spv::CapabilityShader);
    need(spv::CapabilityPhysicalStorageBufferAddresses);
    need(spv::CapabilityVulkanMemoryModel);
    for (const Instruction& i : m_.all) {
      floats(i);
      orders(i);
      modes(i);
      capabilities(i);
    }
    // Its last subgroup may have been filled.
    const uint32_t size = given_.workgroup[0] * given_.workgroup[1] * given_.workgroup[2];
    const uint32_t lanes = profile_.partial_subgroups ? 1 : profile_.subgroup_size;
    expect(local_size_ == size || local_size_ == (size + lanes - 1) / lanes * lanes,
           "the workgroup has another size");
    for (const uint32_t width : computed_) missing_modes(width);
    for (const uint32_t c : needed_)
      expect(declared_.contains(c), fmt::format("capability {} is missing", c));
    for (const uint32_t c : declared_)
      expect(needed_.contains(c), fmt::format("nobody needs capability {}", c));
    return std::move(found_);
  }

 private:
  void expect(bool holds, std::string otherwise) {
    if (!holds) found_.push_back(std::move(otherwise));
  }
  void need(uint32_t capability) { needed_.insert(capability); }

  /// Sums, products and quotients are never contracted, and come from nowhere else.
  void floats(const Instruction& i) {
    switch (i.op) {
      case spv::OpFAdd:
      case spv::OpFSub:
      case spv::OpFMul:
      case spv::OpFDiv: {
        const auto it = m_.decorations.find(i.operands[1]);
        expect(it != m_.decorations.end() && it->second.contains(spv::DecorationNoContraction),
               fmt::format("%{} may be contracted", i.operands[1]));
        computed_.insert(m_.width(i.operands[0]));
        break;
      }
      case spv::OpFNegate:
      case spv::OpFRem:
      case spv::OpFMod:
      case spv::OpDot:
      case spv::OpQuantizeToF16:
        expect(false, fmt::format("instruction {} is not exact", static_cast<int>(i.op)));
        break;
      case spv::OpExtInst: extended(i.operands[3]); break;
      default: break;
    }
  }

  void extended(uint32_t what) {
    switch (what) {
      case GLSLstd450RoundEven:
      case GLSLstd450Trunc:
      case GLSLstd450Floor:
      case GLSLstd450Ceil:
      case GLSLstd450Sqrt:
      case GLSLstd450Fma:
      case GLSLstd450NMin:
      case GLSLstd450NMax:
      case GLSLstd450SMin:
      case GLSLstd450SMax:
      case GLSLstd450UMin:
      case GLSLstd450UMax:
      case GLSLstd450FindILsb:
      case GLSLstd450FindUMsb:
      case GLSLstd450FAbs:  // to look for small numbers: OpMark::MayFlush
        break;
      default: expect(false, fmt::format("GLSL.std.450 instruction {} is not exact", what));
    }
  }

  /// An order of memory: of all memory, available before and visible after; or none. A barrier's
  /// may be of shared memory only, if no buffer was written before it.
  void order(uint32_t id, bool may_be_none) {
    const uint32_t bits = m_.constant(id);
    if (bits == 0 || bits == spv::MemorySemanticsVolatileMask)
      return expect(may_be_none, "a barrier without an order");
    const bool acquires =
        bits & (spv::MemorySemanticsAcquireMask | spv::MemorySemanticsAcquireReleaseMask);
    const bool releases =
        bits & (spv::MemorySemanticsReleaseMask | spv::MemorySemanticsAcquireReleaseMask);
    const auto buffers = may_be_none || writes_ ? spv::MemorySemanticsUniformMemoryMask
                                                : spv::MemorySemanticsMaskNone;
    const uint32_t memory = buffers | spv::MemorySemanticsWorkgroupMemoryMask;
    const bool whole = (bits & memory) == memory && (acquires || releases) &&
                       acquires == bool(bits & spv::MemorySemanticsMakeVisibleMask) &&
                       releases == bool(bits & spv::MemorySemanticsMakeAvailableMask) &&
                       !(bits & spv::MemorySemanticsSequentiallyConsistentMask);
    expect(bits != ~0u && whole, fmt::format("order {:#x} is not whole", bits));
  }

  void orders(const Instruction& i) {
    if (i.op == spv::OpStore && m_.storage(i.operands[0]) == spv::StorageClassPhysicalStorageBuffer)
      writes_ = true;
    if (is_atomic(i.op)) {
      const size_t at = i.op == spv::OpAtomicStore ? 0 : 2;  // the pointer
      const uint32_t scope = m_.constant(i.operands[at + 1]);
      const bool is_shared = m_.storage(i.operands[at]) == spv::StorageClassWorkgroup;
      expect(scope == spv::ScopeWorkgroup || (!is_shared && scope == spv::ScopeQueueFamily),
             fmt::format("an atomic with scope {}", scope));
      order(i.operands[at + 2], true);
      if (i.op == spv::OpAtomicCompareExchange) order(i.operands[at + 3], true);
    }
    if (i.op == spv::OpControlBarrier) {
      const uint32_t scope = m_.constant(i.operands[0]);
      expect(scope == spv::ScopeWorkgroup || scope == spv::ScopeSubgroup,
             fmt::format("a barrier of scope {}", scope));
      expect(scope == m_.constant(i.operands[1]), "a barrier that orders less than it stops");
      order(i.operands[2], false);
    }
    expect(i.op != spv::OpMemoryBarrier, "a fence that no barrier goes with");
  }

  void modes(const Instruction& i) {
    if (i.op != spv::OpExecutionMode) return;
    const uint32_t mode = i.operands[1];
    if (mode == spv::ExecutionModeLocalSize) {
      local_size_ = i.operands[2] * i.operands[3] * i.operands[4];
      return;
    }
    modes_.insert({mode, i.operands[2]});
    expect(has_mode(mode, i.operands[2]),
           fmt::format("mode {} of {} bits, which the device does not have", mode, i.operands[2]));
  }

  bool has_mode(uint32_t mode, uint32_t width) const {
    const bool is_wide = width == 64;
    switch (mode) {
      case spv::ExecutionModeRoundingModeRTE: return is_wide ? profile_.rte64 : profile_.rte32;
      case spv::ExecutionModeDenormPreserve:
        return is_wide ? profile_.denorm_preserve64 : profile_.denorm_preserve32;
      case spv::ExecutionModeSignedZeroInfNanPreserve:
        return is_wide ? profile_.signed_zero_inf_nan64 : profile_.signed_zero_inf_nan32;
      default: return false;
    }
  }

  void missing_modes(uint32_t width) {
    for (const uint32_t mode :
         {uint32_t{spv::ExecutionModeRoundingModeRTE}, uint32_t{spv::ExecutionModeDenormPreserve},
          uint32_t{spv::ExecutionModeSignedZeroInfNanPreserve}})
      expect(!has_mode(mode, width) || modes_.contains({mode, width}),
             fmt::format("mode {} of {} bits is not asked for", mode, width));
  }

  void capabilities(const Instruction& i) {
    switch (i.op) {
      case spv::OpCapability: declared_.insert(i.operands[0]); return;
      case spv::OpTypeInt:
        if (i.operands[1] == 64) need(spv::CapabilityInt64);
        return;
      case spv::OpTypeFloat:
        if (i.operands[1] == 64) need(spv::CapabilityFloat64);
        return;
      case spv::OpTypePointer:
      case spv::OpTypeArray: return narrow(i);
      case spv::OpExecutionMode:
        if (i.operands[1] == spv::ExecutionModeRoundingModeRTE)
          need(spv::CapabilityRoundingModeRTE);
        if (i.operands[1] == spv::ExecutionModeDenormPreserve) need(spv::CapabilityDenormPreserve);
        if (i.operands[1] == spv::ExecutionModeSignedZeroInfNanPreserve)
          need(spv::CapabilitySignedZeroInfNanPreserve);
        return;
      case spv::OpGroupNonUniformAny: need(spv::CapabilityGroupNonUniformVote); break;
      case spv::OpGroupNonUniformBallot: need(spv::CapabilityGroupNonUniformBallot); break;
      case spv::OpGroupNonUniformShuffle: need(spv::CapabilityGroupNonUniformShuffle); break;
      case spv::OpControlBarrier:
        if (m_.constant(i.operands[0]) == spv::ScopeSubgroup) need(spv::CapabilityGroupNonUniform);
        return;
      case spv::OpDecorate:
        if (i.operands[1] == spv::DecorationBuiltIn &&
            (i.operands[2] == spv::BuiltInSubgroupId ||
             i.operands[2] == spv::BuiltInSubgroupLocalInvocationId))
          need(spv::CapabilityGroupNonUniform);
        return;
      case spv::OpAtomicFAddEXT: return need(spv::CapabilityAtomicFloat32AddEXT);
      default:
        if (is_atomic(i.op) && i.op != spv::OpAtomicStore && m_.width(i.operands[0]) == 64)
          return need(spv::CapabilityInt64Atomics);
        if (i.op == spv::OpAtomicStore && m_.width(m_.type_of(i.operands[3])) == 64)
          return need(spv::CapabilityInt64Atomics);
        if (i.op < spv::OpGroupNonUniformIAdd || i.op > spv::OpGroupNonUniformLogicalXor) return;
        need(spv::CapabilityGroupNonUniformArithmetic);
    }
    need(spv::CapabilityGroupNonUniform);
  }

  /// Narrow elements: in buffers, or in arrays of our own.
  void narrow(const Instruction& i) {
    const bool is_array = i.op == spv::OpTypeArray;
    const uint32_t bits = m_.width(i.operands[is_array ? 1 : 2]);
    if (bits != 8 && bits != 16) return;
    if (is_array) return need(bits == 8 ? spv::CapabilityInt8 : spv::CapabilityInt16);
    if (i.operands[1] == spv::StorageClassPhysicalStorageBuffer)
      need(bits == 8 ? spv::CapabilityStorageBuffer8BitAccess
                     : spv::CapabilityStorageBuffer16BitAccess);
  }

  const ModuleTable m_;
  const Program& given_;
  const emit_exact::Profile& profile_;
  bool writes_ = false;  // a buffer, so far
  uint32_t local_size_ = 0;
  std::set<std::pair<uint32_t, uint32_t>> modes_;  // and widths
  std::set<uint32_t> computed_;                    // widths
  std::set<uint32_t> needed_, declared_;           // capabilities
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> mistakes(const std::vector<uint32_t>& words, const Program& given,
                                  const emit_exact::Profile& profile) {
  return Audit(words, given, profile).run();
}

}  // namespace vyre::emit_spirv
