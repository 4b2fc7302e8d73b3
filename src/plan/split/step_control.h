#pragma once

// Walks the steps of a plan for the code that executes it:
//
//   StepControl control(plan, facts);
//   for (;;) {
//     const StepControl::Action action = control.next();
//     if (action.kind == Kind::Done) break;
//     if (action.kind == Kind::Launch) record(action.segment, action.parameters);
//     if (action.kind == Kind::Poll) control.answer(submit, wait, and read word `action.word`);
//     if (action.kind == Kind::Pause) look at the clock;
//   }
//
// A piece of the plan waits until a barrier, or a piece that does not join it, follows: then the
// segment of the whole chain is launched. All launches up to a Poll or the end may be in one
// submission. A loop that the host cannot count runs in batches of 1, 2, 4, … iterations, with a
// Poll after each.

#include <vector>

#include "ir/launch.h"
#include "plan/split/split_grid.h"

namespace vyre::plan {

/// The host's data about a launch.
struct HostFacts {
  const Program* program = nullptr;
  const LaunchShape* shape = nullptr;  // of the original program
  std::span<const uint64_t> scalars;   // bits, by buffer index
  uint32_t subgroup_size = 32;
};

class StepControl {
 public:
  /// Pause: the host counts a long loop in which nothing is launched; call again, if there is time.
  enum class Kind : uint8_t { Launch, Poll, Pause, Done };
  struct Action {
    Kind kind = Kind::Done;
    uint32_t segment = 0;  // Launch
    uint32_t word = 0;     // Poll: element of the plan's `Once` buffer
    /// Launch: bits, by SplitPlan::parameters; valid until the next call.
    std::span<const uint64_t> parameters = {};
  };

  StepControl(const SplitPlan& plan, const HostFacts& facts);

  Action next();
  /// Passes the result of the Poll that next() returned: whether the word is other than 0.
  void answer(bool goes_on);

  /// The largest number of iterations in a batch.
  static constexpr uint64_t largest_batch = 1024;

 private:
  struct Batch {
    uint64_t size = 1;
    uint64_t left = 1;
  };
  uint64_t evaluate(uint32_t node);
  uint64_t compute(const HostNode& n) const;
  bool join(const Step& launch);
  Action launch_chain();

  const SplitPlan& plan_;
  const HostFacts facts_;
  size_t at_ = 0;
  uint32_t chain_ = 0;                // pieces that were reached and are not launched yet
  std::vector<uint64_t> parameters_;  // of them
  std::vector<uint64_t> variables_;
  std::vector<Batch> batches_;      // of the device loops around
  std::vector<uint64_t> values_;    // of nodes
  std::vector<uint64_t> computed_;  // by node: when
  std::vector<uint32_t> stack_;
  uint64_t now_ = 1;
};

}  // namespace vyre::plan
