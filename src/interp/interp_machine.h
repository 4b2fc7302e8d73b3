#pragma once

// Executes flat code. A Frame is the whole state of the workgroups in it, so it can be suspended
// and resumed; the Machine holds the state that all frames of a launch share.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "interp/interp_code.h"
#include "interp/interp_limits.h"
#include "interp/masks.h"
#include "interp/observer.h"
#include "interp/zeroed_memory.h"

namespace vyre::interp {

/// xorshift64*: reproducible on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull) {
    if (state_ == 0) state_ = 1;
  }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dull;
  }

 private:
  uint64_t state_;
};

struct TrapReport {
  std::array<uint32_t, 3> invocation;  // x, y, z
  uint32_t code;
  OpId op;
};

/// Why a run stopped. Refused: by the observer.
enum class Stop : uint8_t { Done, GridBarrier, Quantum, TimedOut, Refused };

struct FrameShadow;

struct Frame {
  ZeroedMemory memory;
  std::byte* base = nullptr;    // aligned to 64
  bool is_fresh = true;         // its arrays are still zeros
  IdMap<BufferId, View> views;  // by buffer
  uint32_t pc = 0;
  unsigned __int128 first_group = 0;  // linear, x fastest
  uint32_t group_count = 0;
  std::shared_ptr<FrameShadow> shadow;  // the sanitizer's
};

/// Bytes of a frame of a launch, saturated: values of its lanes, shared and private arrays.
uint64_t frame_bytes(const FlatCode& code, const LaunchShape& shape);

class Machine {
 public:
  /// `buffers` are the views of parameters and tables, by buffer index; `scalars` the bits of
  /// scalars.
  Machine(const FlatCode& code, const LaunchShape& shape, IdMap<BufferId, View> buffers,
          IdMap<BufferId, uint64_t> scalars, uint32_t subgroup_size, const Options& options,
          Clock& clock);

  /// Bytes of a frame, saturated.
  uint64_t frame_bytes() const { return frame_bytes_; }
  /// Makes a frame with its constants filled in. Throws bad_alloc.
  Frame make_frame() const;
  /// Begins with workgroups first … first + count - 1: ids, zeroed arrays, pc at the start. False:
  /// the time limit passed before all arrays were zeroed.
  [[nodiscard]] bool start(Frame& frame, unsigned __int128 first, uint32_t count);
  /// Runs until the frame is done or has to wait. With a quantum, stops after that many back-edges.
  Stop run(Frame& frame, uint64_t quantum);

  /// The trap of the lowest invocation so far.
  const std::optional<TrapReport>& trap() const { return trap_; }
  uint64_t lane_ops() const { return lane_ops_; }
  /// The op at which the time limit passed.
  OpId stopped_at() const { return stopped_at_; }
  Random& random() { return random_; }

 private:
  void fill_ids(Frame& frame) const;
  bool zero_arrays(Frame& frame);
  std::array<uint32_t, 3> invocation(const Frame& frame, uint32_t lane) const;
  void record_traps(const Frame& frame, const uint8_t* lanes, const uint32_t* codes, OpId op);
  const uint32_t* lane_order();
  bool else_first();
  bool out_of_time(OpId op);
  Stop observe(const Frame& frame, const Instr& instr, Mask active, const uint32_t* order);

  const FlatCode& code_;
  const LaunchShape& shape_;
  IdMap<BufferId, View> buffers_;
  IdMap<BufferId, uint64_t> scalars_;
  uint32_t subgroup_size_;
  const Schedule schedule_;
  Clock& clock_;
  Observer* const observer_;
  Random random_;

  std::array<std::vector<uint32_t>, 3> local_;  // ids of the lanes of one workgroup
  std::vector<uint32_t> orders_;                // permutations of the lanes, one after the other
  std::vector<std::byte> scratch_;
  uint64_t frame_bytes_ = 0;
  uint64_t lane_ops_ = 0;
  uint64_t executed_ = 0;   // instructions
  uint64_t next_poll_ = 0;  // in instructions
  std::optional<TrapReport> trap_;
  OpId stopped_at_ = none;
};

}  // namespace vyre::interp
