#pragma once

// The transformations: each makes a program smaller or simpler at numbered opportunities, without
// regard to the meaning of the program. The caller decides whether a result is kept.

#include <cstddef>
#include <span>
#include <string_view>

#include "reduce/candidate.h"

namespace vyre::reduce {

/// The opportunities of a transformation that are taken: a range of their numbers. A transformation
/// calls take() once for each opportunity, in an order that depends on the program alone;
/// opportunities before the range keep their numbers whatever is taken.
class Choice {
 public:
  Choice(size_t first, size_t end) : first_(first), end_(end) {}
  bool take() {
    const size_t n = asked_++;
    return n >= first_ && n < end_;
  }
  /// The number of opportunities so far.
  size_t asked() const { return asked_; }

 private:
  size_t first_, end_, asked_ = 0;
};

struct Transform {
  std::string_view name;
  std::string_view summary;
  void (*apply)(Candidate& candidate, Choice& choice);
};

/// In the order in which they are tried: those that remove most first.
std::span<const Transform> all_transforms();

// Graphs.
void remove_graphs(Candidate& c, Choice& choice);
void remove_kernels(Candidate& c, Choice& choice);
void call_to_kernel(Candidate& c, Choice& choice);
void skip_first_calls(Candidate& c, Choice& choice);
void remove_nodes(Candidate& c, Choice& choice);
void unwrap_graph_loops(Candidate& c, Choice& choice);
void shorten_graph_loops(Candidate& c, Choice& choice);
void drop_call_grids(Candidate& c, Choice& choice);
void remove_graph_buffers(Candidate& c, Choice& choice);

// Ops and control flow.
void remove_ops(Candidate& c, Choice& choice);
void exits_to_yields(Candidate& c, Choice& choice);
void bound_whiles(Candidate& c, Choice& choice);
void unwrap_blocks(Candidate& c, Choice& choice);
void shorten_loops(Candidate& c, Choice& choice);

// Values.
void drop_carried(Candidate& c, Choice& choice);
void use_operand(Candidate& c, Choice& choice);
void use_earlier_value(Candidate& c, Choice& choice);
void skip_operands(Candidate& c, Choice& choice);
void use_zero(Candidate& c, Choice& choice);
void use_one(Candidate& c, Choice& choice);
void share_constants(Candidate& c, Choice& choice);
void constants_to_zero(Candidate& c, Choice& choice);
void constants_to_one(Candidate& c, Choice& choice);
void halve_constants(Candidate& c, Choice& choice);
void simplify_memory_ops(Candidate& c, Choice& choice);

// Parameters, arrays and data.
void inline_scalars(Candidate& c, Choice& choice);
void remove_buffers(Candidate& c, Choice& choice);
void fix_lengths(Candidate& c, Choice& choice);
void drop_initial_data(Candidate& c, Choice& choice);
void shrink_buffers(Candidate& c, Choice& choice);
void data_to_zero(Candidate& c, Choice& choice);
void data_to_one(Candidate& c, Choice& choice);
void halve_data(Candidate& c, Choice& choice);

// Launches.
void fix_grids(Candidate& c, Choice& choice);
void shrink_grids(Candidate& c, Choice& choice);
void shrink_workgroups(Candidate& c, Choice& choice);
void drop_attributes(Candidate& c, Choice& choice);

}  // namespace vyre::reduce
