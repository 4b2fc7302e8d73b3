#pragma once

// The findings of the sanitizer, grouped so that a reader gets one finding for each pair of lines
// and each line, not one for each access. The example of a finding does not depend on the schedule:
// it is the one with the lowest element and the lowest invocations.

#include <array>
#include <map>
#include <tuple>

#include "ir/launch.h"
#include "ir/module.h"
#include "sanitizer/sites.h"

namespace vyre::interp {

/// Coordinates of an invocation, and of its workgroup.
struct Invocation {
  std::array<uint64_t, 3> id = {};
  std::array<uint64_t, 3> group = {};
};

/// The value that depends on the order of two atomics.
enum class OrderOf : uint8_t { FinalValue, OldValue };

class Findings {
 public:
  /// Sets the kernel of subsequent findings, and the call of a graph if there is one.
  void enter(const Program& program, const Sites& sites, const LaunchShape& shape,
             const GraphNode* call);

  /// Two unordered accesses to an element, at least one a write. A thread is the linear number of
  /// an invocation, workgroup after workgroup.
  void race(uint64_t element, uint64_t thread_a, uint32_t site_a, uint64_t thread_b,
            uint32_t site_b);
  /// Two unordered atomics: they change an element and do not commute, or one returns a value that
  /// the other changes.
  void order(OrderOf what, uint64_t element, uint64_t thread_a, uint32_t site_a, uint64_t thread_b,
             uint32_t site_b);
  /// An access outside of `length` elements (of bytes, for a load_as). `op`: the op of the site.
  void out_of_bounds(uint32_t site, OpId op, uint64_t thread, uint64_t index, bool is_signed,
                     uint64_t length);
  void never_written(uint32_t site, OpId op, uint64_t thread, uint64_t element);
  /// `arrived` waits at the barrier for `missing`, which does not arrive.
  void mismatch(OpId barrier, Scope scope, uint64_t arrived, uint64_t missing);
  /// Workgroups wait at a grid barrier that others do not reach.
  void grid_mismatch(OpId barrier);

  /// Errors first, then warnings, then notes; each in the order of the program.
  Diagnostics report() const;

 private:
  struct Stage {
    const Program* program;
    const Sites* sites;
    const GraphNode* call;
  };
  struct Conflict {
    uint64_t count = 0;
    uint64_t element = 0;
    std::array<uint64_t, 2> threads = {};
    std::array<Invocation, 2> who;
  };
  struct Single {
    uint64_t count = 0;
    uint64_t thread = 0;
    uint64_t at = 0;
    OpId op = none;
    uint64_t length = 0;
    bool is_signed = false;
    Invocation who;
  };
  struct Mismatch {
    uint64_t count = 0;
    Scope scope = Scope::Workgroup;
    Invocation arrived, missing;
    bool known = true;  // `missing` is known
  };
  struct PastEnd {
    uint64_t count = 0;
    uint64_t lowest = 0;
    Invocation who;
  };
  using Pair = std::tuple<size_t, uint32_t, uint32_t>;  // stage, sites
  using One = std::pair<size_t, uint32_t>;              // stage, site
  using StageOp = std::pair<size_t, OpId>;

  /// Findings about pairs of sites.
  struct Pairs {
    std::map<Pair, Conflict> of;
    uint64_t left_out = 0;
    Conflict* last = nullptr;
    Pair last_key{};

    Conflict* find(const Pair& key);  // null: there are too many
  };

  void add(Pairs& pairs, uint64_t element, uint64_t thread_a, uint32_t site_a, uint64_t thread_b,
           uint32_t site_b);
  Invocation locate(uint64_t thread) const;
  bool past_end(const Invocation& i) const;
  Place place(const Stage& stage, OpId op) const;
  void finish(const Stage& stage, OpId op, Diagnostic& d) const;
  Diagnostic describe(const Pair& key, const Conflict& conflict) const;
  Diagnostic describe_order(OrderOf what, const Pair& key, const Conflict& conflict) const;
  void add_pair_notes(const Pair& key, const Conflict& conflict, std::string_view other,
                      Diagnostic& d) const;
  Diagnostic describe_outside(const One& key, const Single& one) const;
  Diagnostic describe_unwritten(const One& key, const Single& one) const;
  Diagnostic describe(const StageOp& key, const Mismatch& m) const;
  bool in_race(const One& key) const;
  /// True if this is the example to show: the first of the lowest invocation.
  static bool raise(Single& one, uint64_t thread, OpId op, uint64_t at);

  std::vector<Stage> stages_;
  std::map<std::pair<const Program*, const GraphNode*>, size_t> stage_of_;
  size_t stage_ = 0;
  const LaunchShape* shape_ = nullptr;
  Pairs races_, orders_, old_values_;
  std::map<One, Single> outside_, unwritten_;
  std::map<StageOp, Mismatch> mismatches_;
  std::map<size_t, PastEnd> past_end_;  // by stage
};

}  // namespace vyre::interp
