#pragma once

// The events of a run that an observer receives: every access to memory and every barrier. A run
// without an observer pays one comparison with null for each memory instruction of a frame, and the
// barriers of a workgroup are not even compiled. The sanitizer is the only observer today.

#include <cstdint>
#include <span>

#include "interp/interp_code.h"
#include "interp/interp_limits.h"
#include "ir/module.h"

namespace vyre::interp {

struct Frame;

/// A launch that is about to begin. All of it outlives the launch.
struct Launched {
  const Program& program;
  const LaunchShape& shape;
  const FlatCode& code;
  uint32_t subgroup_size;
  Memory& memory;
};

/// One memory instruction that was executed, on the lanes of a frame.
struct Touched {
  uint32_t lanes;
  bool all;  // every lane is active
  const uint8_t* active;
  const void* index;
  const void* expected;   // atomic_cas: the value compared …
  const void* old;        // … with this previous value
  const void* value;      // atomics: the value written or combined
  const uint32_t* order;  // lanes in the order of execution; null: ascending
};

/// Whether the run continues.
enum class Next : uint8_t { GoOn, LookAtClock, Stop };

class Observer {
 public:
  virtual ~Observer() = default;

  /// The next launch is the call `node` of `graph`; parameters of the kernel are bound to these
  /// buffers of the graph, or to `none`.
  virtual void begin_call(const Graph& graph, const GraphNode& node, const Program& kernel,
                          const IdMap<BufferId, GraphBufferId>& bound) = 0;
  virtual void begin_launch(const Launched& launched) = 0;
  virtual void end_launch() = 0;
  /// The workgroups of the frame are assigned.
  virtual void begin_frame(Frame& frame) = 0;
  virtual Next touch(const Frame& frame, const Instr& instr, const Touched& touched) = 0;
  /// A barrier, or one side of a uniform_load. At a grid barrier this is the frame's arrival.
  virtual void arrive(const Frame& frame, const Instr& instr, Scope scope, const uint8_t* active,
                      const uint8_t* dead) = 0;
  /// All frames are at a grid barrier or done; `stray` is a GridBarrier at which some are while
  /// others are elsewhere, or null.
  virtual void pass_grid_barrier(const Instr* stray) = 0;
  /// The reason why touch returned Stop, or begin_launch or begin_frame failed; null if they did
  /// not.
  virtual const Diagnostic* failure() const = 0;
};

}  // namespace vyre::interp
