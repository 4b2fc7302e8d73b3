#pragma once

// The observer that implements sanitizer.h: keeps the ticks of barriers and the shadow of memory,
// and reports races and other errors to Findings.

#include <memory>
#include <optional>
#include <unordered_map>

#include "interp/interp_machine.h"
#include "sanitizer/findings.h"
#include "sanitizer/shadow.h"

namespace vyre::interp {

/// State of the workgroups of one frame.
struct FrameShadow {
  uint64_t begun = 0;               // tick of the beginning
  std::vector<uint64_t> groups;     // tick of the last barrier of each workgroup
  std::vector<uint64_t> subgroups;  // … and of each subgroup
  // The vector clocks acquired since the last barrier of that size. Empty vectors unless the
  // program has acq_rel atomics.
  std::vector<Knowledge> of_lanes, of_subgroups, of_groups;
  uint64_t learned = 0;                             // tick of the last reset
  IdMap<BufferId, std::unique_ptr<Shadow>> shared;  // by buffer
  IdMap<BufferId, ZeroedMemory> private_written;    // by buffer; copy after copy
};

class Detector : public Observer {
 public:
  void begin_call(const Graph& graph, const GraphNode& node, const Program& kernel,
                  const IdMap<BufferId, GraphBufferId>& bound) override;
  void begin_launch(const Launched& launched) override;
  void end_launch() override;
  void begin_frame(Frame& frame) override;
  Next touch(const Frame& frame, const Instr& instr, const Touched& touched) override;
  void arrive(const Frame& frame, const Instr& instr, Scope scope, const uint8_t* active,
              const uint8_t* dead) override;
  void pass_grid_barrier(const Instr* stray) override;
  const Diagnostic* failure() const override { return failure_ ? &*failure_ : nullptr; }

  Diagnostics report() const { return findings_.report(); }

 private:
  /// The checks of a buffer of the kernel.
  struct Watched {
    Shadow* shadow = nullptr;  // for parameters; null: only bounds are checked
    bool races = false;        // some op writes it
    bool unwritten = false;    // the host did not initialize it
    bool is_shared = false;
    bool is_private = false;
  };
  /// The invocation whose access is being checked.
  struct Turn {
    uint64_t thread;
    uint64_t group, first;  // its workgroup, and the first invocation of the workgroup
    uint64_t subgroup;      // in the launch
    uint64_t group_tick, subgroup_tick;
    uint32_t lane, frame_group, frame_subgroup;
    bool knows;  // it has acquired some release
  };

  void watch(const Program& program, const LaunchShape& shape);
  std::shared_ptr<FrameShadow> make_frame_shadow();
  static void clear_private(FrameShadow& f);
  bool take(uint64_t bytes, const char* what);
  std::unique_ptr<Shadow> make_shadow(uint64_t elements);
  Turn turn(const Frame& frame, uint32_t lane) const;
  void find_places(const Touched& t, const Instr& instr, const SiteOfOp& op);
  Next tired(uint64_t work);
  void check_bounds(const Frame& frame, const Instr& instr, const Touched& t);
  void touch_lane(const Frame& frame, const Instr& instr, const Touched& t, uint32_t lane);
  bool touch_private(FrameShadow& f, const Instr& instr, const View& view, uint32_t lane,
                     uint64_t element);
  void touch_element(Shadow& shadow, const Watched& w, FrameShadow& f, const Turn& turn,
                     uint64_t element, uint32_t site, OpId op, uint32_t value);
  void check_order(Shadow& shadow, const Watched& w, const FrameShadow& f, const Turn& turn,
                   uint64_t element, uint32_t site, uint32_t value);
  uint64_t horizon(const Watched& w, const FrameShadow& f, const Turn& turn) const;
  uint32_t value_of(const Instr& instr, const Touched& touched, uint32_t lane) const;
  void remember(Shadow& shadow, Cell& cell, const Turn& turn, uint32_t site, uint32_t value);
  bool before(const Past& past, const Turn& turn, const FrameShadow& f) const;
  bool conflict(uint32_t a, uint32_t b, bool one_group) const;
  bool order_matters(uint32_t a, uint32_t b, bool same_value) const;
  bool gives_value_of(uint32_t a, uint32_t b) const;
  uint32_t distance(uint64_t a, uint64_t b) const;
  void acquire(Shadow& shadow, const Watched& w, FrameShadow& f, const Turn& turn, uint64_t element,
               bool workgroup_scope);
  void release(Shadow& shadow, const Watched& w, FrameShadow& f, const Turn& turn, uint64_t element,
               bool workgroup_scope, bool replaces);
  void forget_old(FrameShadow& f) const;
  void check_arrivals(uint64_t first_thread, uint32_t from, uint32_t to, const uint8_t* active,
                      const uint8_t* dead, const Instr& instr, Scope scope);
  void meet(FrameShadow& f, uint32_t group, uint32_t from, uint32_t to, Scope scope);

  KnowledgeMemory knowledge_;  // outlives all vector clocks
  Findings findings_;
  std::unordered_map<const Program*, Sites> sites_of_;
  IdMap<GraphBufferId, std::unique_ptr<Shadow>> of_graph_;  // by buffer of the graph
  IdMap<BufferId, std::unique_ptr<Shadow>> of_launch_;      // by buffer of the kernel
  const Graph* graph_ = nullptr;
  const GraphNode* call_ = nullptr;
  IdMap<BufferId, GraphBufferId> bound_;
  IdMap<GraphBufferId, uint64_t>
      zeroed_;  // by buffer of the graph: tick at which a call began with it as `out`

  const Launched* launch_ = nullptr;
  std::optional<Launched> launched_;
  const Sites* sites_ = nullptr;
  IdMap<BufferId, Watched> watched_;
  uint32_t group_lanes_ = 1, subgroup_log2_ = 0, group_subgroups_ = 1;

  uint64_t tick_ = 1;
  uint64_t grid_tick_ = 1;  // of the last grid barrier or the beginning of the launch
  std::vector<uint64_t> places_;
  uint64_t work_ = 0, looked_ = 0;
  uint64_t taken_ = 0;      // bytes that are released when the launch ends
  uint64_t accounted_ = 0;  // bytes of vector clocks and lists that were taken
  std::optional<Diagnostic> failure_;
};

}  // namespace vyre::interp
