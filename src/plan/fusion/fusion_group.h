#pragma once

// A group of calls that grows: whether a call may join those before it, and the cost of the group.
// Decided from summaries; no program is made.

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "plan/fusion/fuse_graph.h"
#include "plan/fusion/fusion_calls.h"
#include "plan/fusion/fusion_cost.h"
#include "plan/fusion/fusion_reasons.h"
#include "plan/fusion/fusion_summary.h"

namespace vyre::plan {

/// A group that grows call by call.
class FusionGrowth {
 public:
  FusionGrowth(const Graph& graph, const FusionCalls& calls, std::span<const CallSummary> summaries,
               const FusionOptions& options);

  /// Begins with one call of a sequence.
  void begin(uint32_t call, const Stretch& stretch);
  /// Adds the call after the last by the kind of join that is estimated to be fastest. On failure
  /// returns false and the condition that decided it.
  bool extend(std::string& why);
  /// Adds the call by a given kind of join only.
  bool extend(JoinKind kind, std::string& why);

  /// Returns a buffer that prevents the group in its current state, because it must be cleared
  /// inside of the group and is in memory (until a further call is the last that needs it); else
  /// none.
  GraphBufferId uncleared() const;
  /// Memory traffic of the group, in bytes.
  uint64_t bytes() const;
  /// Estimated time of the group's launch.
  double nanoseconds() const;
  /// The largest cost that the last join adds: "`f` is computed 2.0 times per element"; "" if none.
  std::string added_cost() const;
  std::vector<GraphBufferId> elided() const;
  const std::vector<JoinKind>& joins() const { return joins_; }
  uint32_t first() const { return first_; }
  uint32_t last() const { return last_; }

 private:
  enum class Known : uint8_t { Unknown, Yes, No };
  /// How closely a kind of join failed. The reason of the closest one is reported.
  enum class Progress : uint8_t {
    Inapplicable,  // the kind is not for such calls
    Limited,       // the kind does not support the group
    Checked,       // a condition on the data failed
    Decided        // no kind can fit
  };
  /// The group's accesses to a buffer of the graph.
  struct Touched {
    uint32_t epoch = 0;
    bool starts_as_zeros = false;  // the first call that uses it takes it as `out`
    bool reads_first = false;      // reads its contents from before the group
    bool reads = false, writes = false, atomics = false;
    bool used = false;      // an access, not only a length
    bool writable = false;  // by a role
    bool simple = true;     // can be kept in a register if each invocation has one element
    bool one_form = true;
    bool cleared_again = false;  // taken as `out` by a later call: must not be in memory
    bool gone = false;           // its loads compute it
    bool must_stay_uniform = false;
    uint32_t stores = 0;
    uint64_t bytes = 0;
    IndexForm form;
    mutable Known own = Known::Unknown;  // whether each invocation has a separate element
  };

  const CallSummary& summary(uint32_t call) const { return summaries_[call]; }
  Touched* find(GraphBufferId buffer) {
    return touched_[buffer].epoch == epoch_ ? &touched_[buffer] : nullptr;
  }
  const Touched* find(GraphBufferId buffer) const {
    return touched_[buffer].epoch == epoch_ ? &touched_[buffer] : nullptr;
  }
  void touch(const FusionCall& call, const BufferUse& use);
  void add_costs(uint32_t call);
  bool reads_in_a_loop(uint32_t call) const;
  void replay(std::span<const JoinKind> joins);
  void add_body(uint32_t call);
  void recompute_bodies(uint32_t at, BufferId load, GraphBufferId buffer);
  KernelEstimate estimated() const;
  double margin() const;
  bool may_coarsen() const;
  bool fits_limits(uint32_t call, std::string& why) const;
  bool append(uint32_t call, std::string& why);
  bool may_follow(const FusionCall& call, const BufferUse& use, bool& handed_over,
                  std::string& why) const;
  GraphBufferId begin_join(uint32_t call, std::string& why);
  bool recompute(uint32_t call, std::string& why);
  bool handoff(uint32_t call, std::string& why);
  std::string stage(uint32_t call) const { return stage_name(calls_, call); }
  uint32_t last_user(GraphBufferId buffer, bool writes) const;
  std::string why_crossing(uint32_t call, GraphBufferId buffer) const;
  std::string why_not_fresh(uint32_t call, GraphBufferId buffer) const;
  std::string why_not_one_store(GraphBufferId buffer) const;
  std::string why_not_pure() const;
  std::string why_other_subgroup(uint32_t call) const;
  GraphBufferId handed_buffer(uint32_t call, std::string& why) const;
  bool becomes_gone(uint32_t call, GraphBufferId buffer, std::string& why) const;
  void take_launch_of(uint32_t call, GraphBufferId gone);
  bool is_inlined() const;
  bool is_elidable(GraphBufferId buffer, const Touched& t, uint32_t last) const;
  bool is_fresh(GraphBufferId buffer, const Touched& t, uint32_t last) const;

  /// A pair of kernels and the buffer between them.
  struct Window {
    bool possible = false;
    std::string why_not;
    uint64_t invocations = 0;  // of the producer, run by each workgroup of the consumer
    uint64_t bytes = 0;
    std::vector<JoinedLimit> limits;
  };
  std::map<std::tuple<const Program*, uint32_t, const Program*, uint32_t>, Window> windows_;

  const Graph& graph_;
  const FusionCalls& calls_;
  std::span<const CallSummary> summaries_;
  const FusionOptions& options_;
  IdMap<GraphBufferId, Touched> touched_;  // by buffer of the graph
  std::vector<GraphBufferId> list_;        // buffers that are touched
  std::vector<GraphBufferId> early_;       // recomputed, and buffers that only their producer had
  std::vector<JoinKind> joins_;
  uint32_t epoch_ = 0;
  uint32_t first_ = 0, last_ = 0, end_ = 0;  // end_: the last call of the sequence
  bool in_loop_ = false;
  mutable Progress progress_ = Progress::Inapplicable;  // of the last extend() that failed
  /// How often the kernel so far executes the body of a call, and by which invocations.
  struct Body {
    uint32_t call = 0;
    double invocations = 0;  // of a workgroup
    double times = 1;        // each of them
    std::optional<double> lane_step = 1;
    bool is_recomputed = false;  // where another body loads
  };
  std::vector<Body> bodies_;
  // State of the kernel so far.
  GraphBufferId tile_ = none;  // the buffer that is a tile of shared memory
  uint64_t tile_bytes_ = 0;
  uint32_t launch_ = 0;  // the call that it is launched as
  uint32_t subgroup_ = 0;
  uint32_t trapping_ = 0;  // the first call that may trap, if traps_
  bool observes_subgroup_ = false, traps_ = false, pure_ = true, endless_ = false;
  uint32_t buffers_ = 0;
  uint64_t shared_ = 0, tables_ = 0, ops_ = 0;
};

}  // namespace vyre::plan
