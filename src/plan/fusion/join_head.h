#pragma once

// The head of a joined program: its parameters, arrays, tables and sizes. Internal to joins.

#include <map>
#include <optional>

#include "ir/ssa_builder.h"
#include "plan/fusion/join_programs.h"

namespace vyre::plan {

/// The source of the length of a buffer that is gone.
struct GoneCount {
  FormulaId formula = no_formula;
  BufferId scalar = none;  // the parameter that holds it, if the formula does not give it
};

class JoinedHead {
 public:
  JoinedHead(SsaBuilder& builder, const std::vector<GraphBufferId>& gone)
      : b_(builder), gone_(gone) {}

  /// Adds the parameters of a part, then (second call) its arrays and tables, which must come last.
  void add_parameters(const Part& part);
  void add_arrays(const Part& part);
  BufferId add_private(std::string_view name, Type element, uint64_t count);
  /// Adds a scalar that holds a number of a launch.
  BufferId add_scalar(std::string name, Type type, const JoinedParameter& origin);
  /// Makes the grid of a part that of the program.
  void take_grid(const Part& part);

  bool is_gone(GraphBufferId memory) const;
  /// Returns the length of a memory that is gone, as a u64.
  ValueId count_of(GraphBufferId memory);
  /// By buffer of the part: that of the program, none if it is gone.
  const IdMap<BufferId, BufferId>& buffers_of(const Part& part) const { return numbers_.at(&part); }
  const IdMap<BufferId, GraphBufferId>& memory() const { return memory_; }
  const IdMap<BufferId, JoinedParameter>& origin() const { return origin_; }
  std::string unique(std::string_view name);

 private:
  FormulaId translate(const Part& part, FormulaId id);
  FormulaId gone_length(GraphBufferId memory);
  void add_gone(const Part& part, BufferId i);
  BufferId add(Buffer buffer, GraphBufferId memory, const JoinedParameter& origin);

  SsaBuilder& b_;
  const std::vector<GraphBufferId>& gone_;
  std::map<const Part*, IdMap<BufferId, BufferId>> numbers_;
  std::map<GraphBufferId, BufferId> by_memory_;
  std::map<GraphBufferId, GoneCount> counts_;
  IdMap<BufferId, GraphBufferId> memory_;
  IdMap<BufferId, JoinedParameter> origin_;
};

}  // namespace vyre::plan
