#pragma once

// The grid barrier by splitting: a program with grid barriers becomes segments without, launched
// one after the other on the same buffers. The end of a launch is the barrier.
//
// The program is divided into pieces at grid barriers and at the borders of the loops around them.
// A segment is one piece, or a chain of pieces that follow each other without a barrier in between:
// the end of one iteration and the beginning of the next run in one launch.
//
// A value that is live across a split point between two pieces
//   - is rematerialized, if it is pure, independent of memory and cheap (ids, lengths, scalars, …);
//   - is a scalar parameter of the segment, if the host computes it: counters and other variables
//     of loops that depend only on constants, scalars, lengths and each other;
//   - else is spilled to hidden scratch buffers, which the segments have after the program's
//   buffers:
//     a value that is the same for a workgroup once per workgroup, other values once per
//     invocation, shared and private arrays as a whole. A load or an atomic is never executed
//     again.
//
// An `if` around a barrier is opened again in each of its segments, with the spilled condition; a
// loop around a barrier is a step of the plan. Where the host can compute the test it counts
// iterations; elsewhere a device word says whether the loop continues, and the host reads it once
// per batch of iterations. Launches after the loop's end have no effect.
//
// A plan is data: printed by print(), checked by check_split() (plan/split/check_split.h), executed
// by walking its steps with StepControl (plan/split/step_control.h).
//
// Runs in time linear in the number of ops (but for regions and ifs, opened again in each segment
// that has a part of them).

#include <string>
#include <vector>

#include "diagnostics/result.h"
#include "ir/launch.h"
#include "ir/program.h"

namespace vyre::plan {

/// A buffer that the segments have after the program's buffers, zeroed before the first.
struct HiddenBuffer {
  enum class Rate : uint8_t { PerInvocation, PerWorkgroup, Once };
  Type element = Type::U32;
  Rate rate = Rate::PerInvocation;
  uint64_t per = 0;  // elements for each invocation or workgroup, or in all
  std::string name;
};

/// A value that the host computes: an op of the table over earlier nodes, or a variable.
struct HostNode {
  bool is_variable = false;
  Opcode code = Opcode::Const;
  Type type = Type::Void;
  Type source = Type::Void;  // of operand 0
  uint64_t attr = 0;         // as Op::attr; a variable's number
  std::vector<uint32_t> operands;
};

struct HostAssignment {
  uint32_t variable = 0;
  uint32_t node = 0;
};

struct Step {
  enum class Kind : uint8_t {
    Launch,     // run a piece over the whole grid
    Barrier,    // every piece before is done before any piece after begins
    LoopBegin,  // up to its LoopEnd while the host's test or the device's word holds
    LoopEnd,
    IfBegin,  // up to its IfEnd if the host's test has the wanted value
    IfEnd,
    Set  // variables of the host, all at once
  };
  Kind kind = Kind::Launch;
  uint32_t piece = 0;               // Launch
  uint32_t match = none;            // LoopBegin, IfBegin: its end; LoopEnd, IfEnd: its beginning
  uint32_t test = none;             // LoopBegin, IfBegin: a host node; none: a device word
  uint32_t word = none;             // LoopBegin without a host's test: element of the `once` buffer
  bool wanted = true;               // IfBegin
  std::vector<HostAssignment> set;  // Set
};

/// A value that the host computes for a piece, when its Launch is reached.
struct PieceParameter {
  uint32_t node = 0;
  Type type = Type::U32;
};

/// The part of the program between two split points.
struct Piece {
  std::vector<PieceParameter> parameters;
};

/// Pieces that run in one launch, as a node of a tree: the chain of `parent`, then `piece`.
struct Chain {
  uint32_t parent = none;
  uint32_t piece = none;
  uint32_t segment = none;      // the segment that runs it; none: never launched as it is
  std::vector<uint32_t> slots;  // by parameter of `piece`: index into SplitPlan::parameters
  std::vector<uint32_t> next;   // chains with one piece more
};

struct SplitPlan {
  std::vector<Program> segments;
  std::vector<HiddenBuffer> hidden;
  /// Types of the scalars that the segments have after the hidden buffers, set at each launch.
  std::vector<Type> parameters;
  std::vector<Piece> pieces;
  std::vector<Chain> chains;  // 0: the empty one
  std::vector<Step> steps;
  std::vector<HostNode> host;  // nodes refer to earlier ones
  uint32_t host_variables = 0;
  uint32_t cuts = 0;  // number of split points

  bool is_split() const { return steps.size() != 1 || segments.size() != 1 || !hidden.empty(); }
};

/// True if the program waits for the whole grid anywhere.
bool has_grid_barrier(const Program& program);

/// Splits a program that has passed the checker. Without a grid barrier: one segment, the program
/// itself.
Result<SplitPlan> split_at_grid_barriers(const Program& program);

/// Elements of every buffer of a segment, hidden ones included, from the shape of the original
/// launch; an error if the hidden ones are too large.
Result<LaunchShape> segment_shape(const Program& program, const SplitPlan& plan, LaunchShape shape);

/// Formats the plan for people: hidden buffers, steps, and the segments as text if wanted.
std::string print(const SplitPlan& plan, bool with_segments = false);

}  // namespace vyre::plan
