#pragma once

// Analysis of a lowered program, done before the emitter writes a word: the analysis for all GPUs
// (codegen/common/gpu_analysis.h), the implementation of subgroups, and the uniformity of control
// flow.

#include <optional>
#include <vector>

#include "check/uniformity.h"
#include "codegen/common/gpu_analysis.h"
#include "codegen/common/lowered_program.h"
#include "codegen/spirv/spirv_emit.h"

namespace vyre::emit_spirv {

/// The way that the lanes of a subgroup exchange values.
enum class Lanes : uint8_t {
  Alone,      // one lane
  Shuffle,    // by instructions: the device's subgroups are these, or aligned multiples of them
  Slots,      // the same, but through shared memory
  Workgroup,  // through shared memory between barriers of the workgroup: they are larger
};

struct SpirvAnalysis : GpuAnalysis {
  IdMap<BufferId, uint32_t> pieces;  // by buffer: elements of the lowered program per element
  IdMap<BufferId, bool> packed;      // by buffer: an array of narrow elements that is held as words
  IdMap<OpId, bool>
      saturates;  // by op: a 64-bit sum or difference that may be part of one that does
  Lanes lanes_by = Lanes::Alone;
  bool has_lanes = false;  // subgroup ops, or `lane_id`
  /// The workgroup is declared as one row. Devices divide each row of x into separate subgroups, so
  /// only a row, or rows of whole subgroups, are numbered as the specification numbers invocations.
  bool in_a_row = false;
  /// The number of declared invocations: more than the workgroup has where its last subgroup must
  /// be full. The additional ones return at once.
  uint32_t declared = 1;
  bool syncs = false;   // barriers, uniform loads, subgroup ops
  bool orders = false;  // … or atomics with an order: plain accesses take part in an order
  /// True if barriers order accesses to buffers. False if written buffers are used only after the
  /// last barrier.
  bool orders_buffers = false;
  bool polls_any = false;  // some loop polls the stop flag
  /// An invocation that traps continues without effects, because others wait for it
  /// (spirv_sync.cc).
  bool has_ghosts = false;
  std::optional<UniformityInfo> uniformity;  // where ghosts or polls need it

  Uniformity flow(OpId op) const { return uniformity ? uniformity->flow(op) : Uniformity::Varying; }
};

/// Sums and differences of 64 bits that may be part of a saturating operation: their operands or
/// results are limited, selected, or masked. Empty if the device's compiler may see them.
IdMap<OpId, bool> find_saturating(const Program& program, const emit_exact::Profile& profile);

/// `given` is the program that was lowered.
SpirvAnalysis analyze(const LoweredProgram& lowered, const Program& given,
                      const EmitOptions& options);

}  // namespace vyre::emit_spirv
