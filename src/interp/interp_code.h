#pragma once

// Flat code: the compiled form of a structured program. One instruction works on all lanes of a
// frame (a workgroup, or several packed side by side). Control is jumps plus masks, so that the
// state of a run is a pc and a frame: depth of nesting uses no stack, and a frame can be suspended
// at a grid barrier.
//
// Pure instructions run on all lanes, active or not: they are total and write only slots that no
// other lane needs later. Memory writes, traps, and copies into carried values and results are
// under the active mask.

#include <array>
#include <cstdint>
#include <vector>

#include "interp/interp_memory.h"
#include "ir/eval/eval.h"
#include "ir/program.h"

namespace vyre::interp {

/// A slot in a frame, in units of 64 bytes.
using Slot = uint32_t;
inline constexpr Slot no_slot = ~0u;

enum class Do : uint8_t {
  Eval,         // out = eval(in…)
  Fill,         // out = bits in every lane
  Copy,         // out = in[0], all lanes
  CopyActive,   // out = in[0], active lanes
  Load,         // out = buffer[in[0] + plus]
  Store,        // buffer[in[0] + plus] = in[1]
  Atomic,       // out = old buffer[in[0]]; operands in[1], in[2]
  Subgroup,     // out = op over the subgroup of in[0], in[1]
  IfBegin,      // splits the active lanes by in[0]; target: else block, exit: after the if
  ArmEnd,       // jumps to the other branch (target) if it is pending, else rejoins at exit
  ForBegin,     // i = out, lo hi step = in; exit: its LoopEnd
  ForNext,      // target: the body; falls to its LoopEnd
  WhileBegin,   // exit: its LoopEnd
  Test,         // keeps lanes where in[0] holds; exit: LoopEnd if none are left
  WhileNext,    // target: the test; falls to its LoopEnd
  LoopEnd,      // all lanes that entered continue, but for dead ones
  Continue,     // active lanes wait for the next iteration
  Break,        // active lanes wait for the LoopEnd
  Return,       // active lanes are done
  Trap,         // active lanes die with code in[0]
  Assert,       // active lanes where in[0] does not hold die with code in[1]
  Barrier,      // only notifies an observer, and compiled for one only; bits: its scope
  GridBarrier,  // suspends the frame until every frame arrives
  Poll,         // checks the clock; in long code without loops
  End,
};

/// `for` over one integer type: both return the number of active lanes left.
struct ForFns {
  /// i = lo; active &= lo < hi && step > 0.
  uint32_t (*begin)(uint32_t lanes, uint8_t* active, void* i, const void* lo, const void* hi,
                    const void* step);
  /// In lanes with i + step below hi in exact integers: i += step; in others active = 0.
  uint32_t (*next)(uint32_t lanes, uint8_t* active, void* i, const void* hi, const void* step);
};

struct Instr {
  Do what = Do::End;
  uint8_t operands = 0;         // Eval
  uint8_t width = 0;            // bytes of a lane: Fill, Copy, CopyActive
  bool else_empty = false;      // IfBegin: lanes that fail the condition only wait
  Opcode code = Opcode::Const;  // Subgroup
  Type type = Type::Void;       // Subgroup
  Slot out = no_slot;
  std::array<Slot, 4> in = {no_slot, no_slot, no_slot, no_slot};
  // If: joined lanes, and the pending branch's. Loops: lanes that entered, and those of the next
  // iteration. Continue: mask_b only.
  Slot mask_a = no_slot, mask_b = no_slot;
  uint32_t target = 0, exit = 0;
  uint32_t escape =
      0;  // ArmEnd, LoopEnd: target without active lanes: the end of the enclosing block
  BufferId buffer{0};
  uint32_t plus = 0;
  union {
    EvalFn eval;
    MemoryFn memory;
    AtomicFn atomic;
    const ForFns* loop;
    uint64_t bits = 0;
  };
  OpId op = none;  // for messages; for a Poll, the enclosing loop
};

/// A value that is the same in every lane of every frame; filled when a frame is made.
struct Constant {
  Slot slot;
  Type type;
  Opcode code;    // Const, NumWorkgroups, WorkgroupSize, SubgroupSize, Len, Len64, Scalar
  uint64_t attr;  // Op::attr
};

/// An id that differs between lanes; filled when a frame begins with a workgroup.
struct Id {
  Slot slot;
  Opcode code;  // GlobalId, LocalId, WorkgroupId, LaneId
  uint32_t dim;
};

struct FlatCode {
  const Program* program = nullptr;
  std::vector<Instr> instrs;
  std::vector<Constant> constants;
  std::vector<Id> ids;

  uint32_t group_lanes = 1;  // invocations of a workgroup
  uint32_t groups = 1;       // workgroups packed into a frame
  uint32_t lanes = 1;        // group_lanes * groups
  uint32_t stride = 64;  // lanes rounded up to 64: bytes of a mask, and of a lane array per byte

  Slot active = 0;     // mask: lanes that execute
  Slot dead = 0;       // mask: lanes that returned or trapped
  uint64_t units = 0;  // of all slots
  bool grid_sync = false;
  bool uses_subgroups = false;
};

}  // namespace vyre::interp
