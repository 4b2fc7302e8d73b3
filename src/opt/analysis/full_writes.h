#pragma once

// Full overwrites: buffers of which a launch stores every element before any of them can be
// observed. The driver does not clear such an `out` buffer.
//
// The analysis finds stores whose index is a sum of ids and `for` variables times launch-uniform
// factors, under guards that compare such sums with launch-uniform bounds:
//
//   if x < w && y < h { out[y * w + x] = … }
//   if x >= w || y >= h { return } … out[y * w + x] = …
//   if local_id.x == 0 { out[workgroup_id.x] = … }
//   for c in 0..w { out[row * w + c] = … }
//   for i in global_id.x..n step num_workgroups.x * 64 { out[i] = … }
//   var i = global_id.x … while i < n { out[i] = … i += num_workgroups.x * 64 }
//   for i in begin..min(begin + chunk, n) { out[i] = … }
//
// A store in both branches of an `if` counts whatever the condition is. If a branch of an `if` ends
// in `return`, the ops after the `if` count as its other branch. Factors and bounds are kept as
// expressions over scalars and lengths, and covers() evaluates them for one launch with the
// operations' semantics.
//
// A store does not count if the invocation may have read the buffer before. An invocation that
// traps may not reach its store, but the outputs of a failed launch are not visible. Runs in time
// linear in the number of ops.

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/launch.h"
#include "ir/program.h"

namespace vyre::opt {

class FullWrites {
 public:
  /// Proves nothing.
  FullWrites() = default;
  explicit FullWrites(const Program& program);

  /// True if a launch with these sizes stores to every element of the buffer before it can be
  /// observed. `scalars` has the bits of the scalar parameters, by buffer.
  bool covers(BufferId buffer, const LaunchShape& shape, std::span<const uint64_t> scalars) const;

  /// A launch-uniform integer or bool: an operation on earlier nodes, or a leaf.
  struct Node {
    Opcode code = Opcode::Const;
    Type type = Type::U32, source = Type::U32, result = Type::U32;
    uint64_t attr = 0;  // as Op::attr
    std::vector<uint32_t> operands;
    auto operator<=>(const Node&) const = default;
  };
  /// coefficient · Π factors · dimension. Dimensions: workgroup_id.xyz, local_id.xyz, then loops.
  struct Term {
    uint32_t dimension = none;  // none: the constant 1
    uint64_t coefficient = 1;
    std::vector<uint32_t> factors;  // nodes
    bool operator==(const Term&) const = default;
  };
  /// A sum of terms and an offset, none of them negative. A value with this form equals the exact
  /// sum if that is below 2^bits.
  struct Form {
    std::vector<Term> terms;  // sorted by dimension
    uint64_t offset = 0;
    uint32_t bits = 64;
    bool operator==(const Form&) const = default;
  };
  /// A condition for an invocation to reach a store.
  struct Guard {
    enum class Kind : uint8_t {
      Below,
      AtMost,
      AtLeast,
      Equal,
      Exact,
      Uniform,
      Runs
    } kind = Kind::Uniform;
    Form form;  // Exact: never reaches 2^bits; not used by Uniform and Runs
    uint32_t bound =
        none;  // a node; Uniform: it must equal `expected`; Runs: the dimension of a loop
    bool expected = true;
    bool operator==(const Guard&) const = default;
  };
  /// A loop: its dimension counts 0, 1, … as long as begin + step · dimension is below each of the
  /// ends. Where these depend on the invocation, guards say more, and the dimension has at least
  /// the iterations that these allow.
  struct Loop {
    uint32_t begin = none, step = none;  // nodes; none: 0 and 1
    std::vector<Form> ends;              // launch-uniform, at least one
  };
  /// Stores at form + 0 … form + elements - 1.
  struct StoreSet {
    BufferId buffer{0};
    Form form;
    uint64_t elements = 1;
    std::vector<uint32_t> guards;
    bool is_by_invocation = false;  // at global_id.x, without guards
  };

 private:
  friend class FullWriteFinder;
  friend class FullWriteProof;

  std::array<uint32_t, 3> workgroup_ = {1, 1, 1};
  std::vector<Node> nodes_;
  std::vector<Guard> guards_;
  std::vector<Loop> loops_;
  std::vector<StoreSet> stores_;
};

}  // namespace vyre::opt
